import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import type { RecordStore, StoreQueryRequest, StoreSearchRequest } from '../../src/store/record-store.js';
import { countedDatabase } from '../helpers/postgres/around-statements.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { searchStore } from '../helpers/search-store.js';

const RECORDS = 40;
const LENGTH = 300_000;
const limits = { ...LIMITS, page_bytes: 4 * LENGTH };
const lengths: number[] = [];

let directory: string;
let pglite: PGliteDatabase;
let local: LocalStore;
let postgres: PostgresStore;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-pages-'));
  pglite = await PGliteDatabase.open();
  local = LocalStore.open(directory, limits);
  postgres = new PostgresStore(countedDatabase(pglite, lengths), limits);
  const records = Array.from({ length: RECORDS }, (_, at) => ({
    id: at + 1,
    data: {
      kind: `kind ${at % 3}`,
      // Among them are records that fit a page with the records before them, and records that do not.
      text: at % 5 === 0 ? `a word ${at}` : `word ${'é'.repeat(((at % 4) * LENGTH) / 6)} ${RECORDS - at}`,
    },
    vector: [1, at],
  }));
  for (const store of [local, postgres] as RecordStore[]) {
    await store.load();
    const settings = { model: null, fingerprint: null, dimensions: 2, lexical: true };
    await store.createDatabase('db', settings);
    const body = Buffer.from(JSON.stringify({ records }));
    await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
  }
});

afterAll(async () => {
  await local.close();
  await pglite.destroy();
  await rm(directory, { recursive: true, force: true });
});

const page = { form: 'integer', limit: RECORDS } as const;
const query = (request: Partial<StoreQueryRequest>) => (store: RecordStore, cursor?: string) =>
  store.query('db', { ...page, ...request, ...(cursor && { cursor }) });
const search = (request: Partial<StoreSearchRequest>) => (store: RecordStore, cursor?: string) =>
  searchStore(
    store,
    'db',
    {
      ...page,
      threshold: 0,
      embedded_by: null,
      page_bytes: limits.page_bytes,
      ...request,
      ...(cursor && { cursor }),
    },
    Float64Array.of(1, 0),
  );

const lexical = { weight: 0.5, text: 'word' };
const CASES = {
  'a query': { read: query({}), following: 0 },
  // The cursor names the values of 32 records after the page.
  'a query in the order of long texts': {
    read: query({ sort: { column: 'text' } }),
    following: 32,
  },
  'a search': { read: search({}), following: 0 },
  'a search that explains scores of words': { read: search({ lexical, explain: true }), following: 0 },
  'some columns of records in the order of long texts': {
    read: query({ columns: ['kind'], sort: { column: 'text' }, limit: 30 }),
    following: 32,
  },
  'some columns of a search': { read: search({ columns: ['kind'] }), following: 0 },
  'some columns of a search whose rules are explained': {
    read: search({ columns: ['kind'], explain: true, limit: 4 }),
    following: 0,
  },
  'a map': { read: query({ columns: ['kind'], map: true }), following: 0 },
  'a map of a search': { read: search({ columns: ['kind'], map: true }), following: 0 },
};

test.each(Object.entries(CASES))('%s', async (name, { read, following }) => {
  const cursors = new Map<RecordStore, string>();
  let pages = 0;
  do {
    lengths.length = 0;
    const pageOf = async (store: RecordStore) => {
      const { body } = await read(store, cursors.get(store));
      const { explain, pagination, ...members } = JSON.parse(Buffer.from(body).toString());
      if (pagination?.has_more) cursors.set(store, pagination.next_cursor);
      else cursors.delete(store);
      // The stores wrote the records at different times.
      for (const record of members.results ?? members.points) delete record.timestamps;
      // A cursor of the default order has a time.
      const { next_cursor, ...rest } = pagination ?? {};
      return { ...members, ...rest, ...(following > 0 && { next_cursor }) };
    };
    expect(await pageOf(postgres)).toEqual(await pageOf(local));
    const longest = Math.max(...lengths);
    const all = lengths.reduce((sum, length) => sum + length);
    // A map reads all records, a few at a time; so do pages of some columns and searches for words.
    if (/map|some columns|words/.test(name))
      expect(longest).toBeLessThan((2 << 20) + (2 + following) * LENGTH);
    else expect(all).toBeLessThan(limits.page_bytes + (2 + following) * LENGTH);
    pages += 1;
  } while (cursors.size > 0);
  if (!/map|some columns/.test(name)) expect(pages).toBeGreaterThan(2);
});
