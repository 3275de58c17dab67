import { describe, expect, test } from 'vitest';
import type { Database, Databases } from '../../src/api/index.js';
import { bothSides } from './both-sides.js';

type Searches = Parameters<Database<{ even: boolean }>['searchMany']>[0];

const sides = bothSides();

const filled = async (databases: Databases, id: string) => {
  const database = await databases.createDatabase<{ even: boolean }>(id, { dimensions: 2 });
  await database.upsert(
    Array.from({ length: 20 }, (_, i) => ({ id: i + 1, data: { even: i % 2 === 1 }, vector: [1, i] })),
  );
  return database;
};

describe.each(['library', 'client'])('%s', (side) => {
  const databases = () => sides.get(side) as Databases;

  test('a batch has the page of each search, and the error of one that is not valid', async () => {
    const database = await filled(databases(), 'outcomes');
    const filter = { column: 'even', operator: 'equals', value: true } as const;
    const searches: Searches = [
      { search: { vector: [1, 0] }, limit: 3 },
      { search: { vector: [1, 2] }, filter, total: true, columns: [], threshold: 0 },
      { search: { vector: [1, 2] }, threshold: 2 },
      { search: { vector: [1, 2, 3] } },
      { search: { vector: [1, 2] }, cursor: 'x' },
      { search: 'a text' },
      { search: { vector: [1, 1] }, vectors: true, limit: 1 },
    ];
    const outcomes = await database.searchMany(searches);
    const expected = await Promise.all(
      searches.map(async ({ search, ...options }) => {
        try {
          return { page: await database.search(search, options) };
        } catch (error) {
          const { code, problems } = error as { code: string; problems: { pointer: string }[] };
          return [code, problems.map(({ pointer }) => pointer.replace(/^\/query/, '/search'))];
        }
      }),
    );
    const found = outcomes.map(({ page, error }, at) => {
      if (error === undefined) return { page };
      const place = `/searches/${at}`;
      expect(error.detail.startsWith(`${place}: `)).toBe(true);
      for (const { pointer } of error.problems) expect(pointer.startsWith(place)).toBe(true);
      return [error.code, error.problems.map(({ pointer }) => pointer.slice(place.length))];
    });
    expect(found).toEqual(expected);
    expect(found.filter(Array.isArray)).toHaveLength(4);
  });

  test('what is no batch is refused', async () => {
    const database = await filled(databases(), 'refused');
    const search = { vector: [1, 0] };
    for (const searches of [[], Array(65).fill({ search }), undefined, 'a text'] as never[]) {
      await expect(database.searchMany(searches)).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/searches' }],
      });
    }
    for (const wrong of [undefined, null, 'a text', {}, { search, signal: 1 }, { search: 7 }] as never[]) {
      const [, outcome] = await database.searchMany([{ search }, wrong]);
      expect(outcome?.error?.code, String(wrong)).toBe('invalid_request');
    }
    const missing = databases().database('missing');
    await expect(missing.searchMany([{ search }])).rejects.toMatchObject({ code: 'database_not_found' });
    const signal = AbortSignal.abort(new Error('left'));
    await expect(database.searchMany([{ search }], { signal })).rejects.toThrow('left');
  });

  test('more batches at once than a service takes of a key all succeed', async () => {
    const database = await filled(databases(), 'many');
    const batch = Array<Searches[0]>(64).fill({ search: { vector: [1, 0] }, limit: 1 });
    const found = await Promise.all(Array.from({ length: 12 }, () => database.searchMany(batch)));
    for (const { page } of found.flat()) expect(page?.results[0]?.id).toBe(1);
  });
});
