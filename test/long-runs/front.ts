import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const KEY = 'the-admin-key-of-a-long-run';

/** Milliseconds in which a service must start. */
const START_MS = 60_000;
/** Milliseconds after which a request counts as failed. */
const REQUEST_MS = 20_000;

/** A service over PostgreSQL in a process of its own, which a run kills. */
export class Front {
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #url: string;

  private constructor(child: ChildProcess, directory: string, url: string) {
    this.#child = child;
    this.#directory = directory;
    this.#url = url;
  }

  static async start(store: string): Promise<Front> {
    const directory = mkdtempSync(path.join(tmpdir(), 'cosift-front-'));
    const args = ['serve', '--port', '0', '--data', directory, '--store', store, '--log-level', 'silent'];
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, COSIFT_ADMIN_KEY: KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS);
    let printed = '';
    try {
      for await (const text of child.stdout) {
        printed += text;
        const url = /listening on (\S+)/.exec(printed)?.[1];
        if (url !== undefined) return new Front(child, directory, url);
      }
    } finally {
      clearTimeout(late);
    }
    throw new Error(`a front ended before it listened: ${printed}`);
  }

  /** Sends a request. Rejects when the connection fails; `status` is that of the response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came
  async call(method: string, target: string, body?: object): Promise<{ status: number; body: any }> {
    const response = await fetch(`${this.#url}/v1/databases/${target}`, {
      method,
      headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(REQUEST_MS),
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Ends the process as a power failure would. */
  async kill(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGKILL');
      await ended;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
