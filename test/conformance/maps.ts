import { beforeAll, describe, expect, test } from 'vitest';
import { checkMapRequest, type MapPoint, type Points } from '../../src/schema/index.js';
import { checkServiceSchema } from '../../src/server/variants/schemas.js';
import { FORMS } from '../helpers/forms.js';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import { type Asking, pageOptions, parse, type TestDatabase } from './test-database.js';

type Matches = Points;

const search = { vector: [1, 1, 1, 1], threshold: 0.2 };

/** Matches as points on the plane of the two principal axes of their vectors. */
export function describeMaps(open: OpenDatabases): void {
  describe('a map', () => {
    const shared = SharedDatabases.use(open);
    let database: TestDatabase;

    const mapOf = async (request: object, asking: Asking = {}, of = database): Promise<Matches> => {
      const { form = 'integer' } = asking;
      const checked = FORMS[form].map(request);
      const { body } = await of.databases.reader.map(of.id, checked, pageOptions(asking));
      const map = parse<Matches>(body);
      checkServiceSchema(FORMS[form].points, map);
      return map;
    };

    beforeAll(async () => {
      database = await shared.create({ dimensions: 4 });
      await database.upsert(
        Array.from({ length: 60 }, (_, at) => ({
          id: at + 1,
          data: {
            side: at % 2 === 0 ? 'left' : 'right',
            step: at,
            'a"b': null,
            ...(at === 0 && { odd: 'é"\n' }),
          },
          // Most of what differs is along the first axis, less along the second, nearly nothing along the others.
          vector: [at % 2 === 0 ? 2 : 6, 3 + (at % 5) / 3, 3, 3 + (at % 7) / 1_000],
        })),
      );
    });

    test('has the matches of the search in their order, with their scores and the asked columns', async () => {
      const results = await database.drain('search', { search });
      const { points, has_more } = await mapOf({ search, columns: ['side', 'odd', 'no such column'] });
      expect(has_more).toBe(false);
      expect(points).toHaveLength(60);
      expect(points.map(({ x: _, y: __, ...rest }) => rest)).toEqual(
        results.map(({ id, relevance_score, data: { side, odd } }) => ({
          id,
          relevance_score,
          data: { side, ...(odd !== undefined && { odd }) },
        })),
      );
    });

    test('shows what differs most along x, and what differs second most along y', async () => {
      const { points, variance } = await mapOf({ search, columns: ['side', 'step'] });
      const [first = 0, second = 0] = variance;
      expect(first).toBeGreaterThan(0.7);
      expect(second).toBeGreaterThan(0.01);
      expect(first + second).toBeGreaterThan(0.999);
      const mean = (of: 'x' | 'y') => points.reduce((sum, point) => sum + point[of], 0) / points.length;
      expect(Math.abs(mean('x'))).toBeLessThan(1e-5);
      expect(Math.abs(mean('y'))).toBeLessThan(1e-5);
      // The axis points to where its largest component grows.
      for (const { x, data } of points) expect(x > 0).toBe(data.side === 'right');
    });

    test('has the same places in any order, form and operation', async () => {
      const placesOf = ({ points }: Matches) =>
        points.map(({ data, x, y }) => [data.step, x, y]).sort(([a], [b]) => Number(a) - Number(b));
      const columns = ['step'];
      const searched = placesOf(await mapOf({ search, columns }));
      const other = { vector: [1, 9, 1, 9], threshold: 0 };
      expect(placesOf(await mapOf({ search: other, columns }))).toEqual(searched);
      expect(placesOf(await mapOf({ columns }))).toEqual(searched);
      expect(placesOf(await mapOf({ columns }, { form: 'uuid' }))).toEqual(searched);
    });

    test('has only what passes the filter, the time range and the forced filter', async () => {
      const rule = (value: string) => ({ column: 'side', operator: 'equals', value }) as const;
      const right = { condition: 'AND', rules: [rule('right')] } as const;
      expect((await mapOf({ search, filter: right })).points).toHaveLength(30);
      const forced = await mapOf(
        { search, columns: ['side'] },
        { forcedFilter: { ...right, rules: [rule('left')] } },
      );
      expect(new Set(forced.points.map(({ data }) => data.side))).toEqual(new Set(['left']));
      expect((await mapOf({ time_range: { end_time: '2000-01-01' } })).points).toEqual([]);
    });

    test('has points where nothing differs, and none where nothing matches', async () => {
      const only = (value: number) => ({
        filter: { condition: 'AND', rules: [{ column: 'step', operator: 'less_than', value }] },
      });
      expect(await mapOf(only(0))).toEqual({ points: [], variance: [0, 0], has_more: false });
      expect((await mapOf(only(1))).points).toMatchObject([{ id: 1, x: 0, y: 0 }]);
      const { points, variance } = await mapOf(only(2));
      expect(variance).toEqual([1, 0]);
      const [a, b] = points as [MapPoint, MapPoint];
      expect(a.x).toBeCloseTo(-b.x, 5);
      expect([a.y, b.y]).toEqual([0, 0]);
    });

    test('is refused for a request that is not valid, and ends with its signal', async () => {
      expect(() => checkMapRequest({ pagination: { limit: 1 } })).toThrow(/pagination/);
      expect(() => checkMapRequest({ columns: [''] })).toThrow(/columns/);
      await expect(mapOf({ search: { vector: [1] } })).rejects.toMatchObject({ code: 'invalid_dimensions' });
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(mapOf({ search }, { signal })).rejects.toThrow('enough');
    });

    test('has at most 2,000 points, and says when there are more matches', async () => {
      const many = await shared.create({ dimensions: 1 });
      for (let from = 1; from <= 2_001; from += 1_000) {
        const length = Math.min(1_000, 2_002 - from);
        const records = Array.from({ length }, (_, at) => ({ id: from + at, data: {}, vector: [1] }));
        await many.upsert(records);
      }
      const { points, has_more } = await mapOf({}, {}, many);
      expect([points.length, has_more]).toEqual([2_000, true]);
      expect(points.every(({ x, y }) => x === 0 && y === 0)).toBe(true);
    });
  });
}
