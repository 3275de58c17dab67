import { beforeAll, describe, expect, test } from 'vitest';
import type { FilterGroup } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import type { Operation, TestDatabase } from './test-database.js';

const FILTER: FilterGroup = {
  condition: 'OR',
  rules: [
    { column: 'size', operator: 'less_than', value: 4 },
    {
      condition: 'AND',
      rules: [
        { column: 'colour', operator: 'equals', value: 'red' },
        { column: 'size', operator: 'is_not_empty' },
      ],
    },
  ],
};
const FORCED: FilterGroup = { condition: 'AND', rules: [{ column: 'team', operator: 'equals', value: 'a' }] };
const REQUESTS: [Operation, object][] = [
  ['search', { search: { vector: [1, 0], threshold: 0 } }],
  ['query', {}],
];

/** What `explain` contains: which rules held, and nothing about a forced filter. */
export function describeExplain(open: OpenDatabases): void {
  describe('explain', () => {
    const shared = SharedDatabases.use(open);
    let database: TestDatabase;

    beforeAll(async () => {
      database = await shared.create();
      await database.upsert(
        Array.from({ length: 24 }, (_, at) => ({
          id: at + 1,
          data: { size: at % 8, colour: at % 2 === 0 ? 'red' : 'blue', team: at % 3 === 0 ? 'a' : 'b' },
          vector: [1, at / 10],
        })),
      );
    });

    test.each(REQUESTS)('a %s tells which rules held for each result', async (operation, request) => {
      const plain = await database.ask(operation, { ...request, filter: FILTER });
      const page = await database.ask(operation, { ...request, filter: FILTER, explain: true });
      expect(page.explain).toMatchObject({ records: 24 });
      expect(page.results).toHaveLength(18);
      for (const { data, explain } of page.results) {
        const small = Number(data.size) < 4;
        const red = data.colour === 'red';
        expect(explain).toEqual({
          filter: {
            pointer: '',
            held: true,
            rules: [
              { pointer: '/rules/0', held: small },
              {
                pointer: '/rules/1',
                held: red,
                rules: [
                  { pointer: '/rules/1/rules/0', held: red },
                  { pointer: '/rules/1/rules/1', held: true },
                ],
              },
            ],
          },
        });
      }
      // The page itself is the same.
      expect(plain).not.toHaveProperty('explain');
      const { explain: _, ...rest } = page;
      expect({ ...rest, results: page.results.map(({ explain: _, ...result }) => result) }).toEqual(plain);
    });

    test.each(REQUESTS)(
      'a %s without a filter has nothing to tell of a result',
      async (operation, request) => {
        const { results, explain } = await database.ask(operation, { ...request, explain: true });
        expect(explain).toMatchObject({ records: 24 });
        for (const result of results) expect(result.explain).toEqual({});
      },
    );

    test.each(REQUESTS)('a %s tells nothing of a forced filter', async (operation, request) => {
      const forcedFilter = FORCED;
      const alone = await database.ask(operation, { ...request, explain: true }, { forcedFilter });
      expect(alone.results).toHaveLength(8);
      for (const result of alone.results) expect(result.explain).toEqual({});
      expect(alone.explain, 'records that are hidden do not exist').toMatchObject({ records: 8 });
      const both = await database.ask(
        operation,
        { ...request, filter: FILTER, explain: true },
        { forcedFilter },
      );
      expect(both.explain).toMatchObject({ records: 8 });
      expect(both.results.length).toBeGreaterThan(0);
      for (const { data, explain } of both.results) {
        expect(data.team).toBe('a');
        expect((explain as { filter: { rules: unknown[] } }).filter.rules).toHaveLength(2);
        expect(JSON.stringify(explain)).not.toContain('team');
      }
      for (const [name, value] of numbersOf(both.explain)) {
        if (!name.includes('times'))
          expect(value, `${name} counts visible records only`).toBeLessThanOrEqual(8);
      }
    });
  });
}

/** Every number in a value with the path to it. */
function numbersOf(value: unknown, path = ''): [string, number][] {
  if (typeof value === 'number') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => numbersOf(member, `${path}/${name}`));
}
