import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { ExplainedStatements } from '../helpers/postgres/explained-statements.js';
import { describeContract } from './contract.js';
import { openOver } from './reopenable.js';

/** A database of a Citus coordinator with the extensions `citus` and `vector`. Its schema `cosift` is dropped. */
const URL = process.env.COSIFT_TEST_CITUS_URL;

async function run(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: URL });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Stores that are open: tests of one block may open several. */
let opened = 0;

/** Opens stores in one schema, which is empty when no other is open. */
const open = openOver(async () => {
  if (opened === 0) await run('DROP SCHEMA IF EXISTS cosift CASCADE');
  opened += 1;
  return {
    open: (limits) => new PostgresStore(new NodePostgres({ url: URL as string, maxConnections: 8 }), limits),
    remove: async () => {
      opened -= 1;
    },
  };
});

// One skipped test stands for all.
if (URL === undefined) test.skip('Citus (COSIFT_TEST_CITUS_URL is not set)', () => undefined);

describe.runIf(URL !== undefined)('Citus', () => {
  describeContract('Citus', open);

  describe('statements', () => {
    let database: ExplainedStatements;
    let store: PostgresStore;
    beforeAll(async () => {
      await run('DROP SCHEMA IF EXISTS cosift CASCADE');
      database = new ExplainedStatements(new NodePostgres({ url: URL as string }));
      store = new PostgresStore(database, LIMITS);
      await store.load();
      await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
      await put(
        'db',
        Array.from({ length: 100 }, (_, at) => ({ data: { at }, vector: [1, at] })),
      );
    });
    afterAll(() => store?.close());

    const put = async (id: string, records: object[]) => {
      const prepared = await store.prepareBatch(id, Buffer.from(JSON.stringify({ records })));
      await store.commit(id, prepared, { vectors: new Float32Array() });
    };

    test('the worker filters and sorts, and sends no more than a page', async () => {
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
        expect(plan, text).toContain('Task Count: 1');
        expect(plan, text).not.toContain('Distributed Subplan');
        if (text.includes('ORDER BY')) expect(plan, text).toMatch(/Task[\s\S]*Limit/);
      }
    });
  });
});
