import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { SERVER } from '../built.js';

export const ADMIN_KEY = 'bench-admin-key-of-a-server-that-lives-for-minutes';

/** A server in a process of its own. */
export interface Server {
  readonly port: number;
  /** Its process. */
  readonly pid: number;
  /** Sends one request over a kept-alive connection and reads the whole response. */
  post(path: string, body: object): Promise<void>;
  stop(): Promise<void>;
}

/** Starts `cosift serve` on a data directory, without a rate limit. */
export async function startServer(directory: string, options: readonly string[] = []): Promise<Server> {
  const child = spawn(
    process.execPath,
    [
      ...[SERVER, 'serve', '--port', '0', '--data', directory, '--log-level', 'error', '--rate-limit', '0'],
      ...options,
    ],
    {
      env: { ...process.env, COSIFT_ADMIN_KEY: ADMIN_KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let address: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    address = /listening on (http:\S+)/.exec(line)?.[1];
    if (address !== undefined) break;
  }
  if (address === undefined || child.pid === undefined)
    throw new Error('the server ended before it listened');
  child.stdout.resume();
  const agent = new Agent({ keepAlive: true });
  const url = address;
  return {
    port: Number(new URL(url).port),
    pid: child.pid,
    post: (path, body) => post(new URL(path, url), JSON.stringify(body), agent),
    stop: async () => {
      agent.destroy();
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function post(url: URL, body: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-api-key': ADMIN_KEY,
    };
    const call = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`status ${answer.statusCode}`)),
      );
    });
    call.once('error', reject);
    call.end(body);
  });
}

/** Runs `clients` that each send the next request after the response to the last; times in microseconds. */
export async function crowd(
  clients: number,
  ms: number,
  ask: (turn: number) => Promise<void>,
): Promise<{ wall: number[]; throughput: number }> {
  const wall: number[] = [];
  let turn = 0;
  const begun = performance.now();
  const client = async () => {
    while (performance.now() - begun < ms) {
      const start = performance.now();
      await ask(turn++);
      wall.push((performance.now() - start) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return { wall, throughput: wall.length / ((performance.now() - begun) / 1_000) };
}
