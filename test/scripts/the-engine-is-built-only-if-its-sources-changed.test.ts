import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

const directory = mkdtempSync(path.join(tmpdir(), 'cosift-setup-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the step that builds the engine in a checkout, whose build writes an empty file. Returns what it prints. */
function build(checkout: string): string {
  const program = "import { buildNative } from './scripts/setup.mjs'; buildNative();";
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: checkout,
    encoding: 'utf8',
  });
}

test('a copy of a checkout with the files that `native/*` names is not built again', () => {
  const checkout = path.join(directory, 'checkout');
  for (const folder of ['scripts', 'native', 'crates/engine/src']) {
    mkdirSync(path.join(checkout, folder), { recursive: true });
  }
  cpSync('scripts/setup.mjs', path.join(checkout, 'scripts/setup.mjs'));
  const command = `node -e "fs.writeFileSync('native/cosift.test.node', '')"`;
  writeFileSync(
    path.join(checkout, 'package.json'),
    JSON.stringify({ type: 'module', scripts: { 'build:native': command } }),
  );
  writeFileSync(path.join(checkout, 'crates/engine/src/lib.rs'), '');
  expect(build(checkout)).toContain('building the native engine');
  expect(build(checkout)).toBe('');

  const copy = path.join(directory, 'copy');
  const visible = (source: string) => !path.basename(source).startsWith('.');
  cpSync(checkout, copy, { recursive: true, filter: visible });
  expect(readdirSync(path.join(copy, 'native'))).toContain('cosift.test.node');
  expect(build(copy)).toBe('');
  writeFileSync(path.join(copy, 'crates/engine/src/lib.rs'), '// changed');
  expect(build(copy)).toContain('building the native engine');
});
