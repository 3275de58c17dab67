import { cp, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import { start } from '../../src/server/main.js';
import { DELIVERY_TIMES as deliveryTimes, Receiver } from './receiver.js';
import { fan, Service } from './service.js';

const RECORDS = fan(20);
const webhookAllow = '127.0.0.1';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function begin(): Promise<Service> {
  const service = await Service.start({ webhookAllow }, { deliveryTimes });
  closing.push(() => service.stop());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  return service;
}

const changes = (service: Service, query: string, headers: Record<string, string> = {}) =>
  service.call('GET', `/v1/databases/fan/changes?${query}`, undefined, headers);

test('a follower of a database that was created again gets feed_restarted', async () => {
  const service = await begin();
  await service.call('POST', '/v1/databases/fan/records', { records: RECORDS.slice(0, 3) });
  const { epoch, position } = (await changes(service, 'after=0')).body;
  expect(position).toBe(3);
  expect((await changes(service, `after=3&epoch=${epoch}`)).body).toMatchObject({ changes: [], epoch });

  await service.call('DELETE', '/v1/databases/fan');
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  const beyond = await changes(service, 'after=3&wait=30');
  expect(beyond).toMatchObject({ status: 410, body: { code: 'feed_restarted' } });
  await service.call('POST', '/v1/databases/fan/records', { records: RECORDS.slice(0, 5) });
  const other = await changes(service, `after=3&epoch=${epoch}`);
  expect(other).toMatchObject({ status: 410, body: { code: 'feed_restarted' } });
  const again = (await changes(service, 'after=0')).body;
  expect(again.changes).toHaveLength(5);
  expect(again.epoch).not.toBe(epoch);
  for (const bad of ['epoch=', 'epoch=x', `epoch=${epoch.toUpperCase()}G`]) {
    expect((await changes(service, bad)).status, bad).toBe(400);
  }
});

test('a request that waits for changes of a database gets an error as soon as the database is dropped', async () => {
  const service = await begin();
  await service.call('POST', '/v1/databases/fan/records', { records: RECORDS.slice(0, 1) });
  const waiting = changes(service, 'after=1&wait=60');
  const inFlight = async () =>
    /cosift_in_flight\{kind="waits"\} (\d+)/.exec((await service.call('GET', '/metrics')).text)?.[1];
  while ((await inFlight()) !== '1');
  await service.call('DELETE', '/v1/databases/fan');
  expect(await waiting).toMatchObject({ status: 404, body: { code: 'database_not_found' } });
});

test('a waiting response is sent with the first change that the filter of the key shows', async () => {
  const service = await begin();
  const filter = { condition: 'AND', rules: [{ column: 'even', operator: 'equals', value: true }] };
  const issued = await service.call('POST', '/v1/keys', {
    name: 'even',
    actions: ['records.read'],
    databases: ['fan'],
    filter,
  });
  const headers = { 'x-api-key': issued.body.key };
  const data = (even: boolean) => ({ even });
  const put = (id: number, even: boolean) =>
    service.call('POST', '/v1/databases/fan/records', {
      records: [{ id, data: data(even), vector: [1, id] }],
    });
  await put(1, false);
  await put(2, false);
  // What is hidden moves the position; nothing waits to be seen again.
  expect((await changes(service, 'after=0', headers)).body).toMatchObject({ changes: [], position: 2 });
  const waiting = changes(service, 'after=0&wait=60', headers);
  await put(3, false);
  await put(4, true);
  expect((await waiting).body).toMatchObject({ changes: [{ kind: 'created', id: 4 }], position: 4 });

  const leaving = changes(service, 'after=4&wait=60', headers);
  await put(4, false);
  expect((await leaving).body).toMatchObject({ changes: [{ kind: 'deleted', id: 4 }], position: 5 });
});

test('a webhook begins again with the feed of a database that was put back', async () => {
  const service = await begin();
  const receiver = new Receiver(0);
  closing.push(() => receiver.close());
  const url = await receiver.listen();
  await service.call('POST', '/v1/databases/fan/records', { records: RECORDS.slice(0, 1) });
  await service.running.close();
  const database = path.join(service.directory, 'databases', 'fan');
  const backup = path.join(service.directory, 'backup');
  await cp(database, backup, { recursive: true });

  const { config } = resolveConfig(
    { port: 0, data: service.directory, logLevel: 'silent', webhookAllow },
    {},
  );
  const headers = { 'x-api-key': service.adminKey, 'content-type': 'application/json' };
  const call = (at: string, method: string, target: string, payload: object) =>
    fetch(`${at}/v1/databases/fan${target}`, { method, headers, body: JSON.stringify(payload) });
  const second = await start(config, { print: () => undefined, deliveryTimes });
  await call(second.url, 'POST', '/webhooks', { url, after: 0 });
  await call(second.url, 'POST', '/records', { records: RECORDS.slice(0, 3) });
  expect(await receiver.changes(3)).toEqual(['created 1', 'created 2', 'created 3']);
  // The position is moved after the response of the receiver.
  await expect
    .poll(async () => (await fetch(`${second.url}/v1/databases/fan/webhooks`, { headers })).json())
    .toMatchObject({ webhooks: [{ position: 3 }] });
  await second.close();

  await rm(database, { recursive: true });
  await cp(backup, database, { recursive: true });
  const third = await start(config, { print: () => undefined, deliveryTimes });
  closing.push(() => third.close());
  expect((await receiver.changes(4))[3]).toBe('created 1');
  await call(third.url, 'POST', '/records', { records: RECORDS.slice(0, 2) });
  expect((await receiver.changes(5))[4]).toBe('created 2');
  const ids = receiver.deliveries.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test('a follower of a directory put back without `acknowledged` gets feed_restarted, whatever was written since', async () => {
  const service = await begin();
  const { config } = resolveConfig({ port: 0, data: service.directory, logLevel: 'silent' }, {});
  const database = path.join(service.directory, 'databases', 'fan');
  const backup = path.join(service.directory, 'backup');
  const records = (from: number, to: number) => ({ records: RECORDS.slice(from, to) });
  await service.call('POST', '/v1/databases/fan/records', records(0, 5));
  await service.running.close();
  await cp(database, backup, { recursive: true });

  const headers = { 'x-api-key': service.adminKey, 'content-type': 'application/json' };
  const call = async (at: string, target: string, payload?: object) => {
    const method = payload === undefined ? 'GET' : 'POST';
    const body = payload === undefined ? {} : { body: JSON.stringify(payload) };
    const response = await fetch(`${at}/v1/databases/fan/${target}`, { method, headers, ...body });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const second = await start(config, { print: () => undefined });
  await call(second.url, 'records', records(5, 10));
  const { epoch, position } = (await call(second.url, 'changes')).body;
  expect(position).toBe(10);
  await second.close();

  await rm(database, { recursive: true });
  await cp(backup, database, { recursive: true });
  await rm(path.join(database, 'acknowledged'));
  const third = await start(config, { print: () => undefined });
  closing.push(() => third.close());
  await call(third.url, 'records', records(10, 20));
  const gone = await call(third.url, `changes?after=${position}&epoch=${epoch}`);
  expect(gone).toMatchObject({ status: 410, body: { code: 'feed_restarted' } });
  const again = await call(third.url, 'changes');
  expect(again.body.changes).toHaveLength(15);
});
