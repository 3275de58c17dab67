import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { type Distribution, NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { NO_SERVER, PostgresServer } from '../helpers/postgres/server.js';

describe.skipIf(NO_SERVER !== undefined)(
  `distribution of tables${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await PostgresServer.start();
    }, 120_000);
    afterAll(() => server?.stop());

    /** The calls of the function of Citus that the tables of a database, and of its re-embedding, cause. */
    const callsWith = async (distribution: Distribution | undefined) => {
      const url = await server.createDatabase();
      const name = new URL(url).pathname.slice(1);
      // The function of Citus with its parameters, which takes notes instead.
      await server.run(
        `CREATE TABLE calls (place serial, call text);
      CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
        distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL)
      RETURNS void LANGUAGE sql AS $$
        INSERT INTO calls (call) SELECT concat_ws(' ', split_part($1::text, '.', -1), 'by', coalesce($2, 'nothing'), 'with', $4)
      $$`,
        name,
      );
      const store = new PostgresStore(new NodePostgres({ url }), LIMITS, { distribution });
      await store.load();
      await store.createDatabase('db', { model: 'm', fingerprint: 'm', dimensions: 2 });
      await store.beginReembedding('db', { model: 'n', fingerprint: 'n', dimensions: 3 });
      await store.close();
      return (await server.run('SELECT call FROM calls ORDER BY place', name)).split('\n');
    };

    test('by id, records and their passages are spread together', async () => {
      expect(await callsWith('id')).toEqual([
        'records_1_1 by id with none',
        'passages_1_1 by record with cosift.records_1_1',
        'records_1_2 by id with cosift.records_1_1',
        'passages_1_2 by record with cosift.records_1_2',
      ]);
    });

    test('by database, all tables of a database are in one place', async () => {
      expect(await callsWith('database')).toEqual([
        'records_1_1 by nothing with none',
        'passages_1_1 by nothing with cosift.records_1_1',
        'changes_1 by nothing with cosift.records_1_1',
        'records_1_2 by nothing with cosift.records_1_1',
        'passages_1_2 by nothing with cosift.records_1_2',
      ]);
    });

    test('without a distribution, nothing of Citus is called', async () => {
      expect(await callsWith(undefined)).toEqual(['']);
    });
  },
);
