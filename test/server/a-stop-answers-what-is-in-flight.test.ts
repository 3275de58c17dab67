import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';
import { fan, JSON_TYPE, Service } from './service.js';

test('writes with their embeddings, searches and waits, and every record is there afterwards', async () => {
  const service = await Service.start();
  const { directory } = service;
  await service.call('PUT', '/v1/databases/own', { dimensions: 2 });
  await service.call('PUT', '/v1/databases/facts', {});
  await service.call('PUT', '/v1/databases/quiet', { dimensions: 2 });
  await service.call('POST', '/v1/databases/own/records', { records: fan(50) });
  const texts = Array.from({ length: 80 }, (_, i) => ({ id: i + 1, data: { text: `fact number ${i}` } }));
  const { server } = service.running.app;
  const reached = new Promise<void>((resolve) => {
    let requests = 0;
    server.on('request', () => {
      requests += 1;
      if (requests === 3) resolve();
    });
  });
  const begun = [
    service.call('POST', '/v1/databases/facts/records', { records: texts }),
    service.call('POST', '/v1/databases/own/search', { search: { vector: [1, 0], threshold: 0 } }),
    service.call('GET', '/v1/databases/quiet/changes?wait=30'),
  ];
  await reached;
  const closing = service.running.close();
  expect(service.running.close()).toBe(closing);
  const [written, found, waited] = await Promise.all(begun);
  expect(written, written!.text).toMatchObject({ status: 200, body: { created: 80 } });
  expect(found!.body.results.length).toBeGreaterThan(0);
  expect(waited).toMatchObject({ status: 200, body: { changes: [] } });
  await closing;
  await expect(
    fetch(`${service.url}/v1/databases`, { headers: { ...JSON_TYPE, 'x-api-key': service.adminKey } }),
  ).rejects.toThrow();

  const databases = await openDatabases({ directory });
  expect((await databases.catalog.describe('facts')).records).toBe(80);
  await databases.close();
  await service.stop();
});

/** Sends a request on each of `count` connections, notes in `shared` that all are sent, and posts the responses. */
const CALLERS = `
  const { connect } = require('node:net');
  const { parentPort, workerData: { port, key, count, shared } } = require('node:worker_threads');
  const sent = new Int32Array(shared);
  const request = 'GET /v1/databases HTTP/1.1\\r\\nhost: x\\r\\nx-api-key: ' + key + '\\r\\n\\r\\n';
  const asked = Array.from({ length: count }, () => new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(request, () => {
      if (Atomics.add(sent, 0, 1) + 1 === count) Atomics.notify(sent, 0);
    }));
    socket.on('data', (bytes) => { received += bytes; });
    socket.on('error', ({ code }) => {
      Atomics.add(sent, 0, 1);
      resolve(code);
    });
    socket.on('close', () => resolve(received.slice(0, 12)));
  }));
  Promise.all(asked).then((responses) => parentPort.postMessage(responses));
`;

test('responds to requests of connections that a busy server has not accepted yet', async () => {
  const service = await Service.start();
  const count = 50;
  const shared = new SharedArrayBuffer(4);
  const sent = new Int32Array(shared);
  const workerData = { port: Number(new URL(service.url).port), key: service.adminKey, count, shared };
  const callers = new Worker(CALLERS, { eval: true, workerData });
  const answered = once(callers, 'message');
  // The server runs on this thread, which is busy until every request is sent.
  for (let seen = 0; seen < count; seen = Atomics.load(sent, 0)) Atomics.wait(sent, 0, seen, 100);
  await service.running.close();
  const [responses] = await answered;
  expect(responses).toEqual(Array.from({ length: count }, () => 'HTTP/1.1 200'));
  await service.stop();
});
