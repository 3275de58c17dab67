import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { inFull, onlyInFull } from '../helpers/full.js';
import { root, writeCommands } from './installation.js';
import { Scene } from './scene.js';
import { type Page, pageOf } from './steps.js';
import { typeErrorsOf } from './typescript.js';

const directory = mkdtempSync(join(tmpdir(), 'cosift-samples-'));
const commands = join(directory, 'commands');
writeCommands(commands);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The pages of a first hour. */
const FIRST = ['README.md', 'docs/tutorial/README.md'];

const names = ['README.md', 'CONTRIBUTING.md', 'models/README.md', 'bench/README.md']
  .concat(
    readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
  )
  .filter((name) => name.endsWith('.md') && existsSync(join(root, name)));
const pages: Page[] = [];

for (const name of names) {
  let page: Page;
  try {
    page = pageOf(name, readFileSync(join(root, name), 'utf8'));
  } catch (error) {
    test(`${name} runs`, () => Promise.reject(error));
    continue;
  }
  pages.push(page);
  if (page.steps.length > 0 && (FIRST.includes(name) || inFull(true, false))) {
    const own = join(directory, name.replaceAll('/', '-'));
    test(`${name} runs`, () => new Scene(page, own, commands).run(), 600_000);
  }
  for (const { line, notRun } of page.skipped) {
    test(`${name}:${line}`, ({ skip }) => skip(notRun));
  }
}

test('the samples of the other pages run', onlyInFull);

test('the programs in TypeScript have no type errors', () => {
  expect(typeErrorsOf(pages, join(directory, 'types'), commands)).toEqual([]);
});
