import { beforeAll, describe, expect, test } from 'vitest';
import { FORMS, RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import type { OracleRequest } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { randomFilter } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const COLUMNS = ['colour', 'size', 'open', 'mixed', '__proto__', 'rare', 'never given'];
const SEEDS = [41, 42];

/** The order of the filter-only operation. */
export function describeSorts(open: OpenDatabases): void {
  describe('the order of a query', () => {
    const shared = SharedDatabases.use(open);

    describe('by a column of every type', () => {
      const VALUES = ['10', '9', '', 'Z', 'a', '\uffee', '😀', 10, 9, -1.5, 0.5, false, true, null];
      /** Booleans, numbers, texts by code points, then what has no value, by id. */
      const ASCENDING = [false, true, -1.5, 0.5, 9, 10, '', '10', '9', 'Z', 'a', '\uffee', '😀'];
      let database: TestDatabase;
      beforeAll(async () => {
        database = await shared.create();
        const records = VALUES.map((c, at) => ({ id: at + 1, data: { c }, vector: [1, 0] }));
        await database.upsert([...records, { id: 99, data: { other: 1 }, vector: [1, 0] }]);
      });

      test.each([
        [{ column: 'c' }, ASCENDING],
        [{ column: 'c', direction: 'asc' }, ASCENDING],
        [{ column: 'c', direction: 'desc' }, ASCENDING.toReversed()],
      ])('%j', async (sort, expected) => {
        const found = await database.drain('query', { sort }, { limit: () => 2 });
        expect(found.map(({ data }) => data.c)).toEqual([...expected, null, undefined]);
      });
    });

    test.each(seedsOn(open, SEEDS))(
      'is that of the oracle in every direction, on any pages (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database, oracle } = await randomDatabase(shared, random, 160);
        for (const form of timesOn(open, RECORD_FORMS, RECORD_FORMS.slice(0, 1))) {
          const sorts: OracleRequest['sort'][] = [
            undefined,
            ...COLUMNS.map((column) => ({ column })),
            ...FORMS[form].times.map((time) => ({ time })),
          ];
          for (const [round, sort] of sorts.entries()) {
            for (const direction of [undefined, 'asc', 'desc'] as const) {
              const request: OracleRequest = {
                ...(sort !== undefined && { sort: { ...sort, ...(direction && { direction }) } }),
                ...(random.chance(30) && { filter: randomFilter(random, 2) }),
              };
              const limit = round % 4 === 0 ? () => 3 : () => random.pick([20, 100]);
              const found = await database.drain('query', request, { form, limit });
              expect(found, JSON.stringify(request)).toEqual(oracle.results(request, form));
            }
          }
        }
      },
    );

    test('by long texts that differ at their end only', async () => {
      const database = await shared.create();
      const long = 'x'.repeat(3_000);
      const endings = ['c', 'a', 'b', 'a', '', 'd'];
      await database.upsert(
        endings.map((end, at) => ({ id: at + 1, data: { c: long + end }, vector: [1, 0] })),
      );
      for (const [direction, expected] of [
        ['asc', [5, 2, 4, 3, 1, 6]],
        ['desc', [6, 1, 3, 2, 4, 5]],
      ] as const) {
        const sort = { column: 'c', direction };
        expect(await database.ids('query', { sort }, { limit: () => 1 })).toEqual(expected);
      }
    });

    // The order of all values: times, booleans, numbers, texts, no value.
    test.each([
      [{ time: 'last_seen_time' }, { column: 'c' }, [1, 2, 3]],
      [{ time: 'last_seen_time' }, { column: 'c', direction: 'desc' }, [3]],
      [{ column: 'c' }, { time: 'last_seen_time', direction: 'desc' }, [1, 2, 3]],
      [{ column: 'c' }, { time: 'last_seen_time', direction: 'asc' }, []],
      [{ column: 'c' }, { column: 'none' }, [1, 2, 3]],
      [{ column: 'none' }, { time: 'last_seen_time' }, []],
      [{ column: 'none' }, { column: 'c' }, [3]],
    ])(
      'begins after the position of a cursor of another order: %j, then %j',
      async (before, sort, expected) => {
        const database = await shared.create();
        const data = [{ c: 1 }, { c: 2 }, {}];
        await database.upsert(data.map((data, at) => ({ id: at + 1, data, vector: [1, 0] })));
        const { pagination } = await database.query({ sort: before, pagination: { limit: 1 } });
        const cursor = pagination.next_cursor;
        const { results } = await database.query({ sort, pagination: { cursor } });
        expect(results.map(({ id }) => id)).toEqual(expected);
      },
    );

    test('a cursor is refused unless this service made it for this kind of request', async () => {
      const database = await shared.create();
      await database.upsert([1, 2, 3].map((id) => ({ id, data: { c: id }, vector: [1, 0] })));
      for (const cursor of ['', 'x', '42', '_', 't', '0.5', '0.5|', '%', '\u0000']) {
        for (const form of RECORD_FORMS) {
          await expect(database.query({ pagination: { cursor } }, { form }), cursor).rejects.toMatchObject({
            code: 'invalid_cursor',
            status: 400,
            problems: [{ pointer: '/pagination/cursor' }],
          });
        }
      }
    });

    test('results of a query have no score', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: {}, vector: [1, 0] });
      const { results } = await database.query();
      expect(Object.keys(results[0]!)).toEqual(['id', 'data', 'timestamps']);
    });
  });
}
