// npm test: brings the checkout up to date, runs the tests, and lists the skipped and the failed ones with their reasons.
//
//   node scripts/test.mjs          both halves, with a small round of each test that takes long
//   node scripts/test.mjs all      both halves in full, as the environment variable TESTS_IN_FULL has it for one
//   node scripts/test.mjs rust     cargo test of the workspace; further arguments go to it
//   node scripts/test.mjs node     vitest; further arguments go to it
import { spawn } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { cargoResults } from './cargo-results.mjs';
import { checkNode, checkRust, fail, root, setup } from './setup.mjs';

/** Bytes that the directories of all tests fit into. */
const ROOM = 4 * 1024 ** 3;

/**
 * The parent of the directories that tests make. In memory where there is room, because the tests sync tens of
 * thousands of times. Tests of power cuts and full disks simulate the disk, so they do not depend on a real one.
 * `TMPDIR=/tmp npm test` uses the disk.
 */
function parentOfTestDirectories() {
  const memory = '/dev/shm';
  try {
    if (process.env.TMPDIR !== undefined || freemem() < 2 * ROOM) return tmpdir();
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize < ROOM ? tmpdir() : memory;
  } catch {
    return tmpdir();
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'];

/** Signals all processes of a child's group; nothing happens when they have ended. */
function endGroup({ pid }, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Runs a command in the checkout. Shows and returns its output. Ends every process that it leaves behind. */
async function run(title, command, args, env = {}) {
  const colours = process.stdout.isTTY ? { CARGO_TERM_COLOR: 'always', FORCE_COLOR: '1' } : {};
  const child = spawn(command, args, {
    cwd: root,
    env: { ...colours, ...process.env, TMPDIR: directory, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, which is ended as a whole.
    detached: true,
  });
  let stopped;
  const stop = (signal) => {
    stopped = signal;
    endGroup(child, signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
      process[name].write(text);
    });
  }
  const { code, signal } = await new Promise((resolve) => {
    child.on('error', (error) => fail(`${title} could not start: ${error.message}`));
    child.on('exit', () => endGroup(child, 'SIGKILL'));
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  for (const signal of STOP_SIGNALS) process.off(signal, stop);
  if (stopped ?? signal) {
    removeDirectory();
    process.kill(process.pid, stopped ?? signal);
  }
  return { passed: code === 0, output: `${output.stdout}\n${output.stderr}` };
}

const [which = 'both', ...rest] = process.argv.slice(2);
if (which === 'all') process.env.TESTS_IN_FULL = '1';
// The halves that failed, and the tests, each as `name: reason`.
const parts = [];
const failed = [];
const skipped = [];
checkNode();
if (which !== 'rust') setup();
const directory = mkdtempSync(join(parentOfTestDirectories(), 'cosift-tests-'));
// A PostgreSQL server of the tests runs as another user when the tests run as root, and has its data below.
chmodSync(directory, 0o711);
const removeDirectory = () => rmSync(directory, { recursive: true, force: true });
process.on('exit', removeDirectory);
if (which !== 'node') {
  checkRust();
  console.log('\ncosift: Rust tests');
  // The binding has no tests of its own: the Node tests are its tests. Examples belong to the benches.
  const targets = ['--workspace', '--exclude', 'cosift-binding', '--tests'];
  const { passed, output } = await run('cargo test', 'cargo', [
    'test',
    '--no-fail-fast',
    ...targets,
    ...rest,
  ]);
  if (!passed) parts.push('Rust');
  const results = cargoResults(output);
  failed.push(...results.failed);
  skipped.push(...results.skipped);
}
if (which !== 'rust') {
  console.log('\ncosift: Node tests');
  const report = join(directory, 'results.json');
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'results-reporter.mjs')}`];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...rest];
  const { passed } = await run('vitest', process.execPath, vitest, { TEST_RESULTS_FILE: report });
  if (!passed) parts.push('Node');
  try {
    const results = JSON.parse(readFileSync(report, 'utf8'));
    failed.push(...results.failed);
    skipped.push(...results.skipped);
  } catch (error) {
    parts.push('Node');
    failed.push(`vitest: it wrote no results: ${error.message}`);
  }
}
const list = (title, lines) => [`${lines.length} ${title}`, ...lines.map((line) => `  ${line}`)];
const summary = [...list('skipped', skipped), ...(parts.length > 0 ? list('failed', failed) : [])].join('\n');
console.log(`\ncosift: ${summary}`);
// For a program that collects the results of several checks.
if (process.env.TEST_SUMMARY_FILE) writeFileSync(process.env.TEST_SUMMARY_FILE, `${summary}\n`);
if (parts.length > 0) {
  console.error(`\ncosift: failed: ${[...new Set(parts)].join(' and ')} tests`);
  process.exitCode = 1;
}
