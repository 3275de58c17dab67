import { expect, test } from 'vitest';
import { type Filter, LIMITS } from '../../src/schema/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { countedDatabase } from '../helpers/postgres/around-statements.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { searchStore } from '../helpers/search-store.js';

const RECORDS = 16;
const LENGTH = 600_000;

test('searches for words, exports, changes and deletions read long records a few at a time', async () => {
  const pglite = await PGliteDatabase.open();
  const lengths: number[] = [];
  const database = countedDatabase(pglite, lengths);
  try {
    const store = new PostgresStore(database, LIMITS);
    await store.load();
    const settings = { model: null, fingerprint: null, dimensions: 2, lexical: true };
    await store.createDatabase('db', settings);
    const records = Array.from({ length: RECORDS }, (_, at) => ({
      id: at + 1,
      data: { text: at % 2 === 0 ? `word ${'x'.repeat(LENGTH)}` : 'a word' },
      vector: [1, at],
    }));
    const body = Buffer.from(JSON.stringify({ records }));
    await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
    lengths.length = 0;
    const lexical = { weight: 1, text: 'word' };
    const request = {
      form: 'integer',
      limit: 1,
      threshold: 0,
      total: true,
      embedded_by: null,
      lexical,
    } as const;
    const { body: page } = await searchStore(store, 'db', request, Float64Array.of(1, 0));
    expect(JSON.parse(Buffer.from(page).toString()).total.value).toBe(RECORDS);
    let lines = 0;
    for await (const chunk of store.exportLines('db', { vectors: true })) {
      lines += Buffer.from(chunk).toString().trimEnd().split('\n').length;
    }
    expect(lines).toBe(RECORDS);
    const forced_filter: Filter = { rules: [{ column: 'text', operator: 'contains', value: 'word' }] };
    const patch = Buffer.from(
      JSON.stringify({ records: records.map((record) => ({ ...record, data: { text: 'none' } })) }),
    );
    const changes = async () => {
      const read = await store.changes('db', { after: 0, limit: 100, forced_filter });
      return JSON.parse(Buffer.from(read).toString()).changes.length;
    };
    expect(await changes()).toBe(RECORDS);
    const longest = Math.max(...lengths);
    await store.commit('db', await store.prepareBatch('db', patch), { vectors: new Float32Array() });
    lengths.length = 0;
    // The records were visible before.
    expect(await changes()).toBe(RECORDS);
    await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
    const shorter = Math.max(longest, ...lengths);
    lengths.length = 0;
    expect(await store.deleteRecords('db', { filter: forced_filter })).toBe(RECORDS);
    expect(Math.max(shorter, ...lengths)).toBeLessThan(4 * LENGTH);
  } finally {
    await pglite.destroy();
  }
});

test('a re-embedding reads long records a few at a time', async () => {
  const pglite = await PGliteDatabase.open();
  const lengths: number[] = [];
  try {
    const store = new PostgresStore(countedDatabase(pglite, lengths), LIMITS);
    await store.load();
    await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    const records = Array.from({ length: RECORDS }, () => ({
      data: { text: 'x'.repeat(LENGTH) },
      vector: [1, 0],
    }));
    const body = Buffer.from(JSON.stringify({ records }));
    await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
    const settings = { embed: {}, model: 'model', fingerprint: 'fingerprint', dimensions: 1 };
    await store.reembedder.begin('db', settings);
    lengths.length = 0;
    const read: number[] = [];
    for (let isLast = false; !isLast; ) {
      const batch = await store.reembedder.prepare('db');
      const texts = batch.texts();
      read.push(texts.length);
      const vectors = new Float32Array(texts.length).fill(1);
      await store.reembedder.commit('db', batch, {
        vectors,
        splits: new Uint32Array(),
        fingerprint: 'fingerprint',
      });
      isLast = batch.isLast;
    }
    expect(read).toEqual([14, 2]);
    expect(Math.max(...lengths)).toBeLessThan((8 << 20) + 3 * LENGTH);
  } finally {
    await pglite.destroy();
  }
});
