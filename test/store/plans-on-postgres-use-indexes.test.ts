import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { type ExplainedStatement, ExplainedStatements } from '../helpers/postgres/explained-statements.js';
import { searchStore } from '../helpers/search-store.js';

const RECORDS = 12_000;
const vector = Float64Array.of(1, 0);
const search = { form: 'integer', limit: 10, threshold: 0.2, embedded_by: null } as const;

describe.skipIf(NO_SERVER !== undefined)(`plans of statements${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  let url: string;
  let explained: ExplainedStatements;
  let store: PostgresStore;

  const write = async (first: number, count: number, data: object = {}) => {
    const records = Array.from({ length: count }, (_, at) => ({
      id: first + at,
      data: { number: first + at, ...data },
      // Many records have the same time.
      timestamps: { synced_at: '2026-01-02T03:04:05.678Z' },
      // Every hundredth record has the same vector.
      vector: [1, at % 100 === 0 ? 0.5 : (first + at) / 100],
    }));
    const prepared = await store.prepareBatch('db', Buffer.from(JSON.stringify({ records })));
    await store.commit('db', prepared, { vectors: new Float32Array() });
  };
  const nextCursor = (body: Uint8Array) => JSON.parse(Buffer.from(body).toString()).pagination.next_cursor;

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase();
    explained = new ExplainedStatements(new NodePostgres({ url }));
    store = new PostgresStore(explained.database, LIMITS);
    await store.load();
    await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    for (let first = 1; first <= RECORDS; first += 1_000) await write(first, 1_000);
    await server.run('VACUUM ANALYZE', new URL(url).pathname.slice(1));
  });

  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  /** Expects plans that read few records by an index. */
  const expectIndex = (statements: ExplainedStatement[]) => {
    expect(statements.length).toBeGreaterThan(0);
    for (const { text, plan } of statements) {
      // There are few databases here.
      const ofRecords = plan.replace('Seq Scan on databases', '');
      expect(ofRecords, text).not.toMatch(/Seq Scan|SubPlan|InitPlan/);
    }
  };
  /** Expects plans that read records in the order of an index. */
  const expectOrder = (statements: ExplainedStatement[]) => {
    expectIndex(statements);
    for (const { text, plan } of statements) expect(plan, text).not.toMatch(/->\s+Sort$/m);
  };

  test('records, listings, exports and the feed are read by an index', async () => {
    expectIndex(await explained.of(() => store.record('db', '17', { form: 'integer' })));
    for (const form of ['integer', 'uuid'] as const) {
      let cursor: string | undefined;
      expectOrder(
        await explained.of(async () => {
          cursor = nextCursor((await store.query('db', { form, limit: 10 })).body);
        }),
      );
      const next = await explained.of(() => store.query('db', { form, limit: 10, cursor }));
      expectOrder(next);
      // An index finds where the page begins, so that no record before it is read.
      const position = form === 'uuid' ? /Index Cond: .*\(uuid > / : /Index Cond: .*\(id > /;
      expect(next[0]?.plan, next[0]?.text).toMatch(position);
    }
    expectOrder(await explained.of(() => store.changes('db', { after: 5_000, limit: 100 })));
    const first = async () => {
      for await (const _ of store.exportLines('db', { vectors: false })) return;
    };
    expectOrder(await explained.of(first));
  });

  test('a filter uses the indexes that the operator made on its columns', async () => {
    await server.run(
      `CREATE INDEX by_value ON cosift.records_1_1 USING hash ((cells->'number'));
      CREATE INDEX by_number ON cosift.records_1_1 ((cells->'number')) WHERE jsonb_typeof(cells->'number') = 'number';
      ANALYZE cosift.records_1_1`,
      new URL(url).pathname.slice(1),
    );
    const rule = (operator: string, value: unknown) => ({ column: 'number', operator, value });
    const filters = {
      by_value: { rules: [rule('equals', 77), { rules: [rule('not_equals', 5)] }] },
      by_number: {
        condition: 'AND',
        rules: [rule('greater_than', 70), { rules: [rule('less_than_or_equals', 80)] }],
      },
    };
    for (const [index, filter] of Object.entries(filters)) {
      const ask = { ...search, threshold: 0, filter } as never;
      const [scan] = await explained.of(() => searchStore(store, 'db', ask, vector));
      expect(scan?.plan, scan?.text).toContain(index);
      expect(scan?.plan, scan?.text).not.toContain('Seq Scan');
    }
  });

  test('a commit and a deletion find the stored records by an index', async () => {
    expectIndex(await explained.of(() => write(5_000, 3, { changed: true })));
    expectIndex(await explained.of(() => store.deleteRecords('db', { ids: [11, 12] })));
  });

  test('a search reads the records once, and sorts only those of the page', async () => {
    const [scan, ...others] = await explained.of(() => searchStore(store, 'db', search, vector));
    expect(scan?.plan).toMatch(/^Limit\n.*(Sort|Gather Merge)/);
    expect(scan?.plan.match(/Seq Scan/g)).toHaveLength(1);
    expect(scan?.plan).not.toMatch(/SubPlan|InitPlan|Join/);
    // The rows of the page, and the records with a vector that many have.
    expectIndex(others);
  });

  test('totals and facets of a search read the records once more', async () => {
    const facets = [{ column: 'number', type: 'histogram', interval: 100 }, { column: 'none' }] as const;
    const statements = await explained.of(() =>
      searchStore(store, 'db', { ...search, facets, total: true }, vector),
    );
    const scans = statements.filter(({ plan }) => plan.includes('Seq Scan'));
    expect(scans.map(({ text }) => text.includes('count(*)'))).toEqual([false, true]);
    for (const { plan } of scans) expect(plan).not.toMatch(/SubPlan|InitPlan|Join/);
  });
});
