import { beforeAll, describe, expect, test } from 'vitest';
import type { Facet, FilterGroup } from '../../src/schema/index.js';
import { Random } from '../helpers/random.js';
import { bucketOf, countFacet } from './facet-oracle.js';
import type { OpenDatabases } from './open-databases.js';
import { given, type OracleRequest } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector } from './random-records.js';
import { seedsOn, testWholeOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { Page, TestDatabase } from './test-database.js';

const INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'year'] as const;
const FACETS: Facet[] = [
  { column: 'colour' },
  { column: 'colour', type: 'values', limit: 1 },
  { column: 'mixed', limit: 3 },
  { column: 'mixed', limit: 100 },
  { column: '__proto__', limit: 100 },
  { column: 'never given' },
  { column: 'size', type: 'histogram', interval: 2.5 },
  { column: 'size', type: 'histogram', interval: 0.1 },
  { column: 'mixed', type: 'histogram', interval: 1e298 },
  { column: 'never given', type: 'histogram', interval: 1 },
  { time: 'created', interval: 'week' },
  { time: 'changed', interval: 'year' },
  { time: 'synced', interval: 'minute' },
];

/** Exact totals and facets over all matches of a search or query. */
export function describeCounts(open: OpenDatabases): void {
  describe('totals and facets', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, [31, 32]))('are those of the oracle, on every page (seed %i)', async (seed) => {
      const random = new Random(seed);
      const { database, records, oracle } = await randomDatabase(shared, random, 200);
      // Records that were replaced or deleted must not count.
      for (const record of records.slice(0, 20)) {
        record.data = { colour: 'replaced', size: 1 };
        oracle.records.delete(record.id + 20);
      }
      await database.upsert(records.slice(0, 20).map(given));
      await database.delete({ ids: records.slice(20, 40).map(({ id }) => id) });

      for (let round = 0; round < timesOn(open, 14, 5); round++) {
        const operation = random.pick(['search', 'query']);
        const request: OracleRequest = {
          ...(random.chance(50) && { filter: randomFilter(random, 2) }),
          ...(operation === 'search' && {
            search: { vector: randomVector(random), threshold: random.pick([0, 0.2, 0.5, 1]) },
          }),
        };
        const forced: FilterGroup | undefined = random.chance(30) ? randomFilter(random, 1) : undefined;
        const asking = forced === undefined ? {} : { forcedFilter: forced };
        const matches = oracle.matches(request, 'integer', forced);
        const expected = FACETS.map((facet) => countFacet(matches, facet));
        const facets = FACETS;
        const told = `round ${round}: ${JSON.stringify({ request, forced })}`;
        const first = await database.ask(
          operation,
          { ...request, total: true, facets, pagination: { limit: 3 } },
          asking,
        );
        expect(first.total, told).toEqual({ value: matches.length });
        expect(first.facets, told).toEqual(expected);
        const cursor = first.pagination.next_cursor;
        if (cursor === undefined) continue;
        const next = await database.ask(
          operation,
          { ...request, facets, pagination: { limit: 3, cursor } },
          asking,
        );
        expect(next.facets, told).toEqual(expected);
        expect(next).not.toHaveProperty('total');
      }
    });

    describe('of three towers', () => {
      let database: TestDatabase;
      beforeAll(async () => {
        database = await shared.create();
        const records = [
          [{ country: 'France', height: 330, open: true }, '2024-02-29T23:59:59.999Z'],
          [{ country: 'UAE', height: 828, open: 'true' }, '2024-03-01T00:00:00.000Z'],
          [{ country: 'France', height: -0.5, open: 1 }, '2024-03-04T00:00:00.000Z'],
          [{ country: null, height: 'tall' }, '1969-12-31T23:59:59.999Z'],
        ] as const;
        await database.upsert(
          records.map(([data, synced_at], at) => ({
            id: at + 1,
            data,
            timestamps: { synced_at },
            vector: [1, 0],
          })),
        );
      });

      test.each<[Facet, object]>([
        [
          { column: 'country' },
          {
            column: 'country',
            type: 'values',
            values: [
              { value: 'France', count: 2 },
              { value: 'UAE', count: 1 },
            ],
            other: 0,
            missing: 1,
          },
        ],
        [
          { column: 'country', limit: 1 },
          {
            column: 'country',
            type: 'values',
            values: [{ value: 'France', count: 2 }],
            other: 1,
            missing: 1,
          },
        ],
        [
          // Ties by type, then by value.
          { column: 'open' },
          {
            column: 'open',
            type: 'values',
            values: [
              { value: true, count: 1 },
              { value: 1, count: 1 },
              { value: 'true', count: 1 },
            ],
            other: 0,
            missing: 1,
          },
        ],
        [
          { column: 'height', type: 'histogram', interval: 100 },
          {
            column: 'height',
            type: 'histogram',
            interval: 100,
            buckets: [
              { from: -100, count: 1 },
              { from: 300, count: 1 },
              { from: 800, count: 1 },
            ],
            missing: 1,
          },
        ],
      ])('%j', async (facet, expected) => {
        const facets = [facet];
        expect((await database.query({ facets })).facets).toEqual([expected]);
        expect((await database.search({ search: { vector: [1, 0] }, facets })).facets).toEqual([expected]);
      });

      test.each([
        ['minute', ['1969-12-31T23:59', '2024-02-29T23:59', '2024-03-01T00:00', '2024-03-04T00:00']],
        ['hour', ['1969-12-31T23:00', '2024-02-29T23:00', '2024-03-01T00:00', '2024-03-04T00:00']],
        ['day', ['1969-12-31T00:00', '2024-02-29T00:00', '2024-03-01T00:00', '2024-03-04T00:00']],
        // From Monday.
        ['week', ['1969-12-29T00:00', '2024-02-26T00:00', '2024-03-04T00:00']],
        ['month', ['1969-12-01T00:00', '2024-02-01T00:00', '2024-03-01T00:00']],
        ['year', ['1969-01-01T00:00', '2024-01-01T00:00']],
      ] as const)('by %s', async (interval, starts) => {
        const { facets } = await database.query({ facets: [{ time: 'synced', interval }] });
        const [counts] = facets as [
          { time: string; interval: string; buckets: { from: string; count: number }[] },
        ];
        expect(counts).toMatchObject({ time: 'synced', interval });
        expect(counts.buckets.map(({ from }) => from)).toEqual(starts.map((start) => `${start}:00.000Z`));
        expect(counts.buckets.reduce((sum, { count }) => sum + count, 0)).toBe(4);
        expect(INTERVALS).toContain(interval);
      });
    });

    test('a negative zero counts as zero', async () => {
      const database = await shared.create();
      await database.upsert(
        '{"records":[{"id":1,"data":{"n":-0.0},"vector":[1,0]},{"id":2,"data":{"n":0},"vector":[1,0]}]}',
      );
      const facets = [{ column: 'n' }, { column: 'n', type: 'histogram', interval: 10 }];
      const page = await database.query({ facets });
      expect(page.facets).toMatchObject([
        { values: [{ value: 0, count: 2 }] },
        { buckets: [{ from: 0, count: 2 }] },
      ]);
      expect(JSON.stringify(page.results)).toContain('"n":0');
      expect(page.results.every(({ data }) => Object.is(data.n, 0))).toBe(true);
    });

    test('a number at a bound belongs to the interval whose start, as a double, is not above it', async () => {
      const database = await shared.create();
      const intervals = [0.1, 0.3, 0.7, 0.01, 1.1, 2.3];
      // Decimals near multiples: their quotients are rounded across the bounds.
      const numbers = intervals.flatMap((interval) =>
        Array.from({ length: 120 }, (_, at) => Math.round((at - 60) * interval * 100) / 100 + 0),
      );
      const records = numbers.map((n, at) => ({ id: at + 1, data: { n }, vector: [1, 0] }));
      await database.upsert(records);
      for (const interval of intervals) {
        const { facets } = await database.query({ facets: [{ column: 'n', type: 'histogram', interval }] });
        const { buckets } = facets![0] as { buckets: { from: number; count: number }[] };
        for (const [at, { from, count }] of buckets.entries()) {
          const k = Math.round(from / interval);
          expect(from).toBe(k * interval + 0);
          const inside = numbers.filter((n) => k * interval <= n && n < (k + 1) * interval);
          expect(count, `from ${from} by ${interval}`).toBe(inside.length);
          for (const number of inside) expect(bucketOf(number, interval), `the oracle: ${number}`).toBe(from);
          if (at > 0) expect(from).toBeGreaterThan(buckets[at - 1]!.from);
        }
        expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(numbers.length);
      }
    });

    testWholeOn(open)(
      '10,000 intervals of a facet are counted, more are refused at its pointer',
      async () => {
        const database = await shared.create();
        const values = [0, 9_999];
        const records = values.map((n, at) => ({ id: at + 1, data: { n }, vector: [1, 0] }));
        await database.upsert(records);
        const facet = (interval: number) => ({
          facets: [{ column: 'n' }, { column: 'n', type: 'histogram', interval }],
        });
        expect((await database.query(facet(1))).facets).toMatchObject([
          {},
          { buckets: [{ from: 0 }, { from: 9_999 }] },
        ]);
        const many = Array.from({ length: 10_001 }, (_, n) => ({ id: n + 1, data: { n }, vector: [1, 0] }));
        for (let at = 0; at < many.length; at += 1_000) await database.upsert(many.slice(at, at + 1_000));
        for (const ask of [
          () => database.query(facet(1)),
          () => database.search({ search: { vector: [1, 0] }, ...facet(1) }),
        ]) {
          await expect(ask()).rejects.toMatchObject({
            code: 'invalid_request',
            status: 400,
            problems: [{ pointer: '/facets/1/interval' }],
          });
        }
        const all = await database.search({ search: { vector: [1, 0] }, ...facet(2), total: true });
        expect(all.total).toEqual({ value: 10_001 });
        expect((all.facets as unknown as [object, { buckets: unknown[] }])[1].buckets).toHaveLength(5_001);
      },
    );

    test('an interval whose bound no double holds is refused', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { n: -1.5e308 }, vector: [1, 0] });
      const facets = [{ column: 'n', type: 'histogram', interval: 1e308 }];
      await expect(database.query({ facets })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/facets/0/interval' }],
      });
    });

    test('follow every write at once', async () => {
      const database = await shared.create();
      const search = { search: { vector: [1, 0] }, total: true, facets: [{ column: 'c' }] };
      const told = ({ total, facets }: Page) => [total, facets];
      const put = (id: number, c: string) => database.put({ id, data: { c }, vector: [1, 0] });
      await put(1, 'x');
      for (let repeat = 0; repeat < 2; repeat++) {
        expect(told(await database.search(search))).toMatchObject([
          { value: 1 },
          [{ values: [{ value: 'x', count: 1 }] }],
        ]);
      }
      await put(2, 'y');
      await put(1, 'y');
      expect(told(await database.search(search))).toMatchObject([
        { value: 2 },
        [{ values: [{ value: 'y', count: 2 }] }],
      ]);
      await database.delete({ ids: [1, 2] });
      expect(told(await database.search(search))).toMatchObject([{ value: 0 }, [{ values: [], missing: 0 }]]);
    });
  });
}
