import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { overTurns } from '../../src/async/turns.js';
import { inFull } from '../helpers/full.js';
import { turnShare } from './longest-turn.js';
import { Service } from './service.js';

test('calls are made in order, some of them in each turn of the event loop', async () => {
  const made: number[] = [];
  let isPaused = false;
  const start = overTurns(64, () => isPaused);
  const calls = (from: number, count: number) => {
    for (let i = 0; i < count; i += 1) start(() => made.push(from + i));
  };
  calls(0, 200);
  const first = made.length;
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThan(200);
  while (made.length < 200) await setImmediate();
  isPaused = true;
  calls(200, 10);
  await setImmediate();
  expect(made.length).toBe(200);
  isPaused = false;
  while (made.length < 210) await setImmediate();
  expect(made).toEqual(Array.from({ length: 210 }, (_, i) => i));
});

/** Opens connections at once, each with a request; posts the places in the order of the answers. It is a thread of its own. */
const CLIENT = `const { parentPort, workerData: { port, requests } } = require('node:worker_threads');
const answered = [];
requests.forEach((request, at) => {
  const socket = require('node:net').connect(port, '127.0.0.1');
  socket.write(request);
  socket.once('data', () => {
    if (answered.push(at) === requests.length) parentPort.postMessage(answered);
    socket.destroy();
  });
});`;

test('a probe is answered before the requests of many connections that arrived with it', async () => {
  const service = await Service.start();
  try {
    await service.call('PUT', '/v1/databases/d', { dimensions: 2 });
    const head = `HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.adminKey}\r\n\r\n`;
    const read = `GET /v1/databases/d/changes?after=0 ${head}`;
    const requests = [...Array<string>(800).fill(read), `GET /livez ${head}`];
    const { port } = new URL(service.url);
    const worker = new Worker(CLIENT, { eval: true, workerData: { port, requests } });
    const [answered] = (await once(worker, 'message')) as [number[]];
    await worker.terminate();
    expect(answered).toHaveLength(801);
    expect(answered.indexOf(800)).toBeLessThan(600);
  } finally {
    await service.stop();
  }
});

/** Sends the requests at once, on a connection each, reads the responses to their ends, and posts the number of their bytes. */
const READER = `const { parentPort, workerData: { port, requests } } = require('node:worker_threads');
let bytes = 0;
let open = requests.length;
requests.forEach((request) => {
  const socket = require('node:net').connect(port, '127.0.0.1');
  socket.write(request);
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.once('close', () => {
    open -= 1;
    if (open === 0) parentPort.postMessage(bytes);
  });
});`;

test('long responses that are ready together are sent one after the other', async () => {
  const service = await Service.start();
  try {
    await service.call('PUT', '/v1/databases/d', { dimensions: 2 });
    const nameOf = (i: number) => `${i}`.padEnd(250, 'x');
    const columns = inFull(10_000, 5_000);
    for (let from = 0; from < columns; from += 2_500) {
      const data = Object.fromEntries(Array.from({ length: 2_500 }, (_, i) => [nameOf(from + i), 1]));
      const { status } = await service.call('POST', '/v1/databases/d/records', {
        records: [{ id: from + 1, data, vector: [1, 0] }],
      });
      expect(status).toBe(200);
    }
    const head = `host: x\r\nx-api-key: ${service.adminKey}\r\nconnection: close\r\n\r\n`;
    const requests = Array<string>(64).fill(`GET /v1/databases/d HTTP/1.1\r\n${head}`);
    const { port } = new URL(service.url);
    const read = async () => {
      const worker = new Worker(READER, { eval: true, workerData: { port, requests } });
      const [bytes] = (await once(worker, 'message')) as [number];
      expect(bytes).toBeGreaterThan(64 * 250 * columns);
      await worker.terminate();
    };
    expect(await turnShare(read)).toBeLessThanOrEqual(1);
  } finally {
    await service.stop();
  }
});
