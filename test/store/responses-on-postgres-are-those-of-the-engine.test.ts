import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Filter, LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';
import { unwrap } from '../../src/store/local/unwrap.js';
import { Catalog } from '../../src/store/postgres/catalog.js';
import { countMatches } from '../../src/store/postgres/counts.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { Servers } from '../../src/store/postgres/servers.js';
import type { Sql } from '../../src/store/postgres/sql.js';
import { recordsOf } from '../../src/store/postgres/tables.js';
import type { RecordStore, StoreQueryRequest } from '../../src/store/record-store.js';
import { uuidOf } from '../conformance/random-records.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { Random } from '../helpers/random.js';

const RECORDS = 300;
const random = new Random(17);

/** Parts of texts that PostgreSQL cannot store, and those that stand for them. */
const PARTS = [
  '\0',
  '\u0001',
  '\u0002',
  '\u0003',
  '\u0004',
  'a',
  'b',
  '\\u0000',
  '\\',
  '"',
  '%',
  '_',
  'é',
  '\ud834\udd1e',
  '\uffff',
];
const text = (parts: number) =>
  Array.from({ length: random.below(parts + 1) }, () => random.pick(PARTS)).join('');
const value = () =>
  random.pick([
    () => text(4),
    () => text(4),
    () => text(1),
    () => random.below(5) / 4,
    () => random.chance(50),
    () => null,
  ])();

const records = Array.from({ length: RECORDS }, (_, at) => ({
  ...(at % 4 === 0 ? { key: `key ${at} ${text(3)}` } : { uuid: uuidOf(at + 1) }),
  id: at + 1,
  data: {
    a: value(),
    ...(random.chance(70) && { b: value() }),
    long: at % 9 === 0 ? 'x'.repeat(2_000) + text(2) : 'y',
  },
  timestamps: {
    created_at: '2026-01-01',
    changed_at: '2026-01-02',
    synced_at: new Date(Date.UTC(2026, 0, 3, at % 50)).toISOString(),
  },
  vector: [1, at % 11, 0.5],
}));

describe('responses about hostile texts (seed 17)', () => {
  let directory: string;
  let local: LocalStore;
  let pglite: PGliteDatabase;
  let postgres: PostgresStore;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'cosift-responses-'));
    local = LocalStore.open(directory, LIMITS, { threads: 1 });
    pglite = await PGliteDatabase.open();
    postgres = new PostgresStore(pglite, LIMITS);
    for (const store of [local, postgres]) {
      await store.load();
      await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 3 });
    }
  });

  afterAll(async () => {
    await local.close();
    await pglite.destroy();
    await rm(directory, { recursive: true });
  });

  const both = async (ask: (store: RecordStore) => Promise<Uint8Array>) => {
    const [expected, found] = [await ask(local), await ask(postgres)].map((body) =>
      Buffer.from(body).toString('utf8'),
    );
    expect(found).toBe(expected);
    return JSON.parse(found!);
  };
  const query = async (request: Partial<StoreQueryRequest>) => {
    for (let cursor: string | undefined; ; ) {
      const asked = { form: 'integer' as const, limit: 23, ...request, ...(cursor && { cursor }) };
      const page = await both(async (store) => (await store.query('db', asked)).body);
      cursor = page.pagination.next_cursor;
      if (cursor === undefined) return;
    }
  };

  test('an upsert, again and changed', async () => {
    const upsert = (batch: object[]) =>
      both(async (store) => {
        const prepared = await store.prepareBatch('db', Buffer.from(JSON.stringify({ records: batch })));
        return (await store.commit('db', prepared, { vectors: new Float32Array() })).results;
      });
    await upsert(records);
    await upsert(records);
    await upsert(records.slice(200).map((record) => ({ ...record, data: { ...record.data, c: true } })));
  });

  test('errors with their fields', async () => {
    const calls: ((store: RecordStore) => Promise<unknown>)[] = [
      (store) => store.describeDatabase('none'),
      (store) => store.reembedder.cancel('db'),
      (store) => store.record('db', '999999', { form: 'integer' }),
    ];
    for (const call of calls) {
      const of = (store: RecordStore) =>
        call(store).then(
          () => 'no error',
          ({ code, detail, fields, problems }) => ({ code, detail, fields, problems }),
        );
      expect(await of(postgres)).toEqual(await of(local));
      expect(await of(postgres)).toMatchObject({ code: expect.any(String) });
    }
  });

  test('listings in every order, page by page', async () => {
    await query({});
    for (const direction of ['asc', 'desc'] as const) {
      for (const column of ['a', 'b', 'long', 'none']) await query({ sort: { column, direction } });
      await query({ sort: { time: 'synced_at', direction } as never, form: 'uuid' });
    }
  });

  test('every operator with hostile values', async () => {
    for (let round = 0; round < 40; round++) {
      const needle = text(2);
      const rule = (operator: string) =>
        ({ column: random.pick(['a', 'b', 'long']), operator, value: needle }) as Filter;
      for (const operator of [
        'equals',
        'not_equals',
        'contains',
        'not_contains',
        'starts_with',
        'ends_with',
      ]) {
        await query({ filter: { rules: [rule(operator)] }, limit: 400 });
      }
    }
    for (const operator of ['is_empty', 'is_not_empty']) {
      await query({ filter: { rules: [{ column: 'a', operator } as Filter] }, total: true });
    }
  });

  test('facets of hostile texts', async () => {
    await query({
      total: true,
      facets: [
        { column: 'a', limit: 50 },
        { column: 'b', type: 'histogram', interval: 0.5 },
        { time: 'synced', interval: 'day' },
      ] as never,
      limit: 5_000,
    });
  });

  test('single records, by each identity', async () => {
    for (const record of records.slice(0, 40)) {
      const { id } = record;
      await both((store) => store.record('db', String(id), { form: 'integer' }));
      if (!('key' in record)) continue;
      await both((store) => store.record('db', `key:${record.key}`, { form: 'uuid' }));
    }
  });

  test('an export with vectors', async () => {
    const lines = async (store: RecordStore) => {
      let all = '';
      for await (const chunk of store.exportLines('db', { vectors: true }))
        all += Buffer.from(chunk).toString('utf8');
      return all;
    };
    expect(await lines(postgres)).toBe(await lines(local));
  });

  test('the change feed, also after a deletion by a filter', async () => {
    const filter = { rules: [{ column: 'a', operator: 'contains', value: '\0' } as Filter] };
    expect(await postgres.deleteRecords('db', { filter } as never)).toBe(
      await local.deleteRecords('db', { filter } as never),
    );
    const [expected, found] = await Promise.all(
      [local, postgres].map(async (store) => {
        const body = await store.changes('db', { after: 0, limit: 1_000 });
        const { changes, position, has_more } = JSON.parse(Buffer.from(body).toString('utf8'));
        // A deletion has the time at which each of the stores made it.
        return {
          changes: changes.map((change: { kind: string; at: string }) => ({
            ...change,
            at: change.kind === 'deleted' || change.at,
          })),
          position,
          has_more,
        };
      }),
    );
    expect(found).toEqual(expected);
    const descriptions = await Promise.all([local, postgres].map((store) => store.describeDatabase('db')));
    const [one, other] = descriptions.map(({ records, columns }) => ({
      records,
      columns: columns.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    }));
    expect(other).toEqual(one);
  });

  test('a description has the same members in the same order', async () => {
    const settings = { fingerprint: null, model: null, dimensions: 3, lexical: true, defaults: { limit: 5 } };
    const described = [];
    for (const store of [local, postgres]) {
      await store.createDatabase('described', settings);
      const { times, sizes, ...members } = await store.describeDatabase('described');
      described.push(
        JSON.stringify({ ...members, order: Object.keys(await store.describeDatabase('described')) }),
      );
      described.push(Object.keys(sizes), Object.keys(times));
    }
    expect(described.slice(3)).toEqual(described.slice(0, 3));
  });

  test('facets are the same when the matches have too many different values to be grouped', async () => {
    const facets: NonNullable<StoreQueryRequest['facets']> = [
      { column: 'a' },
      { column: 'b', limit: 50 },
      { time: 'synced', interval: 'hour' },
    ];
    const request = { form: 'integer', limit: 1, facets, total: true } as const;
    const { body } = await local.query('db', request);
    const expected = JSON.parse(Buffer.from(body).toString());
    const catalog = new Catalog(LIMITS, new Servers(pglite, undefined));
    for (const maxGroups of [1_000, 20]) {
      const statements: string[] = [];
      const counted = await pglite.read(async (sql) => {
        const entry = await catalog.find(sql, 'db');
        const counter = unwrap(catalog.rulesOf(entry).query(JSON.stringify(request))).facets();
        const run: Sql['run'] = (text, values) => {
          statements.push(text);
          return sql.run(text, values);
        };
        const matches = {
          sql: { run },
          table: recordsOf(entry),
          where: () => [],
          facets: { facets, counter },
        };
        const total = await countMatches(matches, maxGroups);
        return { total, facets: JSON.parse(Buffer.from(unwrap(counter.finish())).toString()) };
      });
      expect(statements.some((text) => text.startsWith('FETCH'))).toBe(maxGroups === 20);
      expect(counted).toEqual({ total: expected.total.value, facets: expected.facets });
    }
  });
});
