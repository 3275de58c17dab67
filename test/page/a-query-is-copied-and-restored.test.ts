import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { Service } from '../server/service.js';
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
  const tab = await open(FRAGMENT, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = tab;
  await tab.status(/matches/);
  const shown = await page.locator('.card .id').allTextContents();
  expect(shown.length).toBeGreaterThan(2);
  const copied = (name: string) => copiedBy(tab, `Copy as ${name}`, name);
  const env = envOf(service);
  const curl = await copied('curl');
  expect(curl).not.toContain(service.adminKey);
  expect(curl).toContain('/v1/databases/facts/records/search');
  const { stdout } = await run('sh', ['-c', curl], { env });
  expect(JSON.parse(stdout).results.map(({ id }: { id: string }) => id)).toEqual(shown);

  const python = await copied('Python');
  const fromPython = await run('python3', ['-c', python], { env });
  expect(idsIn(fromPython.stdout)).toEqual(shown);

  const { stdout: fromTypeScript } = await runTypeScript(await copied('TypeScript'), env);
  // The library shows both ids.
  expect(idsIn(fromTypeScript, 'uuid')).toEqual(shown);
  expect(await page.getByRole('button', { name: /^Copy as/ }).count()).toBe(3);
});

test.inFull(
  'a copied command sends the name of a link as it is, whatever characters it has',
  async ({ open, service }) => {
    for (const database of ["facts'", "facts' $(touch created) `touch created`; touch created; '(a)!~*"]) {
      const tab = await open({ database }, { permissions: ['clipboard-read', 'clipboard-write'] });
      tab.expected.add(400);
      await tab.page.getByRole('alert').filter({ hasText: 'a database id is 1 to 64 of' }).waitFor();
      const curl = await copiedBy(tab, 'Copy as curl', 'curl');
      const cwd = await mkdtemp(path.join(tmpdir(), 'cosift-copied-'));
      const { stdout, stderr } = await run('sh', ['-c', curl], { cwd, env: envOf(service) });
      expect([JSON.parse(stdout).status, stderr]).toEqual([400, '']);
      expect(await readdir(cwd)).toEqual([]);
      await rm(cwd, { recursive: true });
    }
  },
);

test('a link restores the whole query, and has no key', async ({ open, service }) => {
  const tab = await open(
    { ...FRAGMENT, from: '2020-01-01T00:00:00.000Z' },
    { permissions: ['clipboard-read', 'clipboard-write'] },
  );
  const line = (await tab.status(/^\d+ matches/)).split(' · ')[0];
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

const envOf = (service: Service) => ({ ...process.env, COSIFT_KEY: service.adminKey });

/** Compiles a program in a project that has the package of the client, as strictly as TypeScript can, and runs it. */
async function runTypeScript(program: string, env: NodeJS.ProcessEnv) {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-copied-'));
  try {
    await mkdir(path.join(directory, 'node_modules', '@cosift'), { recursive: true });
    await symlink(
      path.join(root, 'packages', 'client'),
      path.join(directory, 'node_modules', '@cosift', 'client'),
    );
    const types = path.join(root, 'node_modules', '@types');
    const compilerOptions = {
      ...{ target: 'ES2022', lib: ['ES2023', 'ESNext.Disposable'], module: 'NodeNext', strict: true },
      ...{ exactOptionalPropertyTypes: true, types: ['node'], typeRoots: [types] },
    };
    await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    await writeFile(path.join(directory, 'program.mts'), program);
    await run(path.join(root, 'node_modules', '.bin', 'tsc'), ['-p', directory]);
    return await run(process.execPath, [path.join(directory, 'program.mjs')], { env });
  } finally {
    await rm(directory, { recursive: true });
  }
}

function idsIn(output: string, member = 'id'): string[] {
  const ids = new RegExp(`\\b${member}['"]?: ['"]([0-9a-f-]{36})['"]`, 'g');
  return [...output.matchAll(ids)].map(([, id = '']) => id);
}
