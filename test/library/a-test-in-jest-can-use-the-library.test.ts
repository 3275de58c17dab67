import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';

const directory = mkdtempSync(path.join(tmpdir(), 'cosift-context-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('the library searches in a context without the symbols of `using`', () => {
  const program = path.join(import.meta.dirname, 'in-a-context.mjs');
  const options = ['--experimental-vm-modules', '--no-warnings', program, path.join(directory, 'data')];
  expect(execFileSync(process.execPath, options, { encoding: 'utf8' })).toBe('7\n');
});
