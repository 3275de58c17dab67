import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readdir, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { open } from '../../src/index.js';
import { bytesOf, entriesOf, manifestOf } from '../helpers/archives.js';
import { fan, Service } from './service.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function begin(): Promise<Service> {
  const service = await Service.start();
  closing.push(() => service.stop());
  for (const id of ['fan', 'other']) {
    await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
    await service.call('POST', `/v1/databases/${id}/records`, { records: fan(3) });
  }
  return service;
}

/** A service whose backup is larger than what is buffered on the way to a client that does not read. */
async function beginLarge(): Promise<Service> {
  const service = await begin();
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
    const long = fan(200).map((record) => ({ ...record, data: { text: 'long '.repeat(2000) } }));
    await service.call('POST', `/v1/databases/${id}/records`, { records: long });
  }
  return service;
}

/** Sends a request and reads nothing of its response. */
async function unread({ url, adminKey }: Service, key = adminKey): Promise<IncomingMessage> {
  const request = get(`${url}/v1/backup`, { headers: { 'x-api-key': key }, agent: false });
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  closing.push(() => response.destroy());
  return response;
}

const spool = ({ directory }: Service) => path.join(directory, '.backup');

test('the archive has the stores, the keys and the webhooks; that of one database has its store alone', async () => {
  const service = await begin();
  await service.call('POST', '/v1/keys', { name: 'reader', actions: ['search'], databases: '*' });
  await service.call('POST', '/v1/databases/fan/webhooks', { url: 'https://example.org/hook' });
  const client = new Client({ url: service.url, key: service.adminKey });
  const progress: object[] = [];
  const archive = await bytesOf(client.backup({ onProgress: (state) => progress.push(state) }));
  expect(progress[0]).toEqual({ bytes: 0, total: archive.length });
  expect(progress.at(-1)).toEqual({ bytes: archive.length, total: archive.length });
  const entries = await entriesOf(archive);
  expect(entries.map(({ name }) => name).sort()).toEqual([
    'databases/fan/records.sqlite',
    'databases/other/records.sqlite',
    'keys.json',
    'manifest.json',
    'webhooks.json',
  ]);
  expect(manifestOf(entries).databases[0]).toMatchObject({ id: 'fan', records: 3, position: 3, model: null });
  const one = await entriesOf(await bytesOf(client.backup({ database: 'fan' })));
  expect(one.map(({ name }) => name)).toEqual(['manifest.json', 'databases/fan/records.sqlite']);
  expect(existsSync(spool(service))).toBe(false);
  await expect(bytesOf(client.backup({ database: 'missing' }))).rejects.toMatchObject({
    code: 'database_not_found',
  });
});

test('a key needs both actions and every database', async () => {
  const service = await begin();
  const all = { name: 'k', actions: ['databases.manage', 'keys.manage'], databases: '*' };
  const status = async (request: object, method = 'GET') => {
    const { body } = await service.call('POST', '/v1/keys', { ...all, ...request });
    const headers = { 'x-api-key': body.key };
    return (await fetch(`${service.url}/v1/backup`, { method, headers })).status;
  };
  expect(await status({})).toBe(200);
  expect(await status({}, 'HEAD')).toBe(200);
  expect(await status({ actions: ['databases.manage'] })).toBe(403);
  expect(await status({ actions: ['keys.manage'] })).toBe(403);
  expect(await status({ databases: ['fan', 'other'] })).toBe(403);
  const bad = await service.call('GET', '/v1/backup?database=A');
  expect(bad).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  const missing = { method: 'HEAD', headers: { 'x-api-key': service.adminKey } };
  expect((await fetch(`${service.url}/v1/backup?database=missing`, missing)).status).toBe(404);
});

test('a key that is revoked during a backup gets no more of it', async () => {
  const service = await beginLarge();
  const all = { name: 'k', actions: ['databases.manage', 'keys.manage'], databases: '*' };
  const { body } = await service.call('POST', '/v1/keys', all);
  const response = await unread(service, body.key);
  expect((await service.call('DELETE', `/v1/keys/${body.key_id}`)).status).toBe(204);
  const failure = await bytesOf(response).then(
    () => 'complete',
    ({ code }) => code,
  );
  expect(failure).toBe('ECONNRESET');
  await expect.poll(() => existsSync(spool(service))).toBe(false);
});

test('a reader that does not read holds neither writes nor the log, and frees all when it goes away', async () => {
  const service = await beginLarge();
  const response = await unread(service);
  expect(existsSync(spool(service))).toBe(true);
  const second = await service.call('GET', '/v1/backup');
  expect(second).toMatchObject({ status: 503, body: { code: 'busy' } });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(1000) });
  await service.call('DELETE', '/v1/databases/fan');
  response.destroy();
  await expect.poll(() => existsSync(spool(service))).toBe(false);
  const client = new Client({ url: service.url, key: service.adminKey });
  expect(manifestOf(await entriesOf(await bytesOf(client.backup()))).databases).toHaveLength(7);
});

test('a stop of the service ends a backup that nobody reads, and the client sees that it is not complete', async () => {
  const service = await beginLarge();
  const chunks = new Client({ url: service.url, key: service.adminKey }).backup();
  await chunks.next();
  await service.running.close();
  expect(await readdir(service.directory)).not.toContain('.backup');
  await expect(bytesOf(chunks)).rejects.toMatchObject({ code: 'unreachable' });
});

test('a database that could not be opened is named, and what a killed process left is removed', async () => {
  const service = await begin();
  await service.running.close();
  const file = path.join(service.directory, 'databases/fan/records.sqlite');
  await rm(file);
  await mkdir(spool(service));
  await appendFile(path.join(spool(service), 'left.sqlite'), 'left');
  const cosift = await open(service.directory);
  closing.push(() => cosift.close());
  expect(existsSync(spool(service))).toBe(false);
  await expect(bytesOf(cosift.backup())).rejects.toMatchObject({
    code: 'not_ready',
    detail: expect.stringContaining('"fan"'),
  });
  expect(await entriesOf(await bytesOf(cosift.backup({ database: 'other' })))).toHaveLength(2);
});
