import { describe, expect, test } from 'vitest';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { iso } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector, START } from './random-records.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';

/** Deletions by identity, by filter and by time range. */
export function describeDeletes(open: OpenDatabases): void {
  describe('deletions', () => {
    const shared = SharedDatabases.use(open);

    test('name records by either identity; what is not there is not counted', async () => {
      const database = await shared.create();
      const { results } = await database.upsert([1, 2, 3, 4].map((id) => ({ id, data: {}, vector: [1, 0] })));
      const absent = '00000000-0000-4000-8000-00000000dead';
      const ids = [1, 1, results[0]!.uuid, results[1]!.uuid.toUpperCase(), 99, absent];
      expect(await database.delete({ ids })).toBe(2);
      expect(await database.delete({ ids })).toBe(0);
      expect(await database.ids('query', { sort: { column: 'none' } })).toEqual([3, 4]);
      for (const id of [1, results[1]!.uuid]) {
        await expect(database.record(id)).rejects.toMatchObject({ code: 'record_not_found', status: 404 });
      }
      expect(await database.count()).toBe(2);
    });

    test('of what was not synced since a time', async () => {
      const database = await shared.create();
      const record = (id: number) => ({
        id,
        data: {},
        timestamps: { created_at: '2026-01-09', synced_at: `2026-01-0${id}` },
        vector: [1, 0],
      });
      await database.upsert([1, 2, 3, 4].map(record));
      expect(await database.delete({ time_range: { end_time: '2026-01-02' } })).toBe(2);
      expect(await database.ids('query', {})).toEqual([4, 3]);
    });

    test('a deleted record leaves no trace in searches, totals and facets', async () => {
      const database = await shared.create();
      await database.upsert([1, 2].map((id) => ({ id, data: { n: id }, vector: [1, 0] })));
      await database.delete({ ids: [1] });
      const counted = { total: true, facets: [{ column: 'n' }] };
      const expected = { total: { value: 1 }, facets: [{ values: [{ value: 2, count: 1 }], missing: 0 }] };
      expect(await database.search({ search: { vector: [1, 0] }, ...counted })).toMatchObject(expected);
      expect(await database.query(counted)).toMatchObject(expected);
      expect((await database.describe()).columns).toEqual([{ name: 'n', types: ['number'], records: 1 }]);
    });

    test('take what the oracle takes (seed 61)', async () => {
      const random = new Random(61);
      const { database, oracle } = await randomDatabase(shared, random, 240);
      let deleted = 0;
      for (let round = 0; round < timesOn(open, 16, 6) && oracle.records.size > 40; round++) {
        const size = { column: 'size', operator: 'equals' as const, value: random.below(40) / 4 - 2 };
        const from = random.below(60);
        const requests = [
          { filter: { condition: 'AND' as const, rules: [size] } },
          { filter: { rules: [size, randomFilter(random, 2)] } },
          {
            time_range: { start_time: iso(START + from * 1_000), end_time: iso(START + (from + 1) * 1_000) },
          },
          { filter: randomFilter(random, 1), time_range: { end_time: iso(START + 6_000) } },
        ];
        const request = random.pick(requests);
        const taken = oracle.matches(request, 'integer');
        expect(await database.delete(request), JSON.stringify(request)).toBe(taken.length);
        deleted += taken.length;
        for (const { id } of taken) oracle.records.delete(id);
        const search = { search: { vector: randomVector(random), threshold: 0 } };
        expect(await database.drain('search', search)).toEqual(oracle.results(search, 'integer'));
        expect(await database.drain('query', {})).toEqual(oracle.results({}, 'integer'));
      }
      expect(deleted).toBeGreaterThan(20);
      expect(await database.count()).toBe(oracle.records.size);
    });
  });
}
