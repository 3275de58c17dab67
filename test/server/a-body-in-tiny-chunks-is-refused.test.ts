import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { turnShare } from './longest-turn.js';
import { Raw, request, streamHead } from './raw.js';
import { JSON_TYPE, Service } from './service.js';

const CHUNKED = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
const TINY = '1\r\na\r\n';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/some', { dimensions: 2 });
});
afterAll(() => service.stop());

/** Sends `head` and then `chunk` many times, from a thread of its own, until the connection is closed; resolves to the response. */
async function flood(head: string, chunk: string, { url } = service): Promise<string> {
  const program = `const { parentPort, workerData: { port, head, chunk } } = require('node:worker_threads');
    const socket = require('node:net').connect(port, '127.0.0.1');
    const block = chunk.repeat(20_000);
    let received = '';
    const send = () => { while (socket.writable && socket.write(block)); };
    socket.write(head);
    send();
    socket.on('drain', send).on('error', () => undefined).on('data', (bytes) => (received += bytes));
    socket.on('close', () => parentPort.postMessage(received));`;
  const workerData = { port: Number(new URL(url).port), head, chunk };
  const worker = new Worker(program, { eval: true, workerData });
  try {
    return await new Promise<string>((resolve) => worker.once('message', resolve));
  } finally {
    await worker.terminate();
  }
}

const head = (key: string, method: string, path: string) => request(key, method, path, undefined, CHUNKED);
const REFUSED = 'the chunks of the body are too small; send at least 32 bytes in each';

const REQUESTS: [string, (key: string) => string, RegExp][] = [
  ['a search', (key) => head(key, 'POST', '/v1/databases/some/search'), /^HTTP\/1\.1 400 /],
  ['a batch', (key) => head(key, 'POST', '/v1/databases/some/records'), /^HTTP\/1\.1 400 /],
  ['a stream of records', (key) => streamHead(key, 'some'), /^HTTP\/1\.1 /],
  ['an unknown path', (key) => head(key, 'POST', '/v1/none'), /^HTTP\/1\.1 404 /],
  ['a request without a body', (key) => head(key, 'GET', '/v1/databases'), /^HTTP\/1\.1 200 /],
  ['a request without a key', () => head('none', 'POST', '/v1/databases/some/search'), /^HTTP\/1\.1 401 /],
];

// One whose body is read whole, one whose lines are read, and one whose body nobody reads.
describe.each(inFull(REQUESTS, [REQUESTS[0]!, REQUESTS[2]!, REQUESTS[5]!]))(
  '%s in chunks of one byte',
  (_name, makeHead, expected) => {
    test('is refused, the connection is closed, and nobody waits', async () => {
      const share = await turnShare(async () => {
        const response = await flood(makeHead(service.adminKey), TINY);
        expect(response).toMatch(expected);
        expect(response.match(/HTTP\/1\.1/g)).toHaveLength(1);
        if (/^HTTP\/1\.1 400/.test(response)) expect(response).toContain(REFUSED);
      });
      expect(share).toBeLessThanOrEqual(1);
    });
  },
);

test('a stream in chunks of one line is read', async () => {
  const raw = new Raw(service);
  raw.socket.write(streamHead(service.adminKey, 'some'));
  for (let id = 1; id <= 5_000; id++)
    raw.chunk(`${JSON.stringify({ id, data: { t: 'a' }, vector: [1, 2] })}\n`);
  raw.socket.write('0\r\n\r\n');
  await raw.until('\r\n0\r\n\r\n');
  expect(raw.received).not.toContain('"error"');
  raw.socket.destroy();
  const { body } = await service.call('POST', '/v1/databases/some/query', { total: true });
  expect(body.total.value).toBe(5_000);
});

test('more requests of one connection than may be under way are not even read', async () => {
  const share = await turnShare(async () => {
    const responses = await flood('', 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(responses.match(/HTTP\/1\.1/g)).toHaveLength(33);
  });
  expect(share).toBeLessThanOrEqual(1);
  expect((await service.call('GET', '/livez')).status).toBe(200);
});

test('with a parser that is not known, small chunks and further requests are refused, too', async () => {
  const unknown = await Service.start();
  unknown.running.app.server.on('connection', (socket: { parser?: object }) => {
    if (socket.parser) Object.defineProperty(socket.parser, 'constructor', { value: {}, configurable: true });
  });
  try {
    const search = await flood(head(unknown.adminKey, 'POST', '/v1/databases/some/search'), TINY, unknown);
    expect(search).toContain(REFUSED);
    const probes = await flood('', 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n', unknown);
    expect(probes).toContain('HTTP/1.1 200 ');
    expect((await unknown.call('GET', '/livez')).status).toBe(200);
  } finally {
    await unknown.stop();
  }
});
