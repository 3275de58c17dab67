import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';

/** The tables and functions of Citus with their columns and parameters. They take notes, and refuse what Citus does. */
const CITUS = `CREATE TABLE calls (place serial, call text);
  CREATE TABLE pg_dist_partition (logicalrelid regclass, colocationid integer, is_known boolean);
  CREATE TABLE pg_dist_shard (logicalrelid regclass, shardid bigint);
  CREATE TABLE pg_dist_placement (shardid bigint, groupid integer);
  CREATE TABLE pg_dist_node (groupid integer, nodename text, nodeport integer, answers boolean DEFAULT true);
  INSERT INTO pg_dist_node VALUES (0, 'one', 1), (1, 'other', 1);
  CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
    distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL)
  RETURNS void LANGUAGE plpgsql AS $$
    DECLARE other pg_dist_partition;
    BEGIN
      IF EXISTS (SELECT 1 FROM pg_dist_node WHERE NOT answers AND (
        current_setting('citus.enable_metadata_sync', true) IS DISTINCT FROM 'off'
        OR groupid IN (SELECT p.groupid FROM pg_dist_placement AS p
          JOIN pg_dist_shard USING (shardid) WHERE logicalrelid = to_regclass(colocate_with))
      )) THEN RAISE 'connection to the remote node failed' USING ERRCODE = '08006'; END IF;
      IF colocate_with <> 'none' THEN
        SELECT * INTO other FROM pg_dist_partition WHERE logicalrelid = colocate_with::regclass;
        IF NOT FOUND THEN RAISE 'relation % is not distributed', colocate_with; END IF;
      END IF;
      INSERT INTO calls (call) SELECT concat_ws(' ', split_part(table_name::text, '.', -1), 'by',
        coalesce(distribution_column, 'nothing'), 'with', colocate_with);
      INSERT INTO pg_dist_partition VALUES (table_name, coalesce(other.colocationid, table_name::oid::integer),
        current_setting('citus.enable_metadata_sync', true) IS DISTINCT FROM 'off');
      INSERT INTO pg_dist_shard VALUES (table_name, table_name::oid);
      INSERT INTO pg_dist_placement
        VALUES (table_name::oid, (SELECT count(DISTINCT colocationid) FROM pg_dist_partition) % 2);
    END
  $$;`;

describe.skipIf(NO_SERVER !== undefined)(`tables on Citus${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server?.stop());

  const SETTINGS = { model: null, fingerprint: null, dimensions: 2 };
  const databaseOf = async () => {
    const url = await server.createDatabase();
    const name = new URL(url).pathname.slice(1);
    return { url, run: (text: string) => server.run(text, name) };
  };
  const open = async (url: string) => {
    const store = new PostgresStore(new NodePostgres({ url }), LIMITS);
    await store.load();
    return store;
  };
  const put = async (store: PostgresStore, id: string) => {
    const prepared = await store.prepareBatch(id, Buffer.from('{"records":[{"data":{},"vector":[1,0]}]}'));
    await store.commit(id, prepared, { vectors: new Float32Array() });
  };
  const callsOf = async (run: (text: string) => Promise<string>) =>
    (await run('SELECT call FROM calls ORDER BY place')).split('\n');

  test('everything of a database is in the place of its group', async () => {
    const { url, run } = await databaseOf();
    await run(`${CITUS} ALTER DATABASE ${new URL(url).pathname.slice(1)} SET citus.shard_count = 3`);
    const store = await open(url);
    expect(await callsOf(run)).toEqual(
      [0, 1, 2].flatMap((place) => [
        `databases_${place} by nothing with none`,
        `columns_${place} by nothing with cosift.databases_${place}`,
        `reembeddings_${place} by nothing with cosift.databases_${place}`,
        `syncs_${place} by nothing with cosift.databases_${place}`,
      ]),
    );
    await run('TRUNCATE calls');
    await store.createDatabase('db', SETTINGS);
    await store.reembedder.begin('db', { embed: {}, model: 'n', fingerprint: 'n', dimensions: 3 });
    await put(store, 'db');
    const number = Number((await run('SELECT number FROM cosift.names')).trim());
    const group = `cosift.databases_${number % 3}`;
    expect(await callsOf(run)).toEqual(
      [
        `changes_${number}`,
        ...[1, 2].flatMap((of) => [`records_${number}_${of}`, `passages_${number}_${of}`]),
      ].map((table) => `${table} by nothing with ${group}`),
    );
    expect(await run(`SELECT records FROM ${group} WHERE id = 'db'`)).toBe('1');
    // Another process finds the databases of all groups.
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const id of ids) await store.createDatabase(id, SETTINGS);
    const other = await open(url);
    expect((await other.listDatabases()).map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'db',
      ...ids.slice(4),
    ]);
    await other.dropDatabase('db');
    expect((await store.progress()).map(({ id }) => id)).toEqual(ids);
    expect(await run(`SELECT count(*) FROM pg_tables WHERE tablename ~ '_${number}(_|$)'`)).toBe('0');
    for (const opened of [store, other]) await opened.close();
  });

  test('a worker that does not answer keeps nobody from the databases of others', async () => {
    const { url, run } = await databaseOf();
    await run(`${CITUS} ALTER DATABASE ${new URL(url).pathname.slice(1)} SET citus.shard_count = 4`);
    const store = new PostgresStore(new NodePostgres({ url, maxConnections: 4 }), LIMITS, { connections: 4 });
    await store.load();
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (const id of ids) await store.createDatabase(id, SETTINGS);
    const groups = await run(
      `SELECT string_agg(split_part(logicalrelid::text, 'databases_', 2), ' ') FROM pg_dist_shard
          JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
        WHERE logicalrelid::text LIKE '%databases%' AND nodename = 'one'`,
    );
    const ofOne = groups.split(' ');
    const named = await run(
      `SELECT string_agg(id, ' ' ORDER BY id) FROM cosift.names WHERE number % 4 IN (${ofOne.join(', ')})`,
    );
    const silent = named.split(' ');
    const others = ids.filter((id) => !silent.includes(id));
    const [frozen, healthy] = [silent[0], others[0]] as [string, string];
    const administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
    try {
      const tables = ofOne.map((place) => `cosift.databases_${place}`).join(', ');
      await administrator.query(`BEGIN; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`);
      const stop = new AbortController();
      const request = { form: 'integer', limit: 1 } as const;
      const left = Promise.allSettled(
        Array.from({ length: 10 }, () => store.query(frozen, request, stop.signal)),
      );
      expect((await store.listDatabases()).map(({ id }) => id)).toEqual(others);
      const problem = expect.objectContaining({ code: 'no_answer' });
      expect(await store.progress()).toEqual(
        ids.map((id) =>
          expect.objectContaining(silent.includes(id) ? { id, problem } : { id, loaded: true }),
        ),
      );
      await put(store, healthy);
      expect((await store.describeDatabase(healthy)).records).toBe(1);
      stop.abort(new Error('left'));
      await left;
    } finally {
      await administrator.end();
    }
    await expect.poll(async () => (await store.listDatabases()).map(({ id }) => id)).toEqual(ids);
    await store.close();
  });

  test('a creation needs only the worker that will have the database', async () => {
    const { url, run } = await databaseOf();
    await run(`${CITUS} ALTER DATABASE ${new URL(url).pathname.slice(1)} SET citus.shard_count = 4`);
    const store = await open(url);
    await store.createDatabase('before', SETTINGS);
    await run('CREATE TABLE before AS SELECT * FROM pg_dist_partition');
    await run("UPDATE pg_dist_node SET answers = false WHERE nodename = 'one'");
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const outcomes = await Promise.allSettled(ids.map((id) => store.createDatabase(id, SETTINGS)));
    const created = ids.filter((_, at) => outcomes[at]?.status === 'fulfilled');
    const hosts = await run(
      `SELECT DISTINCT nodename FROM cosift.names
        JOIN pg_dist_shard ON logicalrelid = ('cosift.databases_' || number % 4)::regclass
        JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid) WHERE id <> 'before'`,
    );
    expect(hosts).toBe('other');
    expect((await store.listDatabases()).map(({ id }) => id)).toEqual([...created, 'before'].sort());
    // While all workers answer, all are told of new tables; otherwise only the worker that has them.
    const known = 'SELECT string_agg(DISTINCT is_known::text, $$ $$) FROM';
    expect(await run(`${known} before`)).toBe('true');
    expect(
      await run(`${known} pg_dist_partition WHERE logicalrelid NOT IN (SELECT logicalrelid FROM before)`),
    ).toBe('false');
    const failed = outcomes.filter(({ status }) => status === 'rejected');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(ids.length);
    for (const outcome of failed) {
      expect(outcome).toMatchObject({ reason: { code: 'store_failed' } });
    }
    await run('UPDATE pg_dist_node SET answers = true');
    for (const id of ids) await store.createDatabase(id, SETTINGS);
    expect(await run(`${known} pg_dist_partition`)).toBe('false true');
    await store.close();
  });

  test('a writer that Citus keeps waiting for a move has not read the state of the database yet', async () => {
    const { url, run } = await databaseOf();
    await run(`${CITUS} ALTER DATABASE ${new URL(url).pathname.slice(1)} SET citus.shard_count = 2`);
    const store = await open(url);
    await store.createDatabase('db', SETTINGS);
    const group = `cosift.databases_${Number(await run('SELECT number % 2 FROM cosift.names'))}`;
    const mover = new pg.Client({ connectionString: url });
    await mover.connect();
    // The end of a move waits for writers, and keeps new ones waiting, but not those that lock rows.
    await mover.query(`BEGIN; LOCK TABLE ${group} IN SHARE MODE`);
    const writing = put(store, 'db');
    const waiting = `SELECT count(*) FROM pg_locks WHERE relation = '${group}'::regclass AND NOT granted`;
    await expect.poll(() => run(waiting)).toBe('1');
    await mover.query(`SELECT * FROM ${group} FOR UPDATE NOWAIT`);
    await mover.query('COMMIT');
    await mover.end();
    await writing;
    expect((await store.describeDatabase('db')).records).toBe(1);
    await store.close();
  });

  test('a store from before Citus stays where it is', async () => {
    const { url, run } = await databaseOf();
    const store = await open(url);
    await store.createDatabase('before', SETTINGS);
    await run(CITUS);
    await store.createDatabase('after', SETTINGS);
    await store.reembedder.begin('before', { embed: {}, model: 'n', fingerprint: 'n', dimensions: 3 });
    await put(store, 'after');
    expect(await callsOf(run)).toEqual(['']);
    await store.close();
  });

  test('tables that were made and never used are removed, and those that are used are not', async () => {
    const { url, run } = await databaseOf();
    const store = await open(url);
    await store.createDatabase('db', SETTINGS);
    await put(store, 'db');
    // A process that ended between the two steps of a creation, and of a re-embedding.
    await run(`CREATE TABLE cosift.records_2_1 (); CREATE TABLE cosift.passages_2_1 ();
        CREATE TABLE cosift.changes_2 (); INSERT INTO cosift.names VALUES (2, 'lost');
        CREATE TABLE cosift.records_1_2 (); CREATE TABLE cosift.passages_1_2 ()`);
    const other = await open(url);
    const tables = `SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables
        WHERE schemaname = 'cosift' AND tablename ~ '[0-9]'`;
    expect(await run(tables)).toBe('changes_1 passages_1_1 records_1_1');
    expect(await run('SELECT id FROM cosift.names')).toBe('db');
    expect((await other.describeDatabase('db')).records).toBe(1);
    for (const opened of [store, other]) await opened.close();
  });
});
