import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { ExplainedStatements } from '../helpers/postgres/explained-statements.js';
import { describeContract } from './contract.js';
import { openOver } from './reopenable.js';
import { SHORT_ON_SERVERS } from './rounds.js';

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
}, SHORT_ON_SERVERS);

// One skipped test stands for all.
if (URL === undefined) test.skip('Citus (COSIFT_TEST_CITUS_URL is not set)', () => undefined);

describe.runIf(URL !== undefined)('Citus', () => {
  describeContract('Citus', open);

  describe('statements', () => {
    let explained: ExplainedStatements;
    let store: PostgresStore;
    beforeAll(async () => {
      await run('DROP SCHEMA IF EXISTS cosift CASCADE');
      explained = new ExplainedStatements(new NodePostgres({ url: URL as string }));
      store = new PostgresStore(explained.database, LIMITS);
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
      const common = { form: 'integer', limit: 10, filter, facets, total: true } as const;
      const statements = await explained.of(async () => {
        const search = { ...common, threshold: 0.01, embedded_by: null };
        const request = { ...search, page_bytes: 1_000_000 };
        await store.searches('db', [{ request, vector: Float64Array.of(1, 0) }]);
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

    test('no write commits in two phases', async () => {
      const { administrator, phases } = await counter();
      try {
        await administrator.query('ALTER SYSTEM SET citus.recover_2pc_interval TO -1');
        await administrator.query('SELECT pg_reload_conf()');
        await store.createDatabase('long', { model: 'm', fingerprint: 'm', dimensions: 2 });
        // The creation makes tables, which is done in two phases.
        expect(await phases()).toBeGreaterThan(0);
        await store.reembedder.begin('long', { embed: {}, model: 'n', fingerprint: 'n', dimensions: 2 });
        await phases();
        await put('db', [{ id: 1, data: { at: -1, more: true }, vector: [1, 0] }]);
        await put('db', [{ id: 1, data: { at: -1, more: true }, vector: [1, 0] }]);
        const patched = await store.preparePatch('db', '2', 'both', Buffer.from('{"data":{"at":7}}'));
        await store.commit('db', patched, { vectors: new Float32Array() });
        await store.deleteRecords('db', { ids: [3] });
        const filter = { rules: [{ column: 'at', operator: 'greater_than', value: 90 }] } as never;
        expect(await store.deleteRecords('db', { filter })).toBeGreaterThan(0);
        await put('db', [{ id: 150, data: { text: 'long '.repeat(4_000) }, vector: [1, 0] }]);
        await put('db', [{ id: 150, data: { text: 'short' }, vector: [1, 0] }]);
        const text = Buffer.from(
          '{"records":[{"id":1,"data":{"text":"long"}},{"id":2,"data":{"text":"b"}}]}',
        );
        const passages = {
          vectors: Float32Array.of(1, 0, 0, 1, 1, 0),
          splits: Uint32Array.of(0, 2, 2, 0, 0, 1, 0, 1, 2),
        };
        const prepared = await store.prepareBatch('long', text);
        await store.commit('long', prepared, { ...passages, fingerprint: 'm' });
        const batch = await store.reembedder.prepare('long');
        await store.reembedder.commit('long', batch, { ...passages, fingerprint: 'n' });
        await (await store.reembedder.holdWriters('long'))();
        const times = { created_at: '2026-01-01T00:00:00Z', last_write_at: '2026-01-01T00:00:00Z' };
        const change = {
          position: 1,
          kind: 'created',
          id: 1,
          uuid: crypto.randomUUID(),
          at: times.created_at,
        };
        const feed = { position: 1, epoch: 'a'.repeat(32), changes: [change as never], times, nextId: 200 };
        await store.adoptFeed('db', feed);
        expect(await phases()).toBe(0);
        // These remove tables afterwards.
        await store.reembedder.switch('long');
        expect((await store.describeDatabase('long')).model).toBe('n');
      } finally {
        await administrator.query('ALTER SYSTEM RESET citus.recover_2pc_interval');
        await administrator.query('SELECT pg_reload_conf()');
        await administrator.end();
      }
    });
  });
});

/** Counts the transactions with two phases since the last call. */
async function counter() {
  const administrator = new pg.Client({ connectionString: URL });
  await administrator.connect();
  const phases = async () => {
    const { rows } = await administrator.query('SELECT count(*)::integer AS count FROM pg_dist_transaction');
    await administrator.query('SELECT recover_prepared_transactions()');
    return rows[0].count;
  };
  return { administrator, phases };
}
