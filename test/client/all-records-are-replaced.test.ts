import { describe, expect, test } from 'vitest';
import type { Database, NewRecord } from '../../src/api/index.js';
import { bothSides } from './both-sides.js';

const sides = bothSides();

const record = (id: number): NewRecord => ({ id, data: { n: id }, vector: [1, id] });
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => record(first + at));
const loose = (value: unknown) => value as never;

async function* failing<T>(items: T[], error: unknown) {
  yield* items;
  throw error;
}

describe.each(['library', 'client'])('%s', (side) => {
  let number = 0;
  const create = async (records: NewRecord[]): Promise<Database> => {
    number += 1;
    const database = await sides.get(side)!.createDatabase(`replaced-${number}`, { dimensions: 2 });
    await database.upsert(records);
    return database;
  };
  const ids = async (database: Database) => {
    const found = [];
    for await (const { id } of database.queryAll({ sort: { column: 'n' } })) found.push(id);
    return found;
  };

  test('the records of an array take the place of the others', async () => {
    const database = await create(range(1, 2_400));
    const source = [...range(1, 2_200), record(3_000), { ...record(3_001), vector: Float32Array.of(0, 1) }];
    const committed: number[] = [];
    const replacing = database.replaceAll(source, {
      onProgress: (progress) => committed.push(progress.committed),
    });
    source.length = 0;
    expect(await replacing).toEqual({ created: 2, changed: 0, unchanged: 2_200, deleted: 200 });
    expect(committed.at(-1)).toBe(2_202);
    expect((await ids(database)).slice(-3)).toEqual([2_200, 3_000, 3_001]);
  });

  test('an iterator, also an asynchronous one, is a source', async () => {
    const database = await create(range(1, 3));
    expect(await database.replaceAll(new Set(range(2, 4)))).toMatchObject({ created: 1, deleted: 1 });
    const source = (async function* () {
      yield* range(3, 5);
    })();
    expect(await database.replaceAll(source)).toMatchObject({ created: 1, unchanged: 2, deleted: 1 });
    expect(await ids(database)).toEqual([3, 4, 5]);
  });

  test('a source that fails deletes nothing', async () => {
    const database = await create(range(1, 2_003));
    const failure = new Error('the source failed');
    await expect(database.replaceAll(failing(range(2, 1_200), failure))).rejects.toBe(failure);
    const lines = failing([`${JSON.stringify(record(1))}\n`], failure);
    await expect(replaceLines(database, lines)).rejects.toBe(failure);
    const stop = new AbortController();
    const stopped = database.replaceAll(failing(range(2, 1_200), failure), { signal: stop.signal });
    stop.abort(failure);
    await expect(stopped).rejects.toBe(failure);
    expect((await database.describe()).records).toBe(2_003);
  });

  test('a record without an identity is not valid', async () => {
    const database = await create(range(1, 5));
    const { id: _, ...anonymous } = record(6);
    await expect(database.replaceAll([...range(1, 5), anonymous])).rejects.toMatchObject({
      code: 'deletion_refused',
      problems: [{ pointer: '/records/5', code: 'missing_member' }],
    });
    expect((await database.describe()).records).toBe(5);
  });

  test('a record that is not valid deletes nothing, and is named', async () => {
    const database = await create(range(1, 5));
    const wrong = [
      ...range(1, 1_200),
      { id: 1_201, data: { n: loose([[1]]) }, vector: [1, 2] },
      record(1_202),
    ];
    await expect(database.replaceAll(wrong)).rejects.toMatchObject({
      code: 'deletion_refused',
      detail: expect.stringMatching(
        /^nothing was deleted: 1 of 1202 lines has problems; the others lack 0 of 5 records; \/records\/1200\/data\/n/,
      ),
      problems: [{ pointer: expect.stringMatching(/^\/records\/1200\/data\/n/) }],
      fields: { missing: 0 },
    });
    const notJson = [...range(2, 1_200), { id: 1_201, data: { n: Number.NaN }, vector: [1, 2] }];
    await expect(database.replaceAll(notJson)).rejects.toMatchObject({
      code: 'invalid_record',
      problems: [{ pointer: '/records/1199/data/n' }],
    });
    expect((await ids(database)).length).toBe(1_201);
  });

  test('more deletions than allowed are refused with the option that allows them', async () => {
    const database = await create(range(1, 120));
    const refused = {
      code: 'deletion_refused',
      detail:
        'nothing was deleted: the source lacks 13 of 120 records, and at most 12 may be deleted; ' +
        'maxDeletes 13 allows it',
      fields: { missing: 13, max: 12 },
    };
    await expect(database.replaceAll(range(1, 107))).rejects.toMatchObject(refused);
    const lines = range(1, 107).map((line) => `${JSON.stringify(line)}\n`);
    await expect(replaceLines(database, lines)).rejects.toMatchObject(refused);
    expect(await replaceLines(database, lines, { maxDeletes: 13 })).toMatchObject({ deleted: 13 });
    await expect(database.replaceAll([])).rejects.toMatchObject({ fields: { missing: 107, max: 0 } });
    expect(await database.replaceAll([], { maxDeletes: 107 })).toMatchObject({ deleted: 107 });
  });

  test('an option that is not allowed is refused', async () => {
    const database = await create([]);
    for (const maxDeletes of [-1, 1.5, '5', Number.POSITIVE_INFINITY]) {
      const refused = {
        code: 'invalid_request',
        detail: expect.stringMatching(/^maxDeletes: /),
      };
      await expect(database.replaceAll([], { maxDeletes: loose(maxDeletes) })).rejects.toMatchObject(refused);
      await expect(replaceLines(database, [], { maxDeletes: loose(maxDeletes) })).rejects.toMatchObject(
        refused,
      );
    }
    await expect(database.replaceAll(loose('abc'))).rejects.toMatchObject({
      detail: expect.stringMatching(/^records: is string/),
    });
  });
});

async function replaceLines(
  database: Database,
  chunks: Parameters<Database['replaceLines']>[0],
  options: Parameters<Database['replaceLines']>[1] = {},
) {
  const events = [];
  for await (const event of database.replaceLines(chunks, options)) events.push(event);
  return events.at(-1);
}
