import { beforeEach, describe, expect, test } from 'vitest';
import type { Database, NewRecord } from '../../src/api/index.js';
import { bothSides } from './both-sides.js';

const sides = bothSides();

const own = (id: number): NewRecord => ({ id, data: { rank: id }, vector: [1, 0] });
const many = (count: number) => Array.from({ length: count }, (_, i) => own(i + 1));
const ids = (records: { id: number }[]) => records.map(({ id }) => id).sort((a, b) => a - b);

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe.each(['library', 'client'])('%s', (side) => {
  let database: Database;
  let number = 0;
  beforeEach(async () => {
    number += 1;
    database = await sides.get(side)!.createDatabase(`arguments-${number}`, { dimensions: 2 });
  });
  const stored = async () => ids(await all(database.queryAll()));

  test('an array that is emptied and filled again is stored each time', async () => {
    const batch = [];
    const calls = [];
    for (const record of many(25)) {
      batch.push(record);
      if (batch.length < 10) continue;
      calls.push(database.upsert(batch));
      batch.length = 0;
    }
    calls.push(database.upsert(batch));
    const results = await Promise.all(calls);
    expect(results.map(({ created }) => created)).toEqual([10, 10, 5]);
    expect(await stored()).toEqual(ids(many(25) as { id: number }[]));
  });

  test('an array of several batches that is emptied is stored whole', async () => {
    const records = many(2_500);
    const call = database.upsert(records);
    records.length = 0;
    expect((await call).created).toBe(2_500);
  });

  test.each(['synchronous', 'asynchronous'])('a %s source may give the same object again', async (kind) => {
    const vector = new Float32Array(2);
    const record = { id: 0, data: { rank: 0 }, vector };
    function* reused() {
      for (let id = 1; id <= 300; id++) {
        record.id = record.data.rank = id;
        vector.set([Math.cos(id / 300), Math.sin(id / 300)]);
        yield record;
      }
    }
    async function* slowly() {
      yield* reused();
    }
    await database.upsert(kind === 'synchronous' ? reused() : slowly());
    const vector1 = [Math.cos(1 / 300), Math.sin(1 / 300)];
    const { results } = await database.search({ vector: vector1 }, { limit: 3 });
    expect(results.map(({ id, data }) => [id, data.rank])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect((await database.describe()).records).toBe(300);
  });

  test('a record and its vector may be changed once the call has returned', async () => {
    const vector = Float32Array.from([1, 0]);
    const record = { id: 1, data: { rank: 1 } as Record<string, number>, vector };
    const first = database.upsert([record]);
    record.id = record.data.rank = 2;
    vector.set([0, 1]);
    const second = database.upsert([record]);
    record.id = 3;
    await Promise.all([first, second]);
    const near = async (vector: number[]) => {
      const { results } = await database.search({ vector }, { threshold: 0.9 });
      return results.map(({ id, data }) => [id, data.rank]);
    };
    expect([await near([1, 0]), await near([0, 1])]).toEqual([[[1, 1]], [[2, 2]]]);
  });

  test('chunks of lines may be written into the same memory', async () => {
    const memory = Buffer.alloc(4_096);
    async function* reused() {
      for (let id = 1; id <= 500; id++) {
        const length = memory.write(`${JSON.stringify(own(id))}\n`);
        yield memory.subarray(0, length);
      }
    }
    const events = await all(database.upsertLines(reused()));
    expect(events.at(-1)).toMatchObject({ type: 'summary', created: 500, failed: 0 });
    expect(await stored()).toHaveLength(500);
  });

  test('what is deleted, found and exported is what the request said at the call', async () => {
    await database.upsert(many(250));
    const deletion = { ids: [1, 2] };
    const deleting = database.delete(deletion);
    deletion.ids = [200];
    deletion.ids.push(201);
    expect(await deleting).toBe(2);

    const rule = { column: 'rank', operator: 'greater_than' as const, value: 200 };
    const vector = [1, 0];
    const query = { vector };
    const found = { filter: { rules: [rule] } };
    const listing = { filter: { rules: [rule] } };
    const options = { filter: rule };
    const calls = {
      found: database.search(query, found),
      allFound: all(database.searchAll(query, found)),
      listed: database.query(listing),
      allListed: all(database.queryAll(listing)),
      mapped: database.map({ search: query, ...found }),
    };
    const later = {
      allFound: database.searchAll(query, found),
      allListed: database.queryAll(listing),
      exported: database.exportLines(options),
    };
    rule.value = 249;
    vector.fill(0);
    listing.filter.rules = [];
    expect((await calls.found).results).toHaveLength(50);
    expect(await calls.allFound).toHaveLength(50);
    expect((await calls.listed).results).toHaveLength(50);
    expect(await calls.allListed).toHaveLength(50);
    expect((await calls.mapped).points).toHaveLength(50);
    expect(await all(later.allFound)).toHaveLength(50);
    expect(await all(later.allListed)).toHaveLength(50);
    const lines = Buffer.concat(await all(later.exported)).toString();
    expect(lines.trimEnd().split('\n')).toHaveLength(50);
  });

  test.each([Int8Array, Uint8Array, Int32Array, Float32Array, Float64Array])(
    'a vector that is an %o may be changed',
    async (Kind) => {
      await database.upsert([own(1), { ...own(2), vector: [0, 1] }]);
      const vector = Kind.of(1, 0);
      const query = { vector: vector as unknown as number[] };
      const pages = database.searchAll(query, { threshold: 0.9 });
      const page = database.search(query, { threshold: 0.9 });
      vector.set([0, 1]);
      expect(ids(await all(pages))).toEqual([1]);
      expect(ids((await page).results)).toEqual([1]);
    },
  );

  test('options may be changed', async () => {
    const options: { signal?: AbortSignal } = {};
    const aborted = AbortSignal.abort(new Error('not at the call'));
    async function* source() {
      yield* many(1_500);
      options.signal = aborted;
      yield* many(3_000).slice(1_500);
    }
    expect((await database.upsert(source(), options)).created).toBe(3_000);
    const later: { signal?: AbortSignal; database?: string } = {};
    const databases = sides.get(side)!;
    const iterables: AsyncIterable<unknown>[] = [
      databases.backup(later),
      databases.doctor(later),
      database.follow({}, later),
    ];
    later.signal = aborted;
    later.database = 'none';
    for (const iterable of iterables) {
      const iterator = iterable[Symbol.asyncIterator]();
      expect((await iterator.next()).done).toBe(false);
      await iterator.return?.();
    }
  });

  test('options of a class have an effect', async () => {
    await database.upsert(many(30));
    class Options {
      readonly #above: number;
      constructor(above: number) {
        this.#above = above;
      }
      get filter() {
        return { column: 'rank', operator: 'greater_than' as const, value: this.#above };
      }
    }
    const lines = Buffer.concat(await all(database.exportLines(new Options(25)))).toString();
    expect(lines.trimEnd().split('\n')).toHaveLength(5);
  });

  test('the settings of a database and the columns of a patch are those of the call', async () => {
    const settings = { embed: { columns: ['name'] } };
    const creating = sides.get(side)!.createDatabase(`settings-${number}`, settings);
    settings.embed.columns.push('more');
    expect((await (await creating).describe()).embed?.columns).toEqual(['name']);

    await database.upsert([own(1)]);
    const changes = { rank: 7 };
    const patching = database.patch(1, changes);
    changes.rank = 8;
    expect((await patching).data.rank).toBe(7);
  });
});
