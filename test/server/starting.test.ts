import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../../scripts/postgres/free-port.js';
import { ConfigError, resolveConfig } from '../../src/config/index.js';
import { beginDatabases, openDatabases } from '../../src/databases/index.js';
import { checkSchema, LIMITS } from '../../src/schema/index.js';
import { type Running, type StartOptions, start } from '../../src/server/main.js';
import { LocalStore } from '../../src/store/local/index.js';
import { fan, JSON_TYPE, Service } from './service.js';

const services: Service[] = [];
const running: Running[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
  for (const service of services.splice(0)) await service.stop();
});

/** A service over `databases` of twenty records that was stopped; its directory is there until the end of the test. */
const stopped = async (...databases: string[]) => {
  const service = await Service.start();
  services.push(service);
  for (const id of databases) {
    await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
    await service.call('POST', `/v1/databases/${id}/records`, { records: fan(20) });
  }
  await service.running.close();
  return service;
};

const startOn = async (directory: string, port: number, options: StartOptions = {}) => {
  const { config } = resolveConfig({ port, data: directory, logLevel: 'silent' }, {});
  const server = await start(config, { print: () => undefined, ...options });
  running.push(server);
  return server;
};

test('until a service is ready, it reports its state and refuses everything else', async () => {
  const { directory, adminKey } = await stopped('fan');
  const headers = { 'x-api-key': adminKey, ...JSON_TYPE };
  const printed: string[] = [];
  let asked = false;
  const { url } = await startOn(directory, 0, {
    print: (line) => printed.push(line),
    async beforeServing(_databases, url) {
      expect((await fetch(`${url}/livez`)).status).toBe(200);
      const state = await fetch(`${url}/readyz`);
      expect([state.status, state.headers.get('retry-after')]).toEqual([503, '1']);
      const body = await state.json();
      checkSchema('Health', body);
      expect(body).toEqual({
        status: 'not_ready',
        reasons: ['the service is being prepared'],
        progress: { databases: 1, loaded: 1, records: 20 },
      });
      for (const [method, target] of [
        ['POST', '/v1/databases/fan/search'],
        ['POST', '/v1/databases/fan/records'],
        ['GET', '/v1/databases'],
        ['GET', '/v1/keys'],
        ['GET', '/metrics'],
      ] as const) {
        const answer = await fetch(url + target, {
          method,
          headers,
          ...(method === 'POST' && { body: '{}' }),
        });
        const { code, detail } = (await answer.json()) as { code: string; detail: string };
        expect([answer.status, code, answer.headers.get('retry-after')], target).toEqual([
          503,
          'not_ready',
          '1',
        ]);
        expect(detail).toBe('the service is being prepared');
      }
      expect((await fetch(`${url}/v1/databases`)).status).toBe(401);
      expect(printed).toEqual([]);
      asked = true;
    },
  });
  expect(asked).toBe(true);
  expect(printed).toEqual([`listening on ${url}`]);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/v1/databases`, { headers })).status).toBe(200);
});

test('while databases are being read, the state says how far it is', async () => {
  const { directory } = await stopped('first', 'second');
  // The load of the second waits until someone writes to the pipe.
  const pipe = path.join(directory, 'databases/second/derived/snapshot');
  await rm(pipe, { force: true });
  await promisify(execFile)('mkfifo', [pipe]);

  const port = await freePort();
  const state = async () =>
    (await fetch(`http://127.0.0.1:${port}/readyz`)
      .then((answer) => answer.json())
      .catch(() => undefined)) as unknown;
  const started = startOn(directory, port);
  try {
    await expect.poll(state).toEqual({
      status: 'not_ready',
      reasons: ['databases are being loaded'],
      progress: { databases: 2, loaded: 1, records: 20 },
    });
  } finally {
    await writeFile(pipe, 'not a snapshot', { flag: 'r+' });
  }
  const { databases } = await started;
  expect((await databases.catalog.describe('second')).records).toBe(20);
  expect(await state()).toEqual({ status: 'ok' });
});

test('a close in the middle of loading ends it', async () => {
  const { directory } = await stopped('fan');
  const databases = await beginDatabases({ directory });
  expect(await databases.readiness()).toMatchObject({
    ready: false,
    reasons: ['databases are being loaded'],
  });
  await databases.close();
  const again = await openDatabases({ directory });
  expect((await again.catalog.describe('fan')).records).toBe(20);
  await again.close();
});

test('a damaged database is named and left out, and the others are served', async () => {
  const { directory, adminKey } = await stopped('broken', 'sound');
  const file = path.join(directory, 'databases/broken/records.sqlite');
  await truncate(file, Math.floor((await stat(file)).size / 2));
  const { url } = await startOn(directory, 0);
  const ask = async (method: string, target: string, body?: unknown) => {
    const answer = await fetch(url + target, {
      method,
      headers: { 'x-api-key': adminKey, ...(body !== undefined && JSON_TYPE) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse((await answer.text()) || 'null') };
  };

  const search = { search: { vector: [1, 0] } };
  expect((await ask('POST', '/v1/databases/sound/search', search)).status).toBe(200);
  const state = await ask('GET', '/readyz');
  expect(state).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(state.body.reasons).toEqual([
    expect.stringMatching(/^database "broken" could not be opened \(\w+\)$/),
  ]);
  // Who asks without a key learns that there is a fault, not of what.
  const anonymous = (await (await fetch(`${url}/readyz`)).json()) as { reasons: string[] };
  expect(anonymous.reasons).toEqual([expect.stringMatching(/^a database could not be opened/)]);

  const calls = [
    ['POST', '/v1/databases/broken/search', search],
    ['POST', '/v1/databases/broken/records', { records: fan(1) }],
    ['GET', '/v1/databases/broken/records/1', undefined],
    ['PUT', '/v1/databases/broken', { dimensions: 2 }],
  ] as const;
  for (const [method, target, body] of calls) {
    expect(await ask(method, target, body), `${method} ${target}`).toMatchObject({
      status: 503,
      body: { code: 'not_ready' },
    });
  }
  expect((await ask('GET', '/v1/databases')).body.databases.map(({ id }: { id: string }) => id)).toEqual([
    'sound',
  ]);
  const metrics = await fetch(`${url}/metrics`, { headers: { 'x-api-key': adminKey } });
  expect(await metrics.text()).toMatch(/^cosift_database_loaded\{database="broken"\} 0$/m);

  // What is left of the database can still be dropped, and created again.
  expect((await ask('DELETE', '/v1/databases/broken')).status).toBe(204);
  expect((await ask('PUT', '/v1/databases/broken', { dimensions: 2 })).status).toBe(201);
  expect((await ask('GET', '/readyz')).body).toEqual({ status: 'ok' });
  expect((await readFile(file)).length).toBeGreaterThan(0);
});

test('a database that cannot be dropped says so, and can be dropped again', async () => {
  const service = await Service.start();
  services.push(service);
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  // A file at the path to which the directory will be renamed.
  const obstacle = path.join(service.directory, 'databases/.dropped-fan');
  await writeFile(obstacle, '');
  expect((await service.call('DELETE', '/v1/databases/fan')).status).toBe(503);
  expect((await service.call('GET', '/readyz')).body).toEqual({
    status: 'ok',
    reasons: ['database "fan" could not be dropped: drop it again'],
  });
  const search = { search: { vector: [1, 0] } };
  expect((await service.call('POST', '/v1/databases/fan/search', search)).body.code).toBe('not_ready');
  await rm(obstacle);
  expect((await service.call('DELETE', '/v1/databases/fan')).status).toBe(204);
  expect((await service.call('GET', '/readyz')).body).toEqual({ status: 'ok' });
  expect((await service.call('PUT', '/v1/databases/fan', { dimensions: 2 })).status).toBe(201);
});

test('a missing model makes only the requests that need it fail', async () => {
  const { directory, adminKey } = await stopped('fan');
  const engine = LocalStore.open(directory, LIMITS);
  await engine.load();
  await engine.createDatabase('other', { model: 'another', fingerprint: 'of another', dimensions: 2 });
  await engine.close();
  const { url } = await startOn(directory, 0);
  const ask = async (target: string, body: object) => {
    const headers = { 'x-api-key': adminKey, ...JSON_TYPE };
    const answer = await fetch(`${url}/v1/databases/${target}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return [answer.status, ((await answer.json()) as { code?: string }).code];
  };
  expect(await ask('other/search', { search: { text: 'a tower' } })).toEqual([409, 'model_mismatch']);
  expect(await ask('other/records', { records: [{ data: {} }] })).toEqual([409, 'model_mismatch']);
  expect(await ask('other/query', {})).toEqual([200, undefined]);
  expect(await ask('fan/search', { search: { vector: [1, 0] } })).toEqual([200, undefined]);
});

test('a start on a used port names the port and the fix, and leaves no admin key that nobody has seen', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { directory } = await stopped();
  const file = path.join(directory, 'admin.key');
  await rm(file);
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  await expect(startOn(directory, port, { print })).rejects.toThrow(
    new ConfigError(
      `port ${port} of 127.0.0.1 is in use; stop the other server, or choose another port with --port (0: any free one)`,
    ),
  );
  expect(printed).toEqual([]);
  await expect(stat(file)).rejects.toThrow('ENOENT');
  other.close();
  await once(other, 'close');
  await startOn(directory, port, { print });
  const key = (await readFile(file, 'utf8')).trim();
  expect(printed).toEqual([
    `admin key (shown once, kept in ${file}): ${key}`,
    `page: http://127.0.0.1:${port}/#key=${key}`,
    `listening on http://127.0.0.1:${port}`,
  ]);
});

test('an address that this machine does not have is named', async () => {
  const { config } = resolveConfig(
    { port: 0, host: '192.0.2.1', data: (await stopped()).directory },
    {
      COSIFT_ADMIN_KEY: 'a-key-of-some-length',
    },
  );
  await expect(start(config, { print: () => undefined })).rejects.toThrow(
    '192.0.2.1 is not an address of this machine',
  );
});
