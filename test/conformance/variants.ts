import { beforeAll, describe, expect, test } from 'vitest';
import type { RecordForm } from '../../src/store/record-store.js';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import type { Operation, TestDatabase } from './test-database.js';

const UUIDS = [
  'ffffffff-0000-4000-8000-000000000001',
  '00000000-0000-4000-8000-000000000002',
  '7fffffff-ffff-4fff-bfff-ffffffffffff',
  '80000000-0000-4000-8000-000000000000',
  '0190a0b2-7c3d-7abc-8def-0123456789ab',
];
/** Integers whose order as texts is another one. */
const IDS = [9, 10, 2, 9_007_199_254_740_991, 100];
const TIMES = { created_at: '2026-01-02', changed_at: '2026-01-03', synced_at: '2026-01-04' };
const NAMES = {
  uuid: ['created_at', 'changed_at', 'synced_at'],
  integer: ['first_seen_time', 'last_changed_time', 'last_seen_time'],
};
const search = { search: { vector: [1, 0], threshold: 0 } };
const REQUESTS: [Operation, object][] = [
  ['search', search],
  ['query', {}],
];

/** The differences between the two variants of the interface. */
export function describeVariants(open: OpenDatabases): void {
  describe('variants', () => {
    const shared = SharedDatabases.use(open);
    let tied: TestDatabase;

    beforeAll(async () => {
      tied = await shared.create();
      const record = (id: number, at: number) => ({
        id,
        uuid: UUIDS[at],
        data: { at },
        timestamps: TIMES,
        vector: [3, 4],
      });
      await tied.upsert(IDS.map(record));
    });

    test.each(REQUESTS)(
      'records that tie in a %s are ordered by the id of the form',
      async (operation, request) => {
        expect(await tied.ids(operation, request, { form: 'uuid' })).toEqual([...UUIDS].sort());
        expect(await tied.ids(operation, request)).toEqual([...IDS].sort((a, b) => a - b));
      },
    );

    test.each(REQUESTS)(
      'pages of 1 of a %s go through ties in the same order',
      async (operation, request) => {
        const limit = () => 1;
        expect(await tied.ids(operation, request, { form: 'uuid', limit })).toEqual([...UUIDS].sort());
        expect(await tied.ids(operation, request, { limit })).toEqual([...IDS].sort((a, b) => a - b));
      },
    );

    test.each(['uuid', 'integer'] as const)(
      'variant %s names times and members in its own way',
      async (form) => {
        const id = form === 'uuid' ? UUIDS[0] : IDS[0];
        const timestamps = Object.fromEntries(
          Object.values(TIMES).map((day, at) => [NAMES[form][at], `${day}T00:00:00.000Z`]),
        );
        const expected = { id, data: { at: 0 }, timestamps };
        expect(await tied.record(UUIDS[0]!, form)).toEqual(expected);
        expect(await tied.record(IDS[0]!, form)).toEqual(expected);
        const filter = { condition: 'AND', rules: [{ column: 'at', operator: 'equals', value: 0 }] };
        expect((await tied.query({ filter }, { form })).results).toEqual([expected]);
        const found = await tied.search({ ...search, filter }, { form });
        expect(found.results).toEqual([{ ...expected, relevance_score: 0.6 }]);
        expect(Object.keys(found.results[0]!.timestamps)).toEqual(NAMES[form]);
      },
    );

    test('a condition is required in variant A, and is AND by default in variant B', async () => {
      const rules = [
        { column: 'at', operator: 'greater_than', value: 0 },
        { column: 'at', operator: 'less_than', value: 2 },
      ];
      for (const [operation, request] of REQUESTS) {
        await expect(
          tied.ask(operation, { ...request, filter: { rules } }, { form: 'uuid' }),
        ).rejects.toMatchObject({
          code: 'invalid_filter',
          status: 400,
          problems: [{ pointer: '/filter', code: 'missing_member' }],
        });
        const nested = { rules: [{ rules }, { condition: 'OR', rules }] };
        for (const filter of [{ rules }, { condition: 'AND', rules }, nested]) {
          expect(await tied.ids(operation, { ...request, filter })).toEqual([IDS[1]]);
        }
      }
    });

    test('a cursor of a search is the score and the id of the last result', async () => {
      const cursorOf = async (form: RecordForm) =>
        (await tied.search({ ...search, pagination: { limit: 2 } }, { form })).pagination.next_cursor;
      expect(await cursorOf('uuid')).toBe(`0.6|${[...UUIDS].sort()[1]}`);
      expect(await cursorOf('integer')).toBe('0.6_9');
    });

    test('a cursor is a position: it may be made by the caller, and its record need not exist', async () => {
      const idsAfter = async (cursor: string, form: RecordForm = 'integer') =>
        (await tied.search({ ...search, pagination: { cursor } }, { form })).results.map(({ id }) => id);
      expect(await idsAfter('0.6_50')).toEqual([100, 9_007_199_254_740_991]);
      expect(await idsAfter('0.600000000_1')).toHaveLength(5);
      expect(await idsAfter('0.600000001_50')).toHaveLength(5);
      expect(await idsAfter('1_1')).toHaveLength(5);
      expect(await idsAfter('0.599999999_1')).toEqual([]);
      expect(await idsAfter('0_1')).toEqual([]);
      expect(await idsAfter('0.6|7fffffff-ffff-4fff-bfff-ffffffffffff', 'uuid')).toEqual([
        '80000000-0000-4000-8000-000000000000',
        'ffffffff-0000-4000-8000-000000000001',
      ]);
    });

    test('the score of the record of a cursor decides where it differs in its last digits only', async () => {
      const idsAfter = async (cursor: string) =>
        (await tied.search({ ...search, pagination: { cursor } })).results.map(({ id }) => id);
      expect(await idsAfter('0.600000001_100')).toEqual([9_007_199_254_740_991]);
      expect(await idsAfter('0.599999999_100')).toEqual([9_007_199_254_740_991]);
      expect(await idsAfter('0.7_100')).toHaveLength(5);
      expect(await idsAfter('0.5_100')).toEqual([]);
    });

    test('a cursor of a query is refused in the other form', async () => {
      for (const [from, to] of [
        ['uuid', 'integer'],
        ['integer', 'uuid'],
      ] as const) {
        for (const [operation, request] of REQUESTS) {
          const first = await tied.ask(operation, { ...request, pagination: { limit: 2 } }, { form: from });
          const pagination = { cursor: first.pagination.next_cursor };
          await expect(tied.ask(operation, { ...request, pagination }, { form: to })).rejects.toMatchObject({
            code: 'invalid_cursor',
            problems: [{ pointer: '/pagination/cursor' }],
          });
        }
      }
    });

    test('a page has 50 records unless the request gives a limit', async () => {
      const database = await shared.create();
      await database.upsert(Array.from({ length: 60 }, (_, i) => ({ id: i + 1, data: {}, vector: [1, 0] })));
      for (const [operation, request] of REQUESTS) {
        const page = await database.ask(operation, request);
        expect(page.results).toHaveLength(50);
        expect(page.pagination).toMatchObject({ limit: 50, has_more: true });
      }
    });
  });
}
