import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRecords, migrateDatabase } from '../../src/databases/index.js';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import type { RecordStore } from '../../src/store/record-store.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';

const SETTINGS = { model: null, fingerprint: null, dimensions: 2 };

let directory: string;
let source: LocalStore;
let pglite: PGliteDatabase;
let target: PostgresStore;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-migration-'));
  source = LocalStore.open(directory, LIMITS, { threads: 1 });
  pglite = await PGliteDatabase.open();
  target = new PostgresStore(pglite, LIMITS);
  for (const store of [source, target]) await store.load();
});
afterAll(async () => {
  await source.close();
  await pglite.destroy();
  await rm(directory, { recursive: true });
});

const put = async (store: RecordStore, id: string, ids: readonly number[], n = 0) => {
  const records = ids.map((id) => ({ id, data: { n }, vector: [1, id] }));
  const prepared = await store.prepareBatch(id, Buffer.from(JSON.stringify({ records })));
  await store.commit(id, prepared, { vectors: new Float32Array() });
};
const exported = async (store: RecordStore, id: string) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.exportLines(id, { vectors: true })) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
/** A database that was copied ahead, and then changed: a record of each kind. */
const copiedAhead = async (id: string) => {
  for (const store of [source, target]) await store.createDatabase(id, SETTINGS);
  await put(source, id, [1, 2, 3, 4, 5]);
  await copyRecords(source, target, id, {});
  await put(source, id, [2, 6], 1);
  // The content of a record stays the same, and only the time when it was last synced changes.
  await put(source, id, [3]);
  await source.deleteRecords(id, { ids: [4] });
};
/** A store whose exports are counted. */
const counted = (store: RecordStore) => {
  const calls = { exports: 0 };
  const proxy = new Proxy(store, {
    get: (_, name: keyof RecordStore) => {
      if (name === 'exportLines') calls.exports += 1;
      const value = store[name];
      return typeof value === 'function' ? value.bind(store) : value;
    },
  });
  return { calls, proxy };
};

/** The target, whose lines are read by another function. */
const supporting = (linesOf: PostgresStore['linesOf']) => ({
  store: target,
  support: { linesOf, adoptFeed: target.adoptFeed.bind(target) },
});

test('what changed after a copy is written and verified in one pass', async () => {
  await copiedAhead('ahead');
  const { calls, proxy } = counted(source);
  expect(await migrateDatabase(proxy, { store: target, support: target }, 'ahead', {})).toMatchObject({
    records: 5,
    hasFeed: true,
  });
  expect(calls.exports).toBe(1);
  expect(await exported(target, 'ahead')).toBe(await exported(source, 'ahead'));
});

test.each([
  ['stored otherwise', (text: string) => text.replace('"n":1', '"n":2')],
  ['lost', (text: string) => text.replace(/^.*"n":1.*\n/m, '')],
])('a written record that is %s is found by another pass', async (name, change) => {
  await copiedAhead(name.replace(' ', '-'));
  const linesOf = async (id: string, ids: readonly number[]) =>
    Buffer.from(change(Buffer.from(await target.linesOf(id, ids)).toString()));
  const from = counted(source);
  await migrateDatabase(from.proxy, supporting(linesOf), name.replace(' ', '-'), {});
  expect(from.calls.exports).toBe(2);
});

test('a source that is written during the pass is read again', async () => {
  await copiedAhead('written');
  let isWritten = false;
  const linesOf = async (id: string, ids: readonly number[]) => {
    const { last_write_at } = (await source.describeDatabase(id)).times;
    for (
      ;
      !isWritten;
      isWritten = (await source.describeDatabase(id)).times.last_write_at !== last_write_at
    ) {
      await put(source, id, [9], Math.random());
    }
    return await target.linesOf(id, ids);
  };
  const from = counted(source);
  await migrateDatabase(from.proxy, supporting(linesOf), 'written', {});
  expect(from.calls.exports).toBe(2);
  expect(await exported(target, 'written')).toBe(await exported(source, 'written'));
});
