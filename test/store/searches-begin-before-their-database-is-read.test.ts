import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import type { Sql, SqlDatabase } from '../../src/store/postgres/sql.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { searchStore } from '../helpers/search-store.js';

/** A database whose reads get the row of the catalog only after they have sent another statement. */
class LateCatalog implements SqlDatabase {
  readonly isConcurrent = false;
  /** Reads that waited for the row. */
  late = 0;
  readonly #database: SqlDatabase;
  isLate = false;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#database.read((sql) => {
      if (!this.isLate) return work(sql);
      let onOther: () => void = () => undefined;
      const other = new Promise<void>((resolve) => {
        onOther = resolve;
      });
      return work({
        run: async <Row>(text: string, values: never[] = []) => {
          const rows = sql.run<Row>(text, values);
          if (text.includes('cosift.databases')) {
            this.late += 1;
            await other;
          } else onOther();
          return await rows;
        },
      });
    }, signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#database.write(work, signal);
  }

  listen(): void {}

  close(): Promise<void> {
    return this.#database.close();
  }
}

let pglite: PGliteDatabase;
let late: LateCatalog;
/** One front reads, the other writes. */
let reader: PostgresStore;
let writer: PostgresStore;

beforeAll(async () => {
  pglite = await PGliteDatabase.open();
  late = new LateCatalog(pglite);
  reader = new PostgresStore(late, LIMITS);
  writer = new PostgresStore(pglite.again(), LIMITS);
  await writer.load();
});

afterAll(() => pglite.destroy());

const found = async (id: string) => {
  const request = { form: 'integer', limit: 10, threshold: 0, embedded_by: 'm' } as const;
  const { body } = await searchStore(reader, id, request, Float64Array.of(0, 1));
  return JSON.parse(Buffer.from(body).toString()).results.map((result: { id: number }) => result.id);
};

const put = async (id: string, splits?: readonly number[]) => {
  const records = [{ id: splits ? 2 : 1, data: { text: 'a' } }];
  const prepared = await writer.prepareBatch(id, Buffer.from(JSON.stringify({ records })));
  const vectors = Float32Array.from(splits ? [1, 0, 0, 1] : [1, 0]);
  await writer.commit(id, prepared, {
    ...{ vectors, fingerprint: 'm' },
    ...(splits && { splits: Uint32Array.from(splits) }),
  });
};

test('a search does not wait for the row of its database', async () => {
  await writer.createDatabase('known', { model: 'm', fingerprint: 'm', dimensions: 2 });
  await put('known');
  expect(await found('known')).toEqual([1]);
  late.isLate = true;
  expect(await found('known')).toEqual([1]);
  late.isLate = false;
  expect(late.late).toBe(1);
});

test('a search finds what another front wrote of a new kind: the first record with passages', async () => {
  await writer.createDatabase('long', { model: 'm', fingerprint: 'm', dimensions: 2 });
  await put('long');
  expect(await found('long')).toEqual([1]);
  await put('long', [0, 2, 2, 0, 0, 1, 0, 1, 2]);
  expect(await found('long')).toEqual([2, 1]);
});

test('a search finds the records of the table that another front switched to', async () => {
  await writer.createDatabase('switched', { model: 'm', fingerprint: 'm', dimensions: 2 });
  await put('switched');
  expect(await found('switched')).toEqual([1]);
  await writer.reembedder.begin('switched', { embed: {}, model: 'o', fingerprint: 'm', dimensions: 2 });
  const batch = await writer.reembedder.prepare('switched');
  const embedded = { vectors: Float32Array.of(0, 1), fingerprint: 'm' };
  await writer.reembedder.commit('switched', batch, embedded);
  await (await writer.reembedder.holdWriters('switched'))();
  await writer.reembedder.switch('switched');
  await put('switched', [0, 2, 2, 0, 0, 1, 0, 1, 2]);
  expect(await found('switched')).toEqual([1, 2]);
});
