import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../scripts/check-imports.mjs', import.meta.url));

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** Checks a project of these files, by path. */
function check(files: Record<string, string>): { passed: boolean; faults: string[] } {
  const root = mkdtempSync(join(tmpdir(), 'cosift-imports-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return run(root);
}

function run(...args: string[]): { passed: boolean; faults: string[] } {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });
  return { passed: status === 0, faults: stderr.split('\n').filter(Boolean) };
}

test('in this project', () => {
  expect(run()).toEqual({ passed: true, faults: [] });
});

test('an import of a lower room is allowed', () => {
  const files = {
    'src/cli/a.ts': "import '../server/app.js';",
    'src/server/app.ts': "import './http/b.js';",
    'src/server/http/b.ts': "import '../../errors.js';",
    'src/errors.ts': '',
  };
  expect(check(files)).toEqual({ passed: true, faults: [] });
});

test('each form of an import of an upper room is reported with its file and line', () => {
  const statements = {
    'src/schema/import.ts': "import { a } from '../cli/a.js';",
    'src/schema/import-of-a-type.ts': "import type { A } from '../cli/a.js';",
    'src/schema/type-named-in-place.ts': "export type A = import('../cli/a.js').A;",
    'src/schema/export.ts': "export * from '../cli/a.js';",
    'src/schema/dynamic-import.ts': "export const a = () => import('../cli/a.js');",
    'src/schema/call-of-require.ts': "export const a = require('../cli/a.js');",
  };
  const files = Object.entries(statements).map(([file, text]) => [file, `// The schemas.\n\n${text}\n`]);
  const { passed, faults } = check({
    'src/cli/a.ts': 'export const a = 1;\nexport type A = string;\n',
    ...Object.fromEntries(files),
  });
  expect(passed).toBe(false);
  expect(faults.toSorted()).toEqual(
    Object.keys(statements)
      .map((file) => `${file}:3: imports src/cli/a.ts, but in src schema is not above cli`)
      .toSorted(),
  );
});

test('rooms of one row do not import each other', () => {
  const files = { 'src/server/page/a.ts': "import '../openapi/b.js';", 'src/server/openapi/b.ts': '' };
  expect(check(files).faults).toEqual([
    'src/server/page/a.ts:1: imports src/server/openapi/b.ts, but in src/server page is not above openapi',
  ]);
});

test('a folder that has no place in the order is reported', () => {
  expect(check({ 'src/elsewhere/a.ts': '' }).faults).toEqual([
    'src/elsewhere: has no place in scripts/imports/rooms.mjs',
  ]);
});

test('only the local store imports the binding', () => {
  const { faults } = check({
    'src/store/local/binding.ts': "import '../../../native/index.cjs';",
    'src/databases/a.ts': "import '../../native/index.cjs';",
  });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(/^src\/databases\/a\.ts:1: imports native\/index\.cjs; only src\/store\/local/);
});

test('the client imports neither the engine nor what leads to it', () => {
  const { faults } = check({ 'src/client/a.ts': "import '../databases/b.js';", 'src/databases/b.ts': '' });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatch(
    /^src\/client\/a\.ts:1: imports src\/databases\/b\.ts; src\/client may import only /,
  );
});

test('circles are reported, of files and of folders, each import of one with its line', () => {
  expect(
    check({
      'bench/a.ts': "import './b.js';",
      'bench/b.ts': "import './c.js';",
      'bench/c.ts': "\nimport type { A } from './a.js';",
    }).faults,
  ).toEqual([
    'bench/a.ts:1: imports bench/b.ts, which closes the circle bench/a.ts -> bench/b.ts -> bench/c.ts -> bench/a.ts',
    'bench/b.ts:1: imports bench/c.ts, which closes the circle bench/b.ts -> bench/c.ts -> bench/a.ts -> bench/b.ts',
    'bench/c.ts:2: imports bench/a.ts, which closes the circle bench/c.ts -> bench/a.ts -> bench/b.ts -> bench/c.ts',
  ]);
  // No file imports itself by way of others, but the folders do.
  expect(
    check({
      'test/x/a.ts': "import '../y/b.js';",
      'test/y/b.ts': '',
      'test/y/c.ts': "import '../x/d.js';",
      'test/x/d.ts': '',
    }).faults,
  ).toEqual([
    'test/x/a.ts:1: imports test/y/b.ts, which closes the circle test/x -> test/y -> test/x',
    'test/y/c.ts:1: imports test/x/d.ts, which closes the circle test/y -> test/x -> test/y',
  ]);
});
