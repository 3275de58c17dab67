import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { cargoResults } from '../../scripts/cargo-results.mjs';
import ResultsReporter from '../../scripts/results-reporter.mjs';

test('of cargo: failed tests with their panic; skipped ones, unless another test runs them', () => {
  const output = [
    'running 5 tests',
    'test check::tests::every_kernel ... skipped: check::tests::every_kernel: this CPU lacks the kernel amx-int8',
    'skipped: x86::amx::tests::unit: this CPU lacks AMX',
    'ok',
    'test x86::amx::tests::unit ... \u001b[32mok\u001b[0m',
    'test child_process ... \u001b[33mignored, run in a process of its own by another test\u001b[0m',
    'test speed::million ... \u001b[33mignored, takes minutes\u001b[0m',
    'test bare ... ignored',
    'test store::full ... FAILED',
    'test store::stack ... FAILED',
    "thread 'store::full' (812) panicked at crates/engine/src/store.rs:7:5:",
    'assertion `left == right` failed: a record is lost',
    '  left: 1',
    'test result: ok. 2 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out',
  ].join('\n');
  expect(cargoResults(output)).toEqual({
    failed: [
      'store::full: assertion `left == right` failed: a record is lost (crates/engine/src/store.rs:7:5)',
      'store::stack: failed',
    ],
    skipped: [
      'check::tests::every_kernel: this CPU lacks the kernel amx-int8',
      'x86::amx::tests::unit: this CPU lacks AMX',
      'speed::million: takes minutes',
      'bare: ignored',
    ],
  });
});

test('of vitest: with the note or the error of the test', () => {
  const { status, output, results } = vitest({
    'some.test.mjs':
      "test('runs', () => {});\ntest.skip('does not', () => {});\ntest.todo('later');\n" +
      "describe('some', () => test('leaves', ({ skip }) => skip('no such machine')));\n" +
      "test('fails', () => expect(1, 'one').toBe(2));\n" +
      "describe('hook', () => { beforeAll(() => { throw new Error('no\\nhook'); }); test('waits', () => {}); });\n",
    'broken.test.mjs': "throw new Error('not loaded');\n",
  });
  expect(status, output).toBe(1);
  expect(results.skipped).toEqual([
    'does not: skip',
    'later: todo',
    'some > leaves: no such machine',
    'hook > waits: run',
  ]);
  expect(results.failed.toSorted()).toEqual([
    'broken.test.mjs > the file: not loaded',
    'some.test.mjs > fails: one: expected 1 to be 2 // Object.is equality',
    'some.test.mjs > hook: no',
  ]);
});

test('of vitest: a file that hangs ends the run, and is named', () => {
  const { status, output, results } = vitest(
    {
      // Promises that keep every timer waiting, that of the limit of the test, too. Nothing else ends the worker here.
      'hangs.test.mjs':
        "test('spins', async () => { for (const end = Date.now() + 20_000; Date.now() < end; ) await undefined; });\n",
    },
    { TEST_HANGS_MS: '1000' },
  );
  expect(status, output).toBe(1);
  expect(results.failed).toEqual([expect.stringMatching(/^hangs\.test\.mjs: hangs after /)]);
});

test('of vitest: a file whose end is reported before that of its last test has ended', () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  try {
    const reporter = new ResultsReporter();
    const module = { relativeModuleId: 'some.test.mjs' };
    reporter.onTestModuleStart(module);
    reporter.onTestCaseReady({ module, fullName: 'last' });
    reporter.onTestModuleEnd(module);
    reporter.onTestCaseResult({ module, fullName: 'last' });
    expect(vi.getTimerCount()).toBe(0);
    expect(exit).not.toHaveBeenCalled();
  } finally {
    exit.mockRestore();
    vi.useRealTimers();
  }
});

/** Runs the files of a new directory with the reporter. */
function vitest(files: Record<string, string>, env: Record<string, string> = {}) {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const directory = mkdtempSync(join(tmpdir(), 'cosift-skipped-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
    const report = join(directory, 'results.json');
    // What this run of vitest has set would make the other one a part of it.
    const own = Object.entries(process.env).filter(([name]) => !/^VITEST|^TEST$/.test(name));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules', 'vitest', 'vitest.mjs'),
        ...['run', '--globals', '--root', directory, '--dir', directory],
        `--reporter=${join(root, 'scripts', 'results-reporter.mjs')}`,
      ],
      {
        cwd: directory,
        encoding: 'utf8',
        env: { ...Object.fromEntries(own), TEST_RESULTS_FILE: report, ...env },
      },
    );
    const results = JSON.parse(readFileSync(report, 'utf8')) as { failed: string[]; skipped: string[] };
    return { status, output: stdout + stderr, results };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
