import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { configuredSyncs } from '../../src/sync/index.js';
import { createShop, NO_SQLITE, sqlite } from '../sync/sqlite.js';
import { Service } from './service.js';

const PASSWORD = 'hunter2';
/** So long that only what a test asks for makes a pass after the first. */
const NEVER = '24h';

describe.skipIf(NO_SQLITE !== undefined)(`sources${NO_SQLITE ? ` (${NO_SQLITE})` : ''}`, () => {
  let service: Service;
  let directory: string;
  let file: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'cosift-sources-'));
    file = path.join(directory, 'shop.db');
    await createShop(file);
    const of = (from: string, database: string) => ({
      database,
      from,
      table: 'products',
      columns: ['name', 'price'],
      // Nothing is embedded: no record has text there.
      embed: ['price'],
      every: NEVER,
    });
    const syncs = configuredSyncs({
      shop: of(`sqlite:${file}`, 'shop'),
      away: of(`postgres://user:${PASSWORD}@127.0.0.1:9/none`, 'other'),
      unset: of('env:TESTED_SOURCE', 'late'),
    });
    service = await Service.start({}, { syncs });
  });
  afterAll(async () => {
    await service?.stop();
    delete process.env.TESTED_SOURCE;
    await rm(directory, { recursive: true, force: true });
  });

  const list = async (headers = {}) => (await service.call('GET', '/v1/sync', undefined, headers)).body.syncs;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came
  const of = async (name: string): Promise<any> =>
    (await list()).find((sync: { name: string }) => sync.name === name);
  const until = (name: string, state: string) =>
    expect.poll(async () => (await of(name)).state, { timeout: 20_000 }).toBe(state);
  const made = async (action: string, body?: object) => {
    const asked = await service.call('POST', `/v1/sync/${action}`, body);
    expect(asked.status, asked.text).toBe(202);
    const name = action.split('/', 1)[0] as string;
    await expect.poll(async () => (await of(name)).requested).toBe(undefined);
    return await of(name);
  };
  const keyOf = async (request: object) =>
    ({ 'x-api-key': (await service.call('POST', '/v1/keys', { name: 'k', ...request })).body.key }) as const;

  test('have a state, the rows that were refused, and when they are read again', async () => {
    await until('shop', 'in_step');
    await until('away', 'waiting');
    await until('unset', 'failed');
    const shop = await of('shop');
    expect(shop).toMatchObject({
      name: 'shop',
      database: 'shop',
      state: 'in_step',
      in_step_as_of: expect.any(String),
      records: 39,
      refused: 1,
      refused_rows: [{ key: '40', reason: expect.stringContaining('9007199254740993') }],
      withheld: 0,
      last_whole_pass: { read: 40, written: 39, unchanged: 0, deleted: 0 },
    });
    expect(Date.parse(shop.next_attempt)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    expect(shop.requested).toBe(undefined);
    // It may be tried again at this moment.
    expect(await of('away')).toMatchObject({ reason: expect.any(String), records: 0 });
  });

  test('are in the metrics, without secrets', async () => {
    const { text } = await service.call('GET', '/metrics');
    expect(text).toMatch(/^cosift_sync_up\{database="shop",sync="shop"\} 1$/m);
    expect(text).toMatch(/^cosift_sync_up\{database="other",sync="away"\} 0$/m);
    expect(text).toMatch(/^cosift_sync_records\{database="shop",sync="shop"\} 39$/m);
    expect(text).toMatch(/^cosift_sync_refused_rows\{database="shop",sync="shop"\} 1$/m);
    expect(text).toMatch(/^cosift_sync_passes_total\{database="shop",sync="shop"\} 1$/m);
    expect(text).toMatch(/^cosift_sync_failures_total\{database="late",sync="unset"\} [1-9]/m);
    const moment = Date.parse((await of('shop')).in_step_as_of) / 1000;
    expect(text).toContain(`cosift_sync_in_step_timestamp_seconds{database="shop",sync="shop"} ${moment}\n`);
    expect(text + (await service.call('GET', '/v1/sync')).text).not.toContain(PASSWORD);
    const headers = await keyOf({ actions: ['databases.manage'], databases: ['shop'] });
    const own = await service.call('GET', '/metrics', undefined, headers);
    expect(own.text).toContain('sync="shop"');
    expect(own.text).not.toContain('sync="away"');
  });

  test('are shown to keys that manage their databases', async () => {
    const manager = await keyOf({ actions: ['databases.manage'], databases: ['shop'] });
    expect((await list(manager)).map(({ name }: { name: string }) => name)).toEqual(['shop']);
    const hidden = await service.call('POST', '/v1/sync/away/reconcile', undefined, manager);
    const unknown = await service.call('POST', '/v1/sync/none/confirm', undefined, manager);
    expect(hidden).toMatchObject({ status: 404, body: { code: 'sync_not_found' } });
    expect(unknown.body.detail).toContain('this service follows no source "none"');
    expect(hidden.body.detail.replace('away', 'none')).toBe(unknown.body.detail);
    const writer = await keyOf({ actions: ['records.write', 'records.read'], databases: '*' });
    expect((await service.call('GET', '/v1/sync', undefined, writer)).status).toBe(403);
    expect((await service.call('POST', '/v1/sync/shop/confirm', undefined, writer)).status).toBe(403);
  });

  test('are reconciled', async () => {
    await service.call('DELETE', '/v1/databases/shop/records/key:shop%2F7');
    await service.call('POST', '/v1/databases/shop/records', {
      records: [{ key: 'shop/8', data: { name: 'changed by others' } }],
    });
    expect(await made('shop/reconcile')).toMatchObject({
      state: 'in_step',
      records: 39,
      last_whole_pass: { read: 40, written: 2, unchanged: 37, deleted: 0 },
    });
  });

  test('delete no more than was shown', async () => {
    await sqlite(file, 'DELETE FROM products WHERE id > 20 AND id < 40');
    expect(await made('shop/reconcile')).toMatchObject({ state: 'withheld', withheld: 19, records: 39 });
    const { text } = await service.call('GET', '/metrics');
    expect(text).toMatch(/^cosift_sync_withheld_deletions\{database="shop",sync="shop"\} 19$/m);
    expect(await made('shop/confirm', { withheld: 18 })).toMatchObject({ state: 'withheld', records: 39 });
    const bad = await service.call('POST', '/v1/sync/shop/confirm', { witheld: 19 });
    expect(bad).toMatchObject({ status: 400, body: { errors: [{ pointer: '/witheld' }] } });
    expect(await made('shop/confirm', { withheld: 19 })).toMatchObject({
      state: 'in_step',
      withheld: 0,
      records: 20,
      last_whole_pass: { deleted: 19 },
    });
  });

  test('take one confirmation at a time', async () => {
    await until('away', 'waiting');
    // Nothing can be confirmed of a source that is not there, until it is.
    const confirm = (withheld: number) => service.call('POST', '/v1/sync/away/confirm', { withheld });
    expect((await confirm(3)).body).toMatchObject({ requested: ['confirm'] });
    expect((await confirm(3)).status).toBe(202);
    expect((await confirm(41)).body.code).toBe('busy');
  });

  test('that cannot be opened are tried again, at once when somebody asks', async () => {
    expect(await of('unset')).toMatchObject({
      state: 'failed',
      reason: 'the environment variable TESTED_SOURCE is not set',
      next_attempt: expect.any(String),
    });
    process.env.TESTED_SOURCE = `sqlite:${file}`;
    expect(await made('unset/reconcile')).toMatchObject({ state: 'in_step', database: 'late', records: 20 });
    expect((await of('unset')).reason).toBe(undefined);
  });
});

describe.skipIf(NO_SERVER !== undefined)(`a table of PostgreSQL${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  test('is waited for while its server is down, and read at once when somebody asks', async () => {
    const server = await PostgresServer.start();
    const url = await server.createDatabase();
    const { pathname } = new URL(url);
    const run = (statement: string) => server.run(statement, pathname.slice(1));
    await run('CREATE TABLE items (id int PRIMARY KEY, name text)');
    await run("INSERT INTO items VALUES (1, 'a'), (2, 'b')");
    const source = { database: 'items', from: url, table: 'items', columns: ['name', 'id'], every: '20ms' };
    // Nothing is embedded: no record has text in this column.
    const syncs = configuredSyncs({ items: { ...source, embed: ['id'] } });
    const service = await Service.start({}, { syncs });
    const read = async () => (await service.call('GET', '/v1/sync')).body.syncs[0];
    const until = (expected: object) => expect.poll(read, { timeout: 20_000 }).toMatchObject(expected);
    const reason = expect.any(String);
    try {
      await until({ state: 'in_step', records: 2 });
      await run("INSERT INTO items VALUES (3, 'c')");
      await until({ state: 'in_step', records: 3 });
      await server.kill();
      await until({ state: 'waiting', records: 3, reason, next_attempt: expect.any(String) });
      await server.restart();
      await run("INSERT INTO items VALUES (4, 'd')");
      expect((await service.call('POST', '/v1/sync/items/reconcile')).status).toBe(202);
      await until({ state: 'in_step', records: 4, last_whole_pass: { read: 4 } });
      expect((await read()).reason).toBe(undefined);
    } finally {
      await service.stop();
      await server.stop();
    }
  });
});
