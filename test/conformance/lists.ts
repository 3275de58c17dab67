import { describe, expect, test } from 'vitest';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';

const LONGEST = Array.from({ length: 1_000 }, (_, at) => at % 7);
const LISTS = {
  tags: ['b', 'a', 'b', '\u0000\u0001', '😀"\\'],
  mixed: [1, '1', true, -0.5, 1e300, ''],
  none: [],
  long: LONGEST,
};

/** Lists as values of `data`. Random data has them, too, for filters, orders, facets, distinct values and boosts. */
export function describeLists(open: OpenDatabases): void {
  describe('lists', () => {
    const shared = SharedDatabases.use(open);

    test('are returned as they were written, and the same list is no change', async () => {
      const database = await shared.create();
      const record = { id: 1, data: LISTS, vector: [1, 0] };
      expect((await database.upsert([record])).created).toBe(1);
      expect((await database.upsert([record])).unchanged).toBe(1);
      const { results } = await database.query({});
      expect(results.map(({ data }) => data)).toEqual([LISTS]);
      const { columns } = await database.describe();
      expect(columns).toEqual(Object.keys(LISTS).map((name) => ({ name, types: ['list'], records: 1 })));
      const reordered = { ...record, data: { ...LISTS, tags: LISTS.tags.toReversed() } };
      expect((await database.upsert([reordered])).changed).toBe(1);
    });

    test('are set, replaced and removed by a patch', async () => {
      const database = await shared.create();
      await database.upsert([{ id: 1, data: { a: 'x', b: ['y'] }, vector: [1, 0] }]);
      for (const [changes, data] of [
        [{ a: ['x', 1] }, { a: ['x', 1], b: ['y'] }],
        [{ a: ['x', 1] }, { a: ['x', 1], b: ['y'] }],
        [{ b: null, a: [] }, { a: [] }],
        [{ a: 5 }, { a: 5 }],
      ] as const) {
        await database.patch(1, changes);
        expect((await database.query({})).results[0]?.data).toEqual(data);
      }
    });

    test('are compared whatever the column had before, and after its last list is gone', async () => {
      const database = await shared.create();
      const idsOf = async (operator: string, value?: unknown) => {
        const filter = { rules: [{ column: 'a', operator, ...(value !== undefined && { value }) }] } as never;
        const { results } = await database.query({ filter, sort: { column: 'a' } });
        return results.map(({ id }) => id);
      };
      const write = async (id: number, a: unknown) => {
        await database.upsert([{ id, data: { a }, vector: [1, id] }]);
      };
      await write(1, 'x');
      expect(await idsOf('equals', 'x')).toEqual([1]);
      await write(2, ['w', 'x']);
      await write(3, [5, 'z']);
      await write(4, []);
      expect(await idsOf('equals', 'x')).toEqual([2, 1]);
      expect(await idsOf('not_in', ['x', 'y'])).toEqual([3, 4]);
      expect(await idsOf('greater_than', 4)).toEqual([3]);
      expect(await idsOf('is_empty')).toEqual([4]);
      expect(await idsOf('is_not_empty')).toEqual([3, 2, 1]);
      for (const id of [2, 3, 4]) await write(id, 'x');
      expect(await idsOf('equals', 'x')).toEqual([1, 2, 3, 4]);
    });

    test('are refused with null or a list in them, and with more than 1,000 elements', async () => {
      const database = await shared.create();
      const records = [{ data: {} }, { data: { tags: ['a', 1, null] } }, { data: { 'a/b': [['x']] } }];
      await expect(database.upsert(records)).rejects.toMatchObject({
        code: 'invalid_record',
        problems: expect.arrayContaining([
          expect.objectContaining({ pointer: '/records/1/data/tags/2', code: 'wrong_type' }),
          expect.objectContaining({ pointer: '/records/2/data/a~1b/0', code: 'wrong_type' }),
        ]),
      });
      const tooLong = [{ id: 1, data: { long: [...LONGEST, 1] }, vector: [1, 0] }];
      await expect(database.upsert(tooLong)).rejects.toMatchObject({
        status: 400,
        problems: [{ pointer: '/records/0/data/long', code: 'too_many_values' }],
      });
    });
  });

  describe('lists in the text of a record', () => {
    const shared = SharedDatabases.use(open);

    test.each([undefined, { columns: ['tags'] }])('are their elements (embed %o)', async (embed) => {
      const database = await shared.create({ lexical: true, ...(embed && { embed }) });
      await database.upsert([
        { id: 1, data: { tags: ['violin', 'Cremona'] } },
        { id: 2, data: { tags: 'violin, Cremona' } },
        { id: 3, data: { tags: [1, true] } },
        { id: 4, data: { tags: [] } },
      ]);
      for (const lexical of [0, 1]) {
        const search = { text: 'violin Cremona', threshold: 0, lexical };
        const { results } = await database.search({ search, highlights: true });
        const [first, second] = results;
        expect([first?.id, second?.id]).toEqual([1, 2]);
        expect(first?.relevance_score).toBe(second?.relevance_score);
        expect(results.map(({ id }) => id)).toEqual(embed ? [1, 2, 3] : [1, 2]);
        if (lexical === 0) continue;
        for (const { highlights } of [first, second] as { highlights?: object }[]) {
          expect(highlights).toEqual({
            tags: [
              [0, 6],
              [8, 15],
            ],
          });
        }
      }
    });
  });
}
