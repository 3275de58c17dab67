import { beforeEach, describe, expect, test } from 'vitest';
import type { FilterGroup } from '../../src/schema/index.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector } from './random-records.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const forcedFilter: FilterGroup = {
  condition: 'AND',
  rules: [{ column: 'team', operator: 'equals', value: 'red' }],
};
const search = { search: { vector: [1, 0], threshold: 0 } };
const notFound = { code: 'record_not_found', status: 404 };

/** The filter that a key forces: a record outside it does not exist for the key. */
export function describeScopes(open: OpenDatabases): void {
  describe('a forced filter', () => {
    const shared = SharedDatabases.use(open);
    let database: TestDatabase;
    const put = (id: number, team: string, note = '') =>
      database.put({ id, data: { team, note }, vector: [10, id] });

    beforeEach(async () => {
      database = await shared.create();
      for (let id = 1; id <= 9; id++) await put(id, id % 3 === 0 ? 'red' : 'blue');
    });

    test.each(['uuid', 'integer'] as const)(
      'hides records from searches and queries of variant %s',
      async (form) => {
        const asking = { form, forcedFilter, limit: () => 1 };
        const visible = await Promise.all([3, 6, 9].map(async (id) => (await database.record(id, form)).id));
        expect(await database.ids('search', search, asking)).toEqual(visible);
        expect(new Set(await database.ids('query', {}, asking))).toEqual(new Set(visible));
      },
    );

    test('is not widened by the filter of the request', async () => {
      const filter = {
        condition: 'OR',
        rules: [
          { column: 'team', operator: 'equals', value: 'blue' },
          { column: 'team', operator: 'is_not_empty' },
        ],
      };
      expect(await database.ids('search', { ...search, filter }, { forcedFilter })).toEqual([3, 6, 9]);
      const blue = { rules: [{ column: 'team', operator: 'equals', value: 'blue' }] };
      expect(await database.ids('search', { ...search, filter: blue }, { forcedFilter })).toEqual([]);
      expect(await database.ids('query', { filter: blue }, { forcedFilter })).toEqual([]);
    });

    test('hides records from totals and facets', async () => {
      const counted = { total: true, facets: [{ column: 'team' }, { column: 'none' }] };
      const expected = {
        total: { value: 3 },
        facets: [
          { values: [{ value: 'red', count: 3 }], other: 0, missing: 0 },
          { values: [], missing: 3 },
        ],
      };
      expect(await database.search({ ...search, ...counted }, { forcedFilter })).toMatchObject(expected);
      expect(await database.query(counted, { forcedFilter })).toMatchObject(expected);
      // And not from others, whatever was counted before.
      expect((await database.search({ ...search, ...counted })).total).toEqual({ value: 9 });
      expect((await database.query(counted)).total).toEqual({ value: 9 });
    });

    test('hides records that are read by either id', async () => {
      for (const id of [1, 3]) {
        const { id: uuid } = await database.record(id, 'uuid');
        for (const name of [id, uuid]) {
          const read = database.record(name, 'integer', forcedFilter);
          if (id === 3) expect(await read).toMatchObject({ id: 3 });
          else await expect(read).rejects.toMatchObject(notFound);
        }
      }
      // The response is the one about a record that was never there.
      const told = async (id: number) => {
        const error = await database.record(id, 'integer', forcedFilter).catch((error) => error);
        return `${error.code} ${error.detail}`.replace(String(id), 'ID');
      };
      expect(await told(1)).toBe(await told(999));
    });

    test('protects records from deletions', async () => {
      const asking = { forcedFilter };
      expect(await database.delete({ ids: [1, 2, 3] }, asking)).toBe(1);
      const blue = { filter: { rules: [{ column: 'team', operator: 'equals', value: 'blue' }] } };
      expect(await database.delete(blue, asking)).toBe(0);
      expect(await database.delete({ time_range: { end_time: '9999-12-31' } }, asking)).toBe(2);
      expect(await database.ids('search', search)).toEqual([1, 2, 4, 5, 7, 8]);
    });

    test('hides changes of records outside it, and shows one that leaves it as deleted', async () => {
      const asking = { forcedFilter };
      expect(await database.history(0, asking)).toEqual(['created 3', 'created 6', 'created 9']);
      for (const limit of [1, 2]) {
        expect(await database.history(0, { ...asking, limit })).toEqual([
          'created 3',
          'created 6',
          'created 9',
        ]);
      }
      const { position } = await database.changes({}, asking);
      await put(3, 'blue'); // leaves
      await put(1, 'red'); // enters
      await put(6, 'red', 'changed'); // stays inside
      await put(2, 'blue', 'changed'); // stays outside
      expect(await database.history(position, asking)).toEqual(['deleted 3', 'changed 1', 'changed 6']);
      const then = (await database.changes({ after: position }, asking)).position;
      await database.delete({ ids: [2] });
      await database.delete({ ids: [6] });
      expect(await database.history(then, asking)).toEqual(['deleted 6']);
      // Others see all of it.
      expect(await database.history(position)).toEqual([
        'changed 3',
        'changed 1',
        'changed 6',
        'changed 2',
        'deleted 2',
        'deleted 6',
      ]);
    });

    test('lets a wait for changes sleep while only hidden records change', async () => {
      const { position } = await database.changes({}, { forcedFilter });
      const waiting = database.changes({ after: position, waitMs: 60_000 }, { forcedFilter });
      await put(1, 'blue', 'changed');
      await put(3, 'red', 'changed');
      const feed = await waiting;
      expect(feed.changes).toMatchObject([{ kind: 'changed', id: 3 }]);
    });

    test('tells nothing through a cursor that names a hidden record', async () => {
      const near = await shared.create();
      const at = (angle: number) => [Math.cos(angle), Math.sin(angle)];
      await near.upsert([
        { id: 1, data: { team: 'blue' }, vector: at(1) },
        { id: 3, data: { team: 'red' }, vector: at(1.00005) },
      ]);
      const [hidden, visible] = (await near.search(search)).results.map(
        ({ relevance_score }) => relevance_score!,
      ) as [number, number];
      expect(hidden - visible, 'the scores nearly agree').toBeLessThan(1e-4);
      for (const score of [hidden + 1e-6, visible + 1e-6, visible - 1e-6]) {
        const page = async (id: number) => {
          const pagination = { cursor: `${score.toFixed(9)}_${id}` };
          return near.search({ ...search, pagination }, { forcedFilter });
        };
        // No record has the id 2; to the caller, record 1 does not exist either.
        expect(await page(1), `after ${score}`).toEqual(await page(2));
      }
    });

    test('follows a change of the record at once', async () => {
      await put(1, 'red');
      await put(3, 'blue');
      expect(await database.ids('search', search, { forcedFilter })).toEqual([1, 6, 9]);
      await expect(database.record(3, 'integer', forcedFilter)).rejects.toMatchObject(notFound);
      expect((await database.record(1, 'integer', forcedFilter)).id).toBe(1);
    });

    test('is the conjunction of both filters for random filters (seed 51)', async () => {
      const random = new Random(51);
      const { database: filled, oracle } = await randomDatabase(shared, random, 150);
      let narrowed = 0;
      const rounds = timesOn(open, 25, 8);
      for (let round = 0; round < rounds; round++) {
        const forced = randomFilter(random, 2);
        const request = {
          ...(random.chance(70) && { filter: randomFilter(random, 2) }),
          ...(random.chance(50) && { search: { vector: randomVector(random), threshold: 0 } }),
        };
        const operation = 'search' in request ? 'search' : 'query';
        const expected = oracle.results(request, 'uuid', forced);
        if (expected.length < oracle.matches(request, 'uuid').length) narrowed += 1;
        const found = await filled.drain(operation, request, { form: 'uuid', forcedFilter: forced });
        expect(found, JSON.stringify({ request, forced })).toEqual(expected);
      }
      expect(narrowed, 'most forced filters hide something').toBeGreaterThan(0.4 * rounds);
    });
  });
}
