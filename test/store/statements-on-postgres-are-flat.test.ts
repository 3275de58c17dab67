import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { ChangedStatements } from '../helpers/postgres/changed-statements.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';

/** A text that would be seen in a statement if it were not bound. */
const MARK = 'marked"; DROP';

const statements: string[] = [];
let pglite: PGliteDatabase;
let store: PostgresStore;

beforeAll(async () => {
  pglite = await PGliteDatabase.open();
  const database = new ChangedStatements(pglite, () => (text) => {
    statements.push(text);
    return text;
  });
  store = new PostgresStore(database, LIMITS);
  await store.load();
  await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
  const records = Array.from({ length: 40 }, (_, at) => ({
    id: at + 1,
    data: { [MARK]: at },
    vector: [1, at % 4],
  }));
  const body = Buffer.from(JSON.stringify({ records }));
  await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
  await store.createDatabase('long', { model: 'm', fingerprint: 'm', dimensions: 2 });
  const texts = Array.from({ length: 20 }, (_, at) => ({ id: at + 1, data: { [MARK]: `text ${at}` } }));
  const prepared = await store.prepareBatch('long', Buffer.from(JSON.stringify({ records: texts })));
  // Each text has two passages, the first of which is the same for all.
  const vectors = Float32Array.from(texts.flatMap(() => [1, 0, 0, 1]));
  const splits = Uint32Array.from(texts.flatMap((_, at) => [at, 2, 2, 0, 0, 1, 0, 1, 2]));
  await store.commit('long', prepared, { vectors, splits, fingerprint: 'm' });
});

afterAll(() => pglite.destroy());

test('searches and listings are flat statements, in which every name and value is bound', async () => {
  statements.length = 0;
  const rule = (operator: string, value?: unknown) => ({
    column: MARK,
    operator,
    ...(value !== undefined && { value }),
  });
  const filter = {
    condition: 'OR',
    rules: [
      ...['equals', 'not_equals', 'contains', 'not_contains', 'starts_with', 'ends_with'].map((operator) =>
        rule(operator, MARK),
      ),
      ...['greater_than', 'less_than', 'greater_than_or_equals', 'less_than_or_equals'].map((operator) =>
        rule(operator, 5),
      ),
      ...['is_empty', 'is_not_empty'].map((operator) => rule(operator)),
    ],
  } as never;
  const common = {
    variant: 'integer',
    limit: 3,
    filter,
    total: true,
    explain: true,
    facets: [{ column: MARK }],
  } as const;
  const vector = Float64Array.of(1, 0);
  for (let cursor: string | undefined, pages = 0; pages === 0 || (cursor && pages < 4); pages += 1) {
    const { body } = await store.search(
      'db',
      { ...common, threshold: 0, embedded_by: null, ...(cursor && { cursor }) },
      vector,
    );
    cursor = JSON.parse(Buffer.from(body).toString()).pagination.next_cursor;
  }
  const long = { ...common, filter: undefined, passages: true, threshold: 0.5, embedded_by: 'm' };
  const first = await store.search('long', long, vector);
  const { next_cursor } = JSON.parse(Buffer.from(first.body).toString()).pagination;
  await store.search('long', { ...long, threshold: 0, cursor: next_cursor }, vector);
  for (const sort of [{ column: MARK }, { time: 'created_at' }] as never[]) {
    const { body } = await store.query('db', { ...common, sort });
    const cursor = JSON.parse(Buffer.from(body).toString()).pagination.next_cursor;
    await store.query('db', { ...common, sort, cursor });
  }
  const selects = statements.filter((text) => text.includes('cosift.records_'));
  expect(selects.length).toBeGreaterThan(15);
  for (const text of selects) {
    // Citus would send every record of such a statement to its coordinator.
    expect(text.match(/\bSELECT\b/g), text).toHaveLength(1);
    // Vectors of passages are where their records are.
    const joined = text.replace(/cosift\.passages_\w+ JOIN cosift\.records_\w+ ON id = record\s/, '');
    expect(joined).not.toMatch(/\b(WITH|OFFSET|OVER|DISTINCT|JOIN|UNION|LATERAL)\b/);
    expect(text).not.toContain('marked');
    expect(text).not.toContain("'w");
  }
});
