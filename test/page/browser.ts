import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { testInFull } from '../helpers/full.js';
import { Service } from '../server/service.js';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The path of a browser of the distribution; undefined where there is none. */
const BROWSER = BROWSERS.find((file) => existsSync(file));

/**
 * The browser of this process, with which it ends.
 *
 * Tests share its contexts, by their options, because a new one loads and compiles the page again. The page stores data in
 * `sessionStorage` only, which belongs to a tab.
 */
class Browser {
  // The sandbox needs rights that containers lack.
  readonly #started = chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] });
  readonly #contexts = new Map<string, Promise<BrowserContext>>();

  context(options: BrowserContextOptions): Promise<BrowserContext> {
    const key = JSON.stringify(options);
    const context = this.#contexts.get(key) ?? this.#started.then((browser) => browser.newContext(options));
    this.#contexts.set(key, context);
    return context;
  }

  /** Closes all contexts: the next test has new ones. */
  async forget(): Promise<void> {
    const contexts = [...this.#contexts.values()];
    this.#contexts.clear();
    await Promise.allSettled(contexts.map(async (context) => (await context).close()));
  }
}

let browser: Browser | undefined;

export type Fragment = Record<string, string>;
export type TabOptions = BrowserContextOptions & { key?: string | null };

export interface Scene {
  service: Service;
  open(fragment?: Fragment, options?: TabOptions): Promise<Tab>;
}

/**
 * Starts a service, with what `prepare` stores. Returns a function that defines a test in a browser: after the test, its tabs
 * are closed, and it fails when one of them had a fault. Without a browser, the tests are skipped. `inFull` of the function
 * defines a test of a full run.
 */
export function inBrowser(
  prepare: (service: Service) => Promise<void>,
  start = (): Promise<Service> => Service.start(),
) {
  let service: Service;
  beforeAll(async () => {
    if (BROWSER === undefined) return;
    service = await start();
    await prepare(service);
  });
  afterAll(async () => {
    await service?.stop();
  });
  const inScene =
    (body: (scene: Scene) => Promise<void>) =>
    async ({ skip }: TestContext): Promise<void> => {
      if (BROWSER === undefined) return skip('Chromium is not installed');
      const tabs: Tab[] = [];
      const open: Scene['open'] = async (fragment, options) => {
        browser ??= new Browser();
        const tab = await Tab.open(browser, service, fragment, options);
        tabs.push(tab);
        return tab;
      };
      let isReusable = false;
      try {
        await body({ service, open });
        isReusable = !tabs.some((tab) => tab.hasChangedContext);
      } finally {
        await Promise.allSettled(tabs.map(({ page }) => page.close()));
        if (!isReusable) await browser?.forget();
      }
      for (const tab of tabs) expect(tab.faults).toEqual([]);
    };
  const defined = (name: string, body: (scene: Scene) => Promise<void>) => test(name, inScene(body));
  const inFull = (name: string, body: (scene: Scene) => Promise<void>) => testInFull(name, inScene(body));
  return Object.assign(defined, { inFull });
}

/** The page of a service in a tab, with everything that must not happen in it. */
export class Tab {
  readonly page: Page;
  /** Errors of the console, uncaught errors, and requests to other hosts. */
  readonly faults: string[] = [];
  readonly requests: string[] = [];
  /** The status of responses that the test causes, which a browser reports as errors of the console. */
  readonly expected = new Set<number>();
  /** Whether other tabs of the context would notice what the test has done. */
  hasChangedContext = false;

  private constructor(page: Page, service: Service) {
    this.page = page;
    page.on('console', (message) => {
      const [, status] = /responded with a status of (\d+)/.exec(message.text()) ?? [];
      if (message.type() !== 'error' || this.expected.has(Number(status))) return;
      this.faults.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.faults.push(`error: ${error.stack}`));
    page.on('request', (request) => {
      this.requests.push(request.url());
      if (!request.url().startsWith(service.url)) this.faults.push(`request to ${request.url()}`);
      if (request.url().includes(service.adminKey))
        this.faults.push(`request with the key: ${request.url()}`);
    });
  }

  /** Opens the page. `fragment` is what follows `#`; the admin key is added unless `key` is another one, or `null`. */
  static async open(
    browser: Browser,
    service: Service,
    fragment: Fragment = {},
    { key = service.adminKey, ...options }: TabOptions = {},
  ): Promise<Tab> {
    const context = await browser.context(options);
    const tab = new Tab(await context.newPage(), service);
    tab.page.setDefaultTimeout(60_000);
    const parameters = new URLSearchParams({ ...fragment, ...(key !== null && { key }) });
    await tab.page.goto(`${service.url}/#${parameters}`);
    return tab;
  }

  /** Waits until the result line matches. */
  async status(pattern: RegExp): Promise<string> {
    const line = this.page.getByRole('status').filter({ hasText: pattern });
    await line.waitFor();
    return (await line.textContent()) ?? '';
  }

  /** Stops the clock of the page: no timer fires until the test lets the clock run. */
  async pauseClock(): Promise<void> {
    this.hasChangedContext = true;
    await this.page.clock.install();
    // The clock can only be stopped at a later time.
    await this.page.clock.pauseAt((await this.page.evaluate(() => Date.now())) + 60_000);
  }

  async setOffline(isOffline: boolean): Promise<void> {
    this.hasChangedContext = true;
    await this.page.context().setOffline(isOffline);
  }

  /** Fails when an accessibility rule is violated. `state` names what the page shows. */
  async checkAccessibility(state: string): Promise<void> {
    await this.page.evaluate(AXE);
    const violations = await this.page.evaluate(async () => {
      // biome-ignore lint/suspicious/noExplicitAny: axe is a global of the page
      const { violations } = await (globalThis as any).axe.run();
      return violations.map(({ id, nodes }: { id: string; nodes: { target: string[] }[] }) => {
        return `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`;
      });
    });
    expect(violations, state).toEqual([]);
  }
}
