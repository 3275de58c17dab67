import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { satisfies } from '../../bench/data/predicate.js';
import type { Data, FilterGroup, FilterRule, Operator } from '../../src/schema/index.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { Asking, TestDatabase } from './test-database.js';

/** What a column may hold: `undefined` is a missing column. */
const VALUES = [
  undefined,
  null,
  true,
  false,
  0,
  1,
  -1.5,
  1e300,
  '',
  ' ',
  '1',
  'true',
  'one',
  'One',
  'one two',
  '😀',
  '2026-01-31',
  '2026-01-31T01:30:00.000000001+01:30',
  '2026-01-30T19:00-05:00',
  '2026-01-30T23:59Z',
  '2026-02-29',
];
/** The strings among them. */
const TEXTS = VALUES.filter((value) => typeof value === 'string');
const rule = (operator: Operator, value?: unknown) =>
  ({ column: 'c', operator, ...(value !== undefined && { value }) }) as FilterRule;

/** The rules of all operators, each with the values of `c` that satisfy it, written out by hand. */
const TRUTH: [FilterRule, unknown[]][] = [
  [rule('equals', 1), [1]],
  [rule('equals', '1'), ['1']],
  [rule('equals', true), [true]],
  [rule('equals', 'true'), ['true']],
  [rule('equals', ''), ['']],
  [rule('equals', 0), [0]],
  [rule('equals', false), [false]],
  [rule('greater_than', 0), [1, 1e300]],
  [rule('less_than', 0), [-1.5]],
  [rule('greater_than_or_equals', 1), [1, 1e300]],
  [rule('less_than_or_equals', 0), [0, -1.5]],
  [rule('contains', 'one'), ['one', 'one two']],
  [rule('contains', ''), TEXTS],
  [rule('starts_with', 'one'), ['one', 'one two']],
  [rule('starts_with', ''), TEXTS],
  [rule('ends_with', 'e'), ['true', 'one', 'One']],
  [rule('ends_with', ''), TEXTS],
  [rule('is_empty'), [undefined, null, '']],
  [rule('in', [1]), [1]],
  [rule('in', ['1', true, 1e300, 'absent']), ['1', true, 1e300]],
  [rule('in', ['', 0, false, '😀', 'one']), ['', 0, false, '😀', 'one']],
  [rule('in', ['{', '"', '\\', ',', 'NULL', 'One']), ['One']],
  [
    rule(
      'in',
      Array.from({ length: 1_000 }, (_, at) => at),
    ),
    [0, 1],
  ],
  [rule('before', '2026-01-31'), ['2026-01-30T23:59Z']],
  [rule('after', '2026-01-31T00:00Z'), ['2026-01-31T01:30:00.000000001+01:30']],
  [
    rule('on_or_before', '2026-01-31T02:00+02:00'),
    ['2026-01-31', '2026-01-30T19:00-05:00', '2026-01-30T23:59Z'],
  ],
  [
    rule('on_or_after', '2026-01-31T00:00:00.000Z'),
    ['2026-01-31', '2026-01-31T01:30:00.000000001+01:30', '2026-01-30T19:00-05:00'],
  ],
];
const COMPLEMENT: Partial<Record<Operator, Operator>> = {
  equals: 'not_equals',
  contains: 'not_contains',
  is_empty: 'is_not_empty',
  in: 'not_in',
};

interface Golden {
  matches: { name: string; data: Data; filter: FilterGroup; matches: boolean }[];
}
const golden: Golden = JSON.parse(readFileSync(new URL('../golden/filter.json', import.meta.url), 'utf8'));

/** The operators, alone and in nested groups. */
export function describeFilters(open: OpenDatabases): void {
  describe('filters', () => {
    const shared = SharedDatabases.use(open);

    describe('one operator on a column of every type', () => {
      let database: TestDatabase;
      beforeAll(async () => {
        database = await shared.create();
        await database.upsert(
          VALUES.map((value, at) => ({
            id: at + 1,
            data: { other: 'one', ...(value !== undefined && { c: value }) },
            vector: [1, 0],
          })),
        );
      });

      const found = async (filter: object) => {
        const queried = await database.ids('query', { filter, sort: { column: 'none' } });
        const searched = await database.ids('search', { filter, search: { vector: [1, 0] } });
        expect(searched).toEqual(queried);
        return queried.map((id) => VALUES[Number(id) - 1]);
      };

      test.each(TRUTH)('%j', async (rule, expected) => {
        expect(await found({ rules: [rule] })).toEqual(VALUES.filter((value) => expected.includes(value)));
        const complement = COMPLEMENT[rule.operator];
        if (complement === undefined) return;
        const rest = VALUES.filter((value) => !expected.includes(value));
        expect(await found({ rules: [{ ...rule, operator: complement }] })).toEqual(rest);
      });

      test('a column that no record has is empty everywhere', async () => {
        const column = 'nobody has it';
        expect(await found({ rules: [{ column, operator: 'is_empty' }] })).toHaveLength(VALUES.length);
        expect(await found({ rules: [{ column, operator: 'not_equals', value: 1 }] })).toHaveLength(
          VALUES.length,
        );
        expect(await found({ rules: [{ column, operator: 'is_not_empty' }] })).toEqual([]);
        expect(await found({ rules: [{ column, operator: 'contains', value: '' }] })).toEqual([]);
      });

      test('columns that are special in JavaScript are ordinary', async () => {
        for (const column of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length']) {
          expect(await found({ rules: [{ column, operator: 'is_not_empty' }] })).toEqual([]);
          const other = await shared.create();
          await other.upsert(`{"records":[{"id":1,"data":{"${column}":"x"},"vector":[1,0]}]}`);
          const filter = { rules: [{ column, operator: 'equals', value: 'x' }] };
          const { results } = await other.query({ filter });
          expect(results).toHaveLength(1);
          expect(Object.entries(results[0]!.data)).toEqual([[column, 'x']]);
        }
      });

      test('groups combine their rules', async () => {
        const is = (value: unknown) => rule('equals', value);
        const group = (condition: string, ...rules: object[]) => ({ condition, rules });
        expect(await found(group('OR', is(1), is('one')))).toEqual([1, 'one']);
        expect(await found(group('AND', is(1), is('one')))).toEqual([]);
        const nested = group('AND', group('OR', is(0), is(1), is(true)), rule('greater_than', -1));
        expect(await found(nested)).toEqual([0, 1]);
        expect(await found(group('OR', group('AND', is(1), rule('less_than', 2)), is('')))).toEqual([1, '']);
      });
    });

    test('lists and dates restrict every operation that takes a filter', async () => {
      const database = await shared.create();
      await database.upsert(
        [1, 2, 3, 4].map((n) => ({ id: n, data: { n, on: `2026-01-0${n}` }, vector: [1, 0] })),
      );
      const filter: FilterGroup = {
        condition: 'AND',
        rules: [
          { column: 'n', operator: 'in', value: [2, 3, 4, 'x'] },
          { column: 'on', operator: 'before', value: '2026-01-04T00:00Z' },
        ],
      };
      const search = { vector: [1, 0] };
      const idsOf = (lines: string[]) => lines.map((line) => JSON.parse(line).id).toSorted();
      const restricted: [{ filter?: FilterGroup }, Asking][] = [
        [{ filter }, {}],
        [{}, { forcedFilter: filter }],
      ];
      for (const [given, asking] of restricted) {
        expect((await database.ids('search', { search, ...given }, asking)).toSorted()).toEqual([2, 3]);
        expect((await database.ids('query', { ...given }, asking)).toSorted()).toEqual([2, 3]);
        expect(idsOf(await database.export({ ...given }, asking))).toEqual([2, 3]);
        const counted = await database.search(
          { search, ...given, total: true, facets: [{ column: 'n' }] },
          asking,
        );
        expect(counted.total).toEqual({ value: 2 });
        expect(counted.facets?.[0]).toMatchObject({ values: [{ value: 2 }, { value: 3 }], missing: 0 });
      }
      const explained = await database.search({ search, filter, explain: true });
      expect(explained.results[0]?.explain).toMatchObject({
        filter: { held: true, rules: [{ held: true }, { held: true }] },
      });
      const { changes } = await database.changes({}, { forcedFilter: filter });
      expect(changes.map(({ id, kind }) => [id, kind])).toEqual([
        [2, 'created'],
        [3, 'created'],
      ]);
      expect(await database.delete({ ids: [1] }, { forcedFilter: filter })).toBe(0);
      expect(await database.delete({ filter })).toBe(2);
      expect((await database.ids('query', {})).toSorted()).toEqual([1, 4]);
    });

    test('the golden cases of the predicate hold', async () => {
      const database = await shared.create();
      // A column identifies each case.
      const records = golden.matches.map(({ data }, at) => ({
        id: at + 1,
        data: Object.fromEntries([...Object.entries(data), ['golden case', at]]),
        vector: [1, 0],
      }));
      await database.upsert(records);
      for (const [at, { name, data, filter, matches }] of golden.matches.entries()) {
        // The largest filters that are allowed leave no room for a rule that selects the case.
        const forcedFilter: FilterGroup = {
          condition: 'AND',
          rules: [{ column: 'golden case', operator: 'equals', value: at }],
        };
        const found = await database.query({ filter }, { forcedFilter });
        expect(
          found.results.map(({ id }) => id),
          name,
        ).toEqual(matches ? [at + 1] : []);
        expect(satisfies(data, filter), `the oracle: ${name}`).toBe(matches);
      }
    });

    test.each(seedsOn(open, [1, 2, 3]))(
      'random filters find what the oracle finds (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database, oracle } = await randomDatabase(shared, random, 260);
        const operators = new Set<string>();
        let selective = 0;
        const rounds = timesOn(open, 60, 24);
        for (let round = 0; round < rounds; round++) {
          const filter = randomFilter(random, 4);
          for (const operator of operatorsOf(filter)) operators.add(operator);
          const form = random.pick(RECORD_FORMS);
          const search = { vector: randomVector(random), threshold: random.pick([0, 0.2, 0.5]) };
          const [operation, request] = random.chance(50)
            ? (['search', { filter, search }] as const)
            : (['query', { filter }] as const);
          const expected = oracle.results(request, form);
          if (expected.length > 0 && expected.length < oracle.matches({}, 'integer').length) selective += 1;
          const told = `round ${round}: ${JSON.stringify(request)}`;
          const found = await database.drain(operation, request, {
            form,
            limit: () => random.pick([7, 100]),
          });
          expect(
            found.map(({ id }) => id),
            told,
          ).toEqual(expected.map(({ id }) => id));
          expect(found, told).toEqual(expected);
          const page = await database.ask(operation, { ...request, total: true }, { form });
          expect(page.total, told).toEqual({ value: expected.length });
        }
        expect(operators.size, 'every operator is used').toBe(18);
        expect(selective, 'most filters keep some records and drop others').toBeGreaterThan(rounds / 2);
      },
    );
  });
}

function operatorsOf(node: FilterGroup | FilterRule): string[] {
  return 'rules' in node ? node.rules.flatMap(operatorsOf) : [node.operator];
}
