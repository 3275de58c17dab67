import { connect, type Socket } from 'node:net';
import { expect } from 'vitest';
import { JSON_TYPE, type Service, type ServiceResponse } from './service.js';

/** A TCP connection whose caller writes HTTP by hand. */
export class Raw {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<void>;

  constructor(service: Service, options: { reads?: boolean } = {}) {
    this.socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    this.socket.setNoDelay(true);
    // The gauges show what the service does to a hostile caller.
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
    if (options.reads !== false) {
      this.socket.setEncoding('utf8').on('data', (text) => {
        this.received += text;
      });
    }
  }

  connected(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.readyState === 'open') return resolve();
      this.socket.once('connect', resolve).once('close', resolve);
    });
  }

  /** Waits until something that matches has arrived. */
  async until(expected: string | RegExp): Promise<void> {
    await expect.poll(() => this.received, { interval: 5 }).toMatch(expected);
  }

  /** Resets the connection. One that is being ended already cannot be reset: Node would never say that it is closed. */
  reset(): void {
    if (this.socket.writableEnded) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  /** One chunk of a body of unknown length. */
  chunk(text: string): void {
    this.socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  }
}

/** The head of a request, and its body when there is one. */
export function request(
  key: string,
  method: string,
  target: string,
  body?: string,
  headers: Record<string, string> = {},
): string {
  const all: Record<string, string> = { host: 'x', 'x-api-key': key, ...headers };
  if (body !== undefined) {
    all['content-type'] ??= 'application/json';
    all['content-length'] ??= String(Buffer.byteLength(body));
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** The head of a stream of records; its chunks follow. */
export function streamHead(key: string, database: string): string {
  const headers = { 'content-type': 'application/x-ndjson', 'transfer-encoding': 'chunked' };
  return request(key, 'POST', `/v1/databases/${database}/records`, undefined, headers);
}

/** Issues a key for everything but managing keys. */
export async function issueKey(
  service: Service,
  actions = ['search', 'records.read', 'records.write', 'databases.manage'],
): Promise<{ key: string; key_id: string }> {
  const issued = await service.call('POST', '/v1/keys', { name: 'test', actions, databases: '*' });
  expect(issued.status).toBe(201);
  return issued.body;
}

/** The values of all gauges of requests in flight, by name and kind. */
export async function gauges(service: Service): Promise<Record<string, number>> {
  const { text } = await service.call('GET', '/metrics');
  const lines = text.matchAll(/^cosift_(in_flight(?:_bytes)?)\{kind="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, name, kind, value]) => [`${name} ${kind}`, Number(value)]));
}

export const ALL_ZERO = {
  'in_flight searches': 0,
  'in_flight reads': 0,
  'in_flight writes': 0,
  'in_flight streams': 0,
  'in_flight waits': 0,
  'in_flight exports': 0,
  'in_flight_bytes bodies': 0,
  'in_flight_bytes unsent': 0,
};

/** Waits until the gauges are as `expected`. */
export async function untilGauges(service: Service, expected: Record<string, number>): Promise<void> {
  await expect.poll(() => gauges(service), { interval: 20 }).toMatchObject(expected);
}

/** A search and a write, which must be served; how many milliseconds they took. */
export async function searchAndWrite(service: Service, key: string, database: string): Promise<number> {
  const start = performance.now();
  const headers = { 'x-api-key': key, ...JSON_TYPE };
  const search = { search: { vector: [1, 0], threshold: 0 }, pagination: { limit: 1 } };
  const records = [{ id: 999_999, data: { n: start }, vector: [1, 0] }];
  const answers: ServiceResponse[] = await Promise.all([
    service.call('POST', `/v1/databases/${database}/search`, search, headers),
    service.call('POST', `/v1/databases/${database}/records`, { records }, headers),
  ]);
  expect(answers.map(({ status, text }) => (status === 200 ? status : text))).toEqual([200, 200]);
  return performance.now() - start;
}
