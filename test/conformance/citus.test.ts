import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { type Distribution, NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { ExplainedStatements } from '../helpers/postgres/explained-statements.js';
import { describeContract } from './contract.js';
import { openOver } from './reopenable.js';

/** A database of a Citus coordinator with the extensions `citus` and `vector`. Its schema `cosift` is dropped. */
const URL = process.env.COSIFT_TEST_CITUS_URL;

async function dropSchema(): Promise<void> {
  const client = new pg.Client({ connectionString: URL });
  await client.connect();
  await client.query('DROP SCHEMA IF EXISTS cosift CASCADE');
  await client.end();
}

/** Opens a store in an empty schema. Stores are opened one after the other. */
const openWith = (distribution: Distribution) =>
  openOver(async () => {
    await dropSchema();
    const openDatabase = () => new NodePostgres({ url: URL as string, maxConnections: 8 });
    return { open: (limits) => new PostgresStore(openDatabase(), limits, { distribution }) };
  });

// One skipped test stands for all.
if (URL === undefined) test.skip('Citus (COSIFT_TEST_CITUS_URL is not set)', () => undefined);

describe.runIf(URL !== undefined)('Citus', () => {
  if (URL === undefined) return;
  for (const distribution of ['database', 'id'] as const) {
    describeContract(`Citus by ${distribution}`, openWith(distribution));

    test(`by ${distribution}, the shards filter and sort, and send no more than a page`, async () => {
      await dropSchema();
      const database = new ExplainedStatements(new NodePostgres({ url: URL as string }));
      const store = new PostgresStore(database, LIMITS, { distribution });
      try {
        await store.load();
        await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
        const records = Array.from({ length: 100 }, (_, at) => ({ data: { at }, vector: [1, at] }));
        const prepared = await store.prepareBatch('db', Buffer.from(JSON.stringify({ records })));
        await store.commit('db', prepared, { vectors: new Float32Array() });
        const filter = { rules: [{ column: 'at', operator: 'greater_than', value: 5 }] } as never;
        const facets = [{ column: 'at' }] as const;
        const common = { variant: 'integer', limit: 10, filter, facets, total: true } as const;
        const statements = await database.of(async () => {
          const search = { ...common, threshold: 0.01, embedded_by: null };
          await store.search('db', search, Float64Array.of(1, 0));
          await store.query('db', common);
        });
        expect(statements.length).toBeGreaterThan(3);
        for (const { text, plan } of statements) {
          expect(plan, text).toContain('Custom Scan (Citus Adaptive)');
          expect(plan, text).not.toContain('Distributed Subplan');
          // The plan of a shard: its limit is below that of the coordinator.
          if (text.includes('ORDER BY')) expect(plan, text).toMatch(/Task[\s\S]*Limit/);
        }
      } finally {
        await store.close();
      }
    });
  }
});
