import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

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

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await Promise.all([...running].map((command) => command.ended()));
  running.clear();
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

/** Runs a command to its end. */
export async function cosift(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const command = new Command(args);
  command.child.stdin.end();
  const code = await command.ended();
  return { code, stdout: command.stdout, stderr: command.stderr };
}

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
