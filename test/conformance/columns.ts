import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import type { OracleRequest } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { Operation, Page, TestDatabase } from './test-database.js';

const NAMES = ['colour', 'size', 'open', 'mixed', 'visited', '__proto__', 'rare', 'never given'];
const SEARCH = { search: { vector: [1, 0], threshold: 0 } };
const OPERATIONS: [Operation, object][] = [
  ['search', SEARCH],
  ['query', {}],
  ['query', { sort: { column: 'long', direction: 'desc' } }],
];

const SEEDS = [21, 22];

/** `columns`: which part of their data results show. */
export function describeColumns(open: OpenDatabases): void {
  describe('columns', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, SEEDS))(
      'are those of the oracle in any request, on any pages (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database, oracle } = await randomDatabase(shared, random, 160);
        for (let round = 0; round < timesOn(open, 40, 12); round++) {
          const form = random.pick(RECORD_FORMS);
          const forcedFilter = random.chance(30) ? randomFilter(random, 1) : undefined;
          const isSearch = random.chance(50);
          const request: OracleRequest = {
            ...(isSearch && { search: { vector: randomVector(random), threshold: random.pick([0, 0.3]) } }),
            ...(random.chance(40) && { filter: randomFilter(random, 2) }),
            ...(!isSearch && random.chance(60) && { sort: { column: random.pick(NAMES) } }),
            columns: NAMES.filter(() => random.chance(30)),
          };
          const explain = random.chance(30);
          const asked = { ...request, ...(explain && { explain }) };
          const asking = {
            form,
            limit: () => random.pick([3, 20, 100]),
            ...(forcedFilter && { forcedFilter }),
          };
          const found = await database.drain(isSearch ? 'search' : 'query', asked, asking);
          for (const result of found) delete result.explain;
          expect(found, JSON.stringify(asked)).toEqual(oracle.results(request, form, forcedFilter));
        }
      },
    );

    test('keep the order of the record, whatever their names are and however they are listed', async () => {
      const database = await shared.create();
      const data = '{"z":1,"10":2,"a\\"b":3,"2":4,"z2":null}';
      await database.upsert(`{"records":[{"id":1,"data":${data},"vector":[1,0]}]}`);
      for (const [operation, request] of OPERATIONS) {
        const columns = ['2', 'none', 'z2', '10', 'a"b', 'z', '2'];
        const options = { form: 'integer' } as const;
        const { reader } = database.databases;
        const { body } =
          operation === 'search'
            ? await reader.search(database.id, { ...SEARCH, ...request, columns }, options)
            : await reader.query(database.id, { ...request, columns }, options);
        expect(Buffer.from(body).toString()).toContain(`"data":${data}`);
      }
    });

    test.each(OPERATIONS)('change nothing else of a %s with %j', async (operation, request) => {
      const database = await filled(shared);
      const asked = {
        ...request,
        filter: { rules: [{ column: 'n', operator: 'less_than', value: 9 }] },
        total: true,
        facets: [{ column: 'kind' }],
        explain: true,
        pagination: { limit: 4 },
      };
      const whole = await database.ask(operation, asked);
      const some = await database.ask(operation, { ...asked, columns: ['kind'] });
      const none = await database.ask(operation, { ...asked, columns: [] });
      expect(without(some)).toEqual(without(whole));
      expect(without(none)).toEqual(without(whole));
      expect(whole.results.map(({ explain }) => explain)).toEqual(some.results.map(({ explain }) => explain));
      expect(some.results.map(({ data }) => data)).toEqual(
        whole.results.map(({ data: { kind } }) => ({ kind })),
      );
      for (const { data } of none.results) expect(data).toEqual({});
      // A cursor continues with other columns.
      const pagination = { limit: 4, cursor: whole.pagination.next_cursor };
      const next = await database.ask(operation, { ...asked, pagination });
      const other = await database.ask(operation, { ...asked, columns: ['n'], pagination });
      expect(without(other)).toEqual(without(next));
    });

    test('are refused if they are no list of names', async () => {
      const database = await filled(shared);
      for (const [columns, pointer] of [
        ['kind', '/columns'],
        [null, '/columns'],
        [['kind', ''], '/columns/1'],
        [[5], '/columns/0'],
        [Array.from({ length: 101 }, (_, at) => `c${at}`), '/columns'],
      ] as const) {
        for (const [operation, request] of OPERATIONS) {
          const asked = async () => await database.ask(operation, { ...request, columns });
          await expect(asked(), pointer).rejects.toMatchObject({
            code: 'invalid_request',
            problems: [{ pointer }],
          });
        }
      }
    });
  });

  describe('pages of some columns', () => {
    const shared = SharedDatabases.use(open, { limits: { ...LIMITS, page_bytes: 3_000 } });

    test.each(OPERATIONS)('of a %s with %j have as many records as fit', async (operation, request) => {
      const database = await filled(shared, 40_000);
      for (const [columns, atLeast, atMost] of [
        [['n', 'kind'], 12, 12],
        [['middle'], 2, 3],
        [['long'], 1, 1],
      ] as const) {
        const ids: unknown[] = [];
        for (let cursor: string | undefined; ; ) {
          const pagination = { limit: 100, ...(cursor && { cursor }) };
          const page = await database.ask(operation, { ...request, columns, pagination });
          cursor = page.pagination.next_cursor;
          ids.push(...page.results.map(({ id }) => id));
          expect(page.results.length).toBeLessThanOrEqual(atMost);
          for (const { data } of page.results) expect(Object.keys(data).sort()).toEqual([...columns].sort());
          if (cursor === undefined) break;
          expect(page.results.length).toBeGreaterThanOrEqual(atLeast);
        }
        expect(new Set(ids).size).toBe(12);
        expect(ids).toHaveLength(12);
      }
    });
  });
}

async function filled(shared: SharedDatabases, length = 10): Promise<TestDatabase> {
  const database = await shared.create();
  await database.upsert(
    Array.from({ length: 12 }, (_, at) => ({
      id: at + 1,
      data: {
        kind: `kind ${at % 3}`,
        middle: 'é'.repeat(500),
        long: `${String.fromCharCode(98 + (at % 5))}${'x'.repeat(length)}`,
        n: at,
      },
      vector: [1, at],
    })),
  );
  return database;
}

/** A page without what columns are about, and without the explanation of the page, which has times. */
function without({ results, explain: _, ...page }: Page): object {
  return { ...page, results: results.map(({ data: _, ...result }) => result) };
}
