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

    /**
     * The calls of functions of Citus that the tables of a database, and of its re-embedding, cause. `before` runs
     * between the two.
     */
    const callsWith = async (
      distribution: Distribution | undefined,
      { before, wasLocal = false }: { before?: string; wasLocal?: boolean } = {},
    ) => {
      const url = await server.createDatabase();
      const name = new URL(url).pathname.slice(1);
      // The tables and functions of Citus with their columns and parameters. They take notes, and refuse what Citus does.
      await server.run(
        `CREATE TABLE calls (place serial, call text);
      CREATE TABLE pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, colocationid integer,
        repmodel "char");
      CREATE FUNCTION column_to_column_name(table_name regclass, column_var_text text)
      RETURNS text LANGUAGE sql AS 'SELECT $2';
      CREATE FUNCTION create_reference_table(table_name regclass) RETURNS void LANGUAGE sql AS $$
        INSERT INTO calls (call) SELECT concat_ws(' ', split_part($1::text, '.', -1), 'everywhere');
        INSERT INTO pg_dist_partition VALUES ($1, 'n', NULL, 9, 't')
      $$;
      CREATE FUNCTION create_distributed_table(table_name regclass, distribution_column text,
        distribution_type text DEFAULT 'hash', colocate_with text DEFAULT 'default', shard_count int DEFAULT NULL)
      RETURNS void LANGUAGE plpgsql AS $$
        DECLARE other pg_dist_partition;
        BEGIN
          IF colocate_with NOT IN ('none', 'default') THEN
            SELECT * INTO other FROM pg_dist_partition WHERE logicalrelid = colocate_with::regclass;
            IF NOT FOUND THEN RAISE 'relation % is not distributed', colocate_with; END IF;
            IF (other.partkey IS NULL) <> (distribution_column IS NULL) OR other.repmodel = 't' THEN
              RAISE 'cannot colocate tables % and %', table_name, colocate_with;
            END IF;
          END IF;
          INSERT INTO calls (call) SELECT concat_ws(' ', split_part(table_name::text, '.', -1), 'by',
            coalesce(distribution_column, 'nothing'), 'with', colocate_with);
          INSERT INTO pg_dist_partition
          VALUES (table_name, CASE WHEN distribution_column IS NULL THEN 'n' ELSE 'h' END, distribution_column, 1, 's');
        END
      $$`,
        name,
      );
      const open = async (chosen: Distribution | undefined) => {
        const store = new PostgresStore(new NodePostgres({ url }), LIMITS, { distribution: chosen });
        await store.load();
        return store;
      };
      const creating = await open(wasLocal ? undefined : distribution);
      await creating.createDatabase('db', { model: 'm', fingerprint: 'm', dimensions: 2 });
      await creating.close();
      if (before !== undefined) await server.run(before, name);
      const store = await open(distribution);
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

    test('a re-embedding stays at the coordinator with tables from before Citus', async () => {
      expect(await callsWith('id', { wasLocal: true })).toEqual(['']);
      const before = "INSERT INTO pg_dist_partition VALUES ('cosift.records_1_1', 'n', NULL, 0, 's')";
      expect(await callsWith('database', { wasLocal: true, before })).toEqual(['']);
    });

    test.each<[string, string, Distribution | undefined, string[]]>([
      [
        'by id',
        "create_distributed_table('cosift.records_1_1', 'id')",
        'database',
        ['by id with default', 'by id with cosift.records_1_1', 'by record with cosift.records_1_2'],
      ],
      [
        'on one worker',
        "create_distributed_table('cosift.records_1_1', NULL)",
        'id',
        [
          'by nothing with default',
          'by nothing with cosift.records_1_1',
          'by nothing with cosift.records_1_2',
        ],
      ],
      [
        'on every worker',
        "create_reference_table('cosift.records_1_1')",
        undefined,
        ['everywhere', 'everywhere', 'everywhere'],
      ],
    ])('a re-embedding follows tables that were placed %s by hand', async (_, call, distribution, calls) => {
      const before = `SELECT ${call}`;
      const tables = ['records_1_1', 'records_1_2', 'passages_1_2'];
      expect(await callsWith(distribution, { wasLocal: true, before })).toEqual(
        calls.map((text, at) => `${tables[at]} ${text}`),
      );
    });

    test('without a distribution, nothing of Citus is called', async () => {
      expect(await callsWith(undefined)).toEqual(['']);
    });
  },
);
