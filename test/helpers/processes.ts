import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Console } from 'node:console';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The built command line in a process of its own. */
export class Command {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';
  readonly #ended: Promise<number | NodeJS.Signals>;

  constructor(args: readonly string[], env: Record<string, string> = {}, cwd?: string) {
    this.child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, ...env }, cwd });
    this.child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    // Writing to a process that has ended must not fail the test.
    this.child.stdin.on('error', () => undefined);
    this.#ended = once(this.child, 'close').then(([code, signal]) => code ?? signal);
    running.add(this);
  }

  /** Resolves with the exit code, or the signal that ended the process, once all its output is read. */
  ended(): Promise<number | NodeJS.Signals> {
    return this.#ended;
  }

  /** Resolves with the first match in `stream`; fails when the process ends without one. */
  async waitFor(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpMatchArray> {
    for (;;) {
      const match = this[stream].match(pattern);
      if (match) return match;
      const ended = await Promise.race([once(this.child[stream], 'data').then(() => false), this.#ended]);
      if (ended !== false && !pattern.test(this[stream])) {
        throw new Error(`ended with ${ended} before ${pattern}:\n${this.stdout}\n${this.stderr}`);
      }
    }
  }
}

const running = new Set<Command>();
const directories: string[] = [];

/** Ends the processes and removes the directories of a test. It runs after every test. */
export async function cleanUp(): Promise<void> {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all([...running].map((command) => command.ended()));
  running.clear();
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
}

/** What a command that ended has left. */
export interface Ended {
  code: unknown;
  stdout: string;
  stderr: string;
}

/** Runs a command in a process of its own to its end. */
export async function launch(...args: string[]): Promise<Ended> {
  const command = new Command(args);
  command.child.stdin.end();
  const code = await command.ended();
  return { code, stdout: command.stdout, stderr: command.stderr };
}

/** Runs a command in the process of the test, which takes a fraction of the time of {@link launch}. One at a time. */
export async function cosift(...args: string[]): Promise<Ended> {
  if (isRunning) throw new Error('a command runs in this process: launch the second one');
  isRunning = true;
  const { exit, exitCode } = process;
  const { console } = globalThis;
  const written = { stdout: '', stderr: '' };
  let exited: number | undefined;
  const restores = (['stdout', 'stderr'] as const).map((name) => {
    const { write } = process[name];
    process[name].write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
      if (exited === undefined) written[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk);
      const done = rest.find((value) => typeof value === 'function');
      if (done !== undefined) process.nextTick(done as () => void);
      return true;
    };
    return () => Object.assign(process[name], { write });
  });
  const listeners = STOP_SIGNALS.map((signal) => process.listeners(signal));
  // Nothing follows in a process that has exited.
  process.exit = (code) => {
    exited ??= Number(code ?? process.exitCode ?? 0);
    throw new Error('exited');
  };
  process.exitCode = undefined;
  // That of vitest writes elsewhere.
  globalThis.console = new Console(process.stdout, process.stderr);
  try {
    const { run } = await import('../../src/cli/index.js');
    await run(args);
    return { code: exited ?? process.exitCode ?? 0, ...written };
  } finally {
    for (const restore of restores) restore();
    for (const [at, signal] of STOP_SIGNALS.entries()) {
      for (const listener of process.listeners(signal)) {
        if (!listeners[at]!.includes(listener)) process.off(signal, listener);
      }
    }
    Object.assign(process, { exit, exitCode });
    globalThis.console = console;
    isRunning = false;
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;
let isRunning = false;

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'cosift-cli-'));
  directories.push(directory);
  return directory;
}

export const KEY = 'key-of-the-command-line-tests';

/** Starts a server on a free port, with `KEY` as its admin key. */
export async function serve(data: string, ...args: string[]): Promise<{ command: Command; url: string }> {
  const command = new Command(['serve', '--port', '0', '--data', data, ...args], { COSIFT_ADMIN_KEY: KEY });
  const [, url = ''] = await command.waitFor('stdout', /listening on (http:\S+)\n/);
  return { command, url };
}

/** Line `id` of a file of records with vectors of four values. */
export function line(id: number): string {
  const vector = [Math.cos(id), Math.sin(id), id % 7, 1];
  return `${JSON.stringify({ id, data: { name: `record ${id}`, number: id }, vector })}\n`;
}

export function lines(first: number, last: number): string {
  let text = '';
  for (let id = first; id <= last; id++) text += line(id);
  return text;
}
