import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { CosiftError } from '../../src/errors.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { migrate } from '../../src/store/postgres/schema.js';

describe.skipIf(NO_SERVER !== undefined)(`a PostgreSQL server${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

  test('tables of version 3 are migrated once, while another process uses them', async () => {
    const url = await server.createDatabase();
    const open = () => new PostgresStore(new NodePostgres({ url, maxConnections: 2 }), LIMITS);
    const put = async (store: PostgresStore, id: number) => {
      const body = Buffer.from(JSON.stringify({ records: [{ id, data: {}, vector: [1, id] }] }));
      await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
      return (await store.describeDatabase('db')).records;
    };
    const running = open();
    await running.load();
    await running.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    await server.run(
      `ALTER TABLE cosift.databases DROP COLUMN held_by, DROP COLUMN held_until, DROP COLUMN list_columns;
      ALTER TABLE cosift.columns DROP COLUMN lists;
      DROP TABLE cosift.aliases;
      DROP TABLE cosift.syncs;
      UPDATE cosift.schema_version SET version = 3`,
      'test_1',
    );
    const updated = [open(), open()];
    await Promise.all(updated.map((store) => store.load()));
    // Its prepared statements are those of the tables before.
    for (let id = 1; id <= 3; id++) expect(await put(running, id)).toBe(id);
    expect(await put(updated[1] as PostgresStore, 4)).toBe(4);
    expect(await server.run('SELECT version FROM cosift.schema_version', 'test_1')).toBe('7');
    for (const store of [running, ...updated]) await store.close();
  });

  test.each([
    [2, 'was not released'],
    [8, 'a later version'],
  ])('tables of version %i are refused', async (version, reason) => {
    const url = await server.createDatabase();
    const open = () => new PostgresStore(new NodePostgres({ url, maxConnections: 2 }), LIMITS);
    const [first, second] = [open(), open()];
    await first.load();
    await server.run(`UPDATE cosift.schema_version SET version = ${version}`, new URL(url).pathname.slice(1));
    await expect(second.load()).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining(reason),
    });
    for (const store of [first, second]) await store.close();
  });

  test('several processes create the tables at the same time', async () => {
    const url = await server.createDatabase();
    const stores = Array.from(
      { length: 4 },
      () => new PostgresStore(new NodePostgres({ url, maxConnections: 2 }), LIMITS),
    );
    await Promise.all(stores.map((store) => store.load()));
    for (const store of stores) await store.close();
  });

  test('what another process has just created is used at once', async () => {
    const database = new NodePostgres({ url: await server.createDatabase(), maxConnections: 2 });
    const write = vi.spyOn(database, 'write').mockImplementationOnce(async () => {
      await migrate(database);
      throw new CosiftError('store_failed', 'the schema exists', { fields: { postgres: '42P06' } });
    });
    // A pause would never end.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await migrate(database);
    expect(write).toHaveBeenCalledTimes(2);
    vi.useRealTimers();
    await database.close();
  });

  test('a start needs no lock that a role with few privileges can hold', async () => {
    const url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    const open = () => new PostgresStore(new NodePostgres({ url, maxConnections: 2 }), LIMITS);
    const first = open();
    await first.load();
    await server.run(
      `CREATE ROLE curious LOGIN; GRANT USAGE ON SCHEMA cosift TO curious;
      GRANT SELECT ON cosift.schema_version TO curious`,
      name,
    );
    const reader = new pg.Client({ connectionString: url.replace('cosift@', 'curious@') });
    await reader.connect();
    await reader.query('BEGIN; LOCK TABLE cosift.schema_version IN ACCESS SHARE MODE');
    const advisory = 'SELECT pg_advisory_lock(7204113901)';
    await reader.query(advisory);
    const stronger = reader.query('LOCK TABLE cosift.schema_version IN EXCLUSIVE MODE');
    await expect(stronger).rejects.toThrow('permission denied');
    await reader.query('ROLLBACK; BEGIN; SELECT * FROM cosift.schema_version');
    const second = open();
    await second.load();
    await server.run(
      `ALTER TABLE cosift.databases DROP COLUMN held_by, DROP COLUMN held_until, DROP COLUMN list_columns;
      ALTER TABLE cosift.columns DROP COLUMN lists;
      DROP TABLE cosift.aliases;
      DROP TABLE cosift.syncs;
      UPDATE cosift.schema_version SET version = 3`,
      name,
    );
    const third = open();
    await third.load();
    expect(await server.run('SELECT version FROM cosift.schema_version', name)).toBe('7');
    await reader.end();
    for (const store of [first, second, third]) await store.close();
  });

  test('a migration that waits for a long read keeps nobody else waiting', async () => {
    const url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    const open = () => new PostgresStore(new NodePostgres({ url, maxConnections: 2 }), LIMITS);
    const [running, updated] = [open(), open()];
    await running.load();
    await running.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    await server.run(
      `ALTER TABLE cosift.databases DROP COLUMN held_by, DROP COLUMN held_until, DROP COLUMN list_columns;
      ALTER TABLE cosift.columns DROP COLUMN lists;
      DROP TABLE cosift.aliases;
      DROP TABLE cosift.syncs;
      UPDATE cosift.schema_version SET version = 3`,
      name,
    );
    const reader = new pg.Client({ connectionString: url });
    await reader.connect();
    await reader.query('BEGIN; SELECT * FROM cosift.databases');
    const loading = updated.load();
    const waiting = () => server.run('SELECT count(*) > 0 FROM pg_locks WHERE NOT granted', name);
    await expect.poll(waiting, { interval: 20 }).toBe('t');
    expect(await running.nextId('db')).toBe(1);
    await reader.end();
    await loading;
    for (const store of [running, updated]) await store.close();
  });
});
