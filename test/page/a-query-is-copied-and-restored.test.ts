import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { inBrowser, type Tab } from './browser.js';
import { storeFacts } from './facts.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

const test = inBrowser((service) => storeFacts(service, 'facts'));

const FRAGMENT = {
  database: 'facts',
  text: `a "tall" tower's view`,
  threshold: '0.15',
  variant: 'A',
  filter: JSON.stringify({
    condition: 'AND',
    rules: [
      { column: 'world_heritage', operator: 'equals', value: true },
      { column: 'height_m', operator: 'greater_than', value: 20 },
    ],
  }),
};

test('each copied program finds what the page shows', async ({ open, service }) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-copied-'));
  const tab = await open(FRAGMENT, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = tab;
  await tab.status(/matches/);
  const shown = await page.locator('.card .id').allTextContents();
  expect(shown.length).toBeGreaterThan(2);
  const copied = (name: string) => copiedBy(tab, `Copy as ${name}`, name);
  const env = { ...process.env, COSIFT_KEY: service.adminKey };
  const curl = await copied('curl');
  expect(curl).not.toContain(service.adminKey);
  const { stdout } = await run('sh', ['-c', curl], { env });
  expect(JSON.parse(stdout).results.map(({ id }: { id: string }) => id)).toEqual(shown);

  const python = await copied('Python');
  const fromPython = await run('python3', ['-c', python], { env });
  expect(idsIn(fromPython.stdout)).toEqual(shown);

  const client = await copied('TypeScript client');
  await symlink(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  const program = path.join(directory, 'program.mjs');
  await writeFile(
    program,
    client.replace("'@cosift/client'", `'${path.join(root, 'packages/client/dist/index.js')}'`),
  );
  expect(idsIn((await run(process.execPath, [program], { env })).stdout)).toEqual(shown);

  // The library opens a directory of its own, so only the call is compared.
  const library = await copied('TypeScript');
  expect(library).toContain("import { open } from 'cosift';");
  expect(library.split('\n').slice(3, -3)).toEqual(
    client
      .split('\n')
      .slice(3, -3)
      .map((line) => line.replace('client.database', 'cosift.database')),
  );
  await rm(directory, { recursive: true });
});

test('a link restores the whole query, and has no key', async ({ open, service }) => {
  const tab = await open(
    { ...FRAGMENT, from: '2020-01-01T00:00:00.000Z' },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  );
  const line = (await tab.status(/matches/)).split(' · ')[0];
  const link = await copiedBy(tab, 'Copy link', 'link');
  expect(link).not.toContain(service.adminKey);
  await tab.page.getByRole('searchbox').fill('changed');
  await expect.poll(() => tab.page.url()).toContain('text=changed');
  await tab.page.goto(link);
  await expect.poll(() => tab.page.getByRole('searchbox').inputValue()).toBe(FRAGMENT.text);
  await tab.status(new RegExp(`^${line} ·`));
  expect(await tab.page.getByRole('slider').inputValue()).toBe('0.15');
  expect(await tab.page.getByRole('textbox', { name: 'Value' }).count()).toBe(2);
  expect(await tab.page.getByLabel('From', { exact: true }).inputValue()).not.toBe('');
});

/** Clicks the button, and returns the text in the clipboard once the page says that `name` is copied. */
async function copiedBy(tab: Tab, button: string, name: string): Promise<string> {
  const { page } = tab;
  // The page says so for two seconds of its clock.
  await tab.pauseClock();
  await page.getByRole('button', { name: button, exact: true }).click();
  const live = page.locator('.copy [aria-live]').filter({ hasText: `${name} copied` });
  await live.waitFor({ state: 'attached' });
  await page.clock.resume();
  return page.evaluate<string>('navigator.clipboard.readText()');
}

function idsIn(output: string): string[] {
  return [...output.matchAll(/\bid['"]?: ['"]([0-9a-f-]{36})['"]/g)].map(([, id = '']) => id);
}
