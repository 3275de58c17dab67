import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type DatabaseService, openDatabases } from '../../src/databases/index.js';
import { buildApp } from '../../src/server/app.js';
import { TIMEOUTS } from '../../src/server/http/timeouts.js';
import { fileKeys } from '../../src/server/keys/key-file.js';
import { FileWebhookStore } from '../../src/server/webhooks/file-webhook-store.js';
import { Webhooks } from '../../src/server/webhooks/webhooks.js';
import { ALL_ZERO, Raw, request, untilGauges } from './raw.js';
import { Service } from './service.js';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

const begin = async (timeouts: Partial<typeof TIMEOUTS>) => {
  const service = await Service.start({}, { timeouts });
  services.push(service);
  await service.call('PUT', '/v1/databases/some', { dimensions: 2 });
  return service;
};

test.each([
  ['nothing', ''],
  ['half a head', 'GET /livez HTTP/1.1\r\nhost: x\r\nx-api-'],
])('a caller who sends %s is told so once the time for a head is over', async (_, head) => {
  const service = await begin({ headersMs: 500 });
  const raw = new Raw(service);
  await raw.connected();
  const start = performance.now();
  raw.socket.write(head);
  await raw.until(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
  await raw.closed;
  // Node's own default is to look every 30 s.
  expect(performance.now() - start).toBeLessThan(25_000);
});

test('a body that does not arrive is not waited for', async () => {
  const service = await begin({ bodyMs: 300 });
  const raw = new Raw(service);
  raw.socket.write(
    request(service.adminKey, 'POST', '/v1/databases/some/query', '{}', { 'content-length': '9' }),
  );
  await raw.until(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
  await untilGauges(service, ALL_ZERO);
  raw.socket.destroy();
});

test('a call that takes too long is given up, and counts as in flight until it is done', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-timeouts-'));
  const local = await openDatabases({ directory });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  // A real service. Some of its parts return their results late.
  const late = new Proxy(local, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member === 'function') return member.bind(target);
      return LATE.includes(name as keyof DatabaseService) ? comingLate(member as object) : member;
    },
  });
  const comingLate = (part: object) =>
    new Proxy(part, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        return async (...args: unknown[]) => {
          const result = await method.apply(target, args);
          await held;
          return result;
        };
      },
    });
  const keys = fileKeys(directory, 'admin');
  const webhooks = new Webhooks(await FileWebhookStore.open(directory), local);
  await local.catalog.create('some', { dimensions: 2 });
  const records = [{ id: 1, data: {}, vector: [1, 0] }];
  await local.writer.upsertBatch('some', Buffer.from(JSON.stringify({ records })));
  const app = buildApp({
    databases: late,
    keys,
    webhooks,
    timeouts: { ...TIMEOUTS, responseMs: 200, writeMs: 200 },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const call = (method: string, target: string, body?: object) =>
    fetch(url + target, {
      method,
      headers: { 'x-api-key': 'admin', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  const counts = async () => (await (await call('GET', '/metrics')).text()).match(/^cosift_in_flight\{.*/gm);
  try {
    for (const [method, target, body] of [
      ['GET', '/v1/databases'],
      ['GET', '/v1/databases/some'],
      ['GET', '/v1/databases/some/records/1'],
      ['GET', '/v1/databases/some/changes'],
      ['PUT', '/v1/databases/another', { dimensions: 2 }],
      ['DELETE', '/v1/databases/some'],
    ] as const) {
      const answer = await call(method, target, body);
      const { code } = (await answer.json()) as { code: string };
      expect([target, answer.status, code]).toEqual([target, 503, 'timed_out']);
    }
    expect(await counts()).toEqual([
      'cosift_in_flight{kind="searches"} 0',
      'cosift_in_flight{kind="reads"} 3',
      'cosift_in_flight{kind="writes"} 2',
      'cosift_in_flight{kind="streams"} 0',
      'cosift_in_flight{kind="waits"} 1',
      'cosift_in_flight{kind="exports"} 0',
    ]);
    release();
    await expect.poll(async () => (await counts())?.every((line) => line.endsWith(' 0'))).toBe(true);
  } finally {
    release();
    await app.close();
    await webhooks.close();
    await local.close();
    await rm(directory, { recursive: true, force: true });
  }
});

const LATE: readonly (keyof DatabaseService)[] = ['catalog', 'reader', 'feed'];
