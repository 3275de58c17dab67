import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { skippedInCargo } from '../../scripts/skipped.mjs';

test('of cargo: what tests tell, and what is ignored unless another test runs it', () => {
  const output = [
    'running 5 tests',
    'test check::tests::every_kernel ... skipped: check::tests::every_kernel: this CPU lacks the kernel amx-int8',
    'skipped: x86::amx::tests::unit: this CPU lacks AMX',
    'ok',
    'test x86::amx::tests::unit ... \u001b[32mok\u001b[0m',
    'test child_process ... \u001b[33mignored, run in a process of its own by another test\u001b[0m',
    'test speed::million ... \u001b[33mignored, takes minutes\u001b[0m',
    'test bare ... ignored',
    'test result: ok. 2 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out',
  ].join('\n');
  expect(skippedInCargo(output)).toEqual([
    'check::tests::every_kernel: this CPU lacks the kernel amx-int8',
    'x86::amx::tests::unit: this CPU lacks AMX',
    'speed::million: takes minutes',
    'bare: ignored',
  ]);
});

test('of vitest: with the note of the test', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const directory = mkdtempSync(join(tmpdir(), 'cosift-skipped-'));
  try {
    writeFileSync(
      join(directory, 'some.test.mjs'),
      "test('runs', () => {});\ntest.skip('does not', () => {});\ntest.todo('later');\n" +
        "describe('some', () => test('leaves', ({ skip }) => skip('no such machine')));\n",
    );
    const report = join(directory, 'skipped');
    // What this run of vitest has set would make the other one a part of it.
    const own = Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST$/.test(name));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules', 'vitest', 'vitest.mjs'),
        ...['run', '--globals', '--root', directory, '--dir', directory],
        `--reporter=${join(root, 'scripts', 'skipped-reporter.mjs')}`,
      ],
      { cwd: directory, encoding: 'utf8', env: { ...Object.fromEntries(own), SKIPPED_REPORT_FILE: report } },
    );
    expect(status, stdout + stderr).toBe(0);
    expect(readFileSync(report, 'utf8')).toBe(
      'does not: skip\nlater: todo\nsome > leaves: no such machine\n',
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
