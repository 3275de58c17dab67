import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { Models } from '../../src/databases/models.js';
import { DatabaseService } from '../../src/databases/service.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { TestDatabase } from '../conformance/test-database.js';
import { testInFull } from '../helpers/full.js';
import { changedStatements } from '../helpers/postgres/around-statements.js';

describe.skipIf(NO_SERVER !== undefined)(`a replica${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let primary: PostgresServer;
  let replica: PostgresServer;
  let name: string;
  let databases: DatabaseService;
  let database: TestDatabase;
  /** The statements about records that each server got. */
  const statements: Record<'primary' | 'replica', string[]> = { primary: [], replica: [] };

  const recorded = (server: 'primary' | 'replica', url: string) =>
    changedStatements(
      new NodePostgres({ url, maxConnections: 4, isReplica: server === 'replica' }),
      () => (text) => {
        if (text.startsWith('SELECT') && text.includes('cosift.records_')) statements[server].push(text);
        return text;
      },
    );

  /** Whether each server read records while `read` ran. */
  const serversOf = async (read: () => Promise<unknown>) => {
    statements.primary.length = 0;
    statements.replica.length = 0;
    await read();
    return Object.entries(statements).flatMap(([server, texts]) => (texts.length > 0 ? server : []));
  };

  const replayed = async () => {
    const position = await primary.run('SELECT pg_current_wal_lsn()');
    const text = `SELECT pg_last_wal_replay_lsn() >= '${position}'`;
    await expect.poll(() => replica.run(text)).toBe('t');
  };

  const search = { search: { vector: [1, 0], threshold: 0 } };
  const ids = async () => (await database.search(search)).results.map(({ id }) => id);

  beforeAll(async () => {
    primary = await PostgresServer.start();
    const url = await primary.createDatabase();
    name = new URL(url).pathname.slice(1);
    replica = await primary.startReplica();
    const store = new PostgresStore(recorded('primary', url), LIMITS, {
      replica: recorded('replica', replica.urlOf(name)),
    });
    databases = new DatabaseService(store, new Models({}, 1), { limits: LIMITS, resume: true });
    await databases.ready;
    await databases.catalog.create('db', { dimensions: 2 });
    const noReopen = async () => undefined;
    database = new TestDatabase({ databases, reopen: noReopen, close: noReopen }, 'db');
  });

  afterAll(async () => {
    await databases?.close();
    await replica?.stop();
    await primary?.stop();
  });

  test('searches and queries read it once it has replayed the commits of the database', async () => {
    await database.put({ id: 1, data: { a: 1 }, vector: [1, 0] });
    await replayed();
    expect(await serversOf(async () => expect(await ids()).toEqual([1]))).toEqual(['replica']);
    const query = async () => expect((await database.query({})).results).toHaveLength(1);
    expect(await serversOf(query)).toEqual(['replica']);
    expect(await serversOf(() => database.record(1))).toEqual(['primary']);
    // A commit to another database does not matter.
    await replica.run('SELECT pg_wal_replay_pause()');
    await databases.catalog.create('other', { dimensions: 2 });
    expect(await serversOf(ids)).toEqual(['replica']);
    await replica.run('SELECT pg_wal_replay_resume()');
  });

  test('a search finds what was acknowledged before it, also while the replica is behind', async () => {
    await replayed();
    await replica.run('SELECT pg_wal_replay_pause()');
    await expect.poll(() => replica.run('SELECT pg_get_wal_replay_pause_state()')).toBe('paused');
    await database.put({ id: 2, data: { a: 2 }, vector: [0, 1] });
    expect(await serversOf(async () => expect(await ids()).toEqual([1, 2]))).toEqual(['primary']);
    await database.delete({ ids: [1] });
    expect(await serversOf(async () => expect(await ids()).toEqual([2]))).toEqual(['primary']);
    await replica.run('SELECT pg_wal_replay_resume()');
    await replayed();
    expect(await serversOf(async () => expect(await ids()).toEqual([2]))).toEqual(['replica']);
  });

  test('errors of a request are those of the request', async () => {
    await replayed();
    await expect(database.search({ search: { vector: [1, 0, 0] } })).rejects.toMatchObject({
      code: 'invalid_dimensions',
    });
    expect(await serversOf(ids)).toEqual(['replica']);
  });

  testInFull('the primary answers while the replica is down', async () => {
    await replica.kill();
    expect(await serversOf(async () => expect(await ids()).toEqual([2]))).toEqual(['primary']);
    await replica.restart();
    await expect.poll(() => serversOf(ids), { interval: 500 }).toEqual(['replica']);
  });
});
