import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ErrorCode, ProblemCode } from '../../src/errors.js';
import { LIMITS } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { expectRefusal as refused } from './refusal.js';
import { SharedDatabases } from './shared-databases.js';
import type { Asking, TestDatabase } from './test-database.js';

const golden: { refused: { filter: unknown; problems: { pointer: string }[] }[] } = JSON.parse(
  readFileSync(new URL('../golden/filter.json', import.meta.url), 'utf8'),
);

const search = { vector: [1, 0] };
const rule = { column: 'a', operator: 'equals', value: 1 };

const near = { weight: 0.1, column: 'a', target: 1, scale: 1 };
const of = (members: object) => [near, { ...near, ...members }];
const passing = (filter: object) => [near, { weight: 0.1, filter }];

/** Boosts that are refused, the place, and the code of the problem and of the error. */
const BOOSTS: [boosts: unknown, place: string, kind: ProblemCode, code?: ErrorCode][] = [
  [{}, '', 'wrong_type'],
  [Array(9).fill(near), '', 'invalid_value'],
  [[null], '/0', 'wrong_type'],
  [of({ weight: 1.1 }), '/1/weight', 'invalid_value'],
  [of({ weight: -0.1 }), '/1/weight', 'invalid_value'],
  [of({ weight: '1' }), '/1/weight', 'wrong_type'],
  [of({ weight: 0.95 }), '/1/weight', 'invalid_value'],
  [of({ weight: undefined }), '/1', 'missing_member'],
  [of({ column: '' }), '/1/column', 'invalid_column'],
  [of({ column: 'é'.repeat(129) }), '/1/column', 'invalid_column'],
  [of({ column: undefined }), '/1', 'invalid_value'],
  [of({ time: 'synced_at' }), '/1', 'invalid_value'],
  [of({ column: undefined, time: 'now' }), '/1/time', 'invalid_value'],
  [of({ target: undefined }), '/1', 'missing_member'],
  [of({ target: true }), '/1/target', 'wrong_type'],
  [of({ target: 'soon' }), '/1/target', 'invalid_value'],
  [of({ target: '2026-02-29' }), '/1/target', 'invalid_value'],
  [of({ scale: 0 }), '/1/scale', 'invalid_value'],
  [of({ scale: -1 }), '/1/scale', 'invalid_value'],
  [of({ scale: 'P1D' }), '/1/scale', 'invalid_value'],
  [of({ target: '2026-01-31', scale: 'P1M' }), '/1/scale', 'invalid_value'],
  [of({ target: '2026-01-31', scale: 'PT0S' }), '/1/scale', 'invalid_value'],
  [of({ factor: 2 }), '/1/factor', 'unknown_member'],
  [[{ ...near, filter: { rules: [rule] } }], '/0/column', 'unknown_member'],
  [passing({ rules: [] }), '/1/filter/rules', 'empty_rules', 'invalid_filter'],
  [
    passing({ rules: [{ ...rule, operator: 'is' }] }),
    '/1/filter/rules/0/operator',
    'unknown_operator',
    'invalid_filter',
  ],
  [passing({ rules: Array(1_001).fill(rule) }), '/1/filter/rules/1000', 'too_many_rules', 'invalid_filter'],
  [
    passing({ rules: [{ ...rule, operator: 'before', value: 'x' }] }),
    '/1/filter/rules/0/value',
    'invalid_time',
    'invalid_filter',
  ],
];

/** Requests that are refused: the code, the status and the place of every kind of bad input. */
export function describeRefusedRequests(open: OpenDatabases): void {
  describe('a request is refused', () => {
    const shared = SharedDatabases.use(open);
    let database: TestDatabase;
    let texts: TestDatabase;
    beforeAll(async () => {
      database = await shared.create();
      texts = await shared.create({});
      await database.put({ id: 1, data: { a: 1 }, vector: [1, 0] });
    });

    test.each<[string, object, ErrorCode, string, ProblemCode]>([
      [
        'a limit of 0',
        { search, pagination: { limit: 0 } },
        'invalid_request',
        '/pagination/limit',
        'invalid_value',
      ],
      [
        'a limit of 101',
        { search, pagination: { limit: 101 } },
        'invalid_request',
        '/pagination/limit',
        'invalid_value',
      ],
      [
        'a limit as text',
        { search, pagination: { limit: '5' } },
        'invalid_request',
        '/pagination/limit',
        'wrong_type',
      ],
      [
        'a threshold above 1',
        { search: { ...search, threshold: 1.01 } },
        'invalid_request',
        '/search/threshold',
        'invalid_value',
      ],
      [
        'a threshold below 0',
        { search: { ...search, threshold: -0.1 } },
        'invalid_request',
        '/search/threshold',
        'invalid_value',
      ],
      ['an unknown member', { search, top: 5 }, 'invalid_request', '/top', 'unknown_member'],
      ...BOOSTS.map(
        ([boosts, place, kind, code = 'invalid_request']): [
          string,
          object,
          ErrorCode,
          string,
          ProblemCode,
        ] => [
          `the boosts ${JSON.stringify(boosts)}`.slice(0, 90),
          { search: { ...search, boosts } },
          code,
          `/search/boosts${place}`,
          kind,
        ],
      ),
      [
        'an unfinished word without words',
        { search: { ...search, prefix: true } },
        'invalid_request',
        '/search/prefix',
        'invalid_value',
      ],
      ['no search', {}, 'invalid_request', '', 'missing_member'],
      [
        'text and vector',
        { search: { ...search, text: 'x' } },
        'invalid_request',
        '/search',
        'invalid_value',
      ],
      [
        'a short vector',
        { search: { vector: [1] } },
        'invalid_dimensions',
        '/search/vector',
        'invalid_dimensions',
      ],
      [
        'a long vector',
        { search: { vector: [1, 2, 3] } },
        'invalid_dimensions',
        '/search/vector',
        'invalid_dimensions',
      ],
      [
        'a text without a model',
        { search: { text: 'x' } },
        'invalid_request',
        '/search/text',
        'invalid_value',
      ],
      ['a sort of a search', { search, sort: { column: 'a' } }, 'invalid_request', '/sort', 'unknown_member'],
    ])('a search with %s', (_, request, code, pointer, problem) =>
      refused(database.search(request), code, pointer, problem),
    );

    test('a search with a vector that has no direction', () =>
      refused(database.search({ search: { vector: [0, 0] } }), 'invalid_vector'));

    test('a search by a vector of another length, or without direction, where the database has a model', async () => {
      const refusedVector = (vector: number[], code: 'invalid_dimensions' | 'invalid_vector') =>
        refused(texts.search({ search: { vector } }), code, '/search/vector', code);
      await refusedVector([1, 0], 'invalid_dimensions');
      await refusedVector(Array(384).fill(0), 'invalid_vector');
    });

    test('a search by vector for words without a text', () =>
      refused(
        texts.search({ search: { vector: Array(384).fill(1), lexical: 0.5 } }),
        'invalid_request',
        '/search/lexical',
        'invalid_value',
      ));

    test('a search text that is too long', () =>
      refused(
        texts.search({ search: { text: 'é'.repeat(LIMITS.search_text_bytes / 2 + 1) } }),
        'invalid_request',
        '/search/text',
        'value_too_long',
      ));

    test.each<[object, string, ProblemCode]>([
      [{ sort: { column: 'a', time: 'last_seen_time' } }, '/sort', 'invalid_value'],
      [{ sort: { time: 'synced_at' } }, '/sort/time', 'invalid_value'],
      [{ sort: { column: 'a', direction: 'down' } }, '/sort/direction', 'invalid_value'],
      [{ sort: { column: '' } }, '/sort/column', 'invalid_column'],
      [{ search }, '/search', 'unknown_member'],
      [{ facets: [] }, '/facets', 'invalid_value'],
      [{ facets: [{ column: 'a', limit: 101 }] }, '/facets/0/limit', 'invalid_value'],
      [{ facets: [{ column: 'a', type: 'histogram', interval: 0 }] }, '/facets/0/interval', 'invalid_value'],
      [{ facets: [{ time: 'synced', interval: 'fortnight' }] }, '/facets/0/interval', 'invalid_value'],
      [{ facets: Array(17).fill({ column: 'a' }) }, '/facets', 'invalid_value'],
      [{ total: 1 }, '/total', 'wrong_type'],
    ])('a query with %j', (request, pointer, problem) =>
      refused(database.query(request), 'invalid_request', pointer, problem),
    );

    const both = async (request: object, code: ErrorCode, pointer: string, asking: Asking = {}) => {
      await refused(database.query(request, asking), code, pointer);
      await refused(database.search({ search, ...request }, asking), code, pointer);
    };

    test.each([
      [{ start_time: '2026-01-02', end_time: '2026-01-01' }, '/time_range/start_time'],
      [{ start_time: '2026-01-01T00:00:00' }, '/time_range/start_time'],
      [{ start_time: '2026-02-30' }, '/time_range/start_time'],
      [{ end_time: '01.02.2026' }, '/time_range/end_time'],
      [{ end_time: '2026-01-01T25:00:00Z' }, '/time_range/end_time'],
      [{ end_time: '2026-01-01T00:00:60Z' }, '/time_range/end_time'],
      [{ end_time: 'now' }, '/time_range/end_time'],
    ])('the time range %j', async (time_range, pointer) => {
      await both({ time_range }, 'invalid_time', pointer);
      await refused(database.delete({ time_range }), 'invalid_time', pointer);
      expect(await database.count()).toBe(1);
    });

    test.each([
      [
        'uuid',
        [
          '',
          'x',
          '0.5',
          '0.5|',
          '0.5|42',
          '0.5_42',
          '1.1|0190a0b2-7c3d-7abc-8def-0123456789ab',
          '-0.1|0190a0b2-7c3d-7abc-8def-0123456789ab',
          '0.5|0190a0b2-7c3d-7abc-8def-0123456789a',
          '0.1234567891|0190a0b2-7c3d-7abc-8def-0123456789ab',
        ],
      ],
      [
        'integer',
        [
          '',
          'x',
          '0.5',
          '0.5_',
          '_3',
          '0.5|3',
          '0.5_3_4',
          '1.1_3',
          '1.000000001_3',
          '-0.1_3',
          'NaN_3',
          '1e-1_3',
          ' 0.5_3',
          '0.5_0',
          '0.5_03',
          '0.5_-3',
          '0.5_1.5',
          '0.5_9007199254740992',
          '0.1234567891_3',
          '.5_3',
          '0.5_0190a0b2-7c3d-7abc-8def-0123456789ab',
        ],
      ],
    ] as const)('a malformed cursor of variant %s', async (form, cursors) => {
      for (const cursor of cursors) {
        const asked = database.search({ search, pagination: { cursor } }, { form });
        await refused(asked, 'invalid_cursor', '/pagination/cursor', 'invalid_value');
      }
    });

    test('golden filters', async () => {
      for (const { filter, problems } of golden.refused) {
        await both({ filter }, 'invalid_filter', `/filter${problems[0]!.pointer}`, { form: 'uuid' });
      }
    });

    test.each<[object, string]>([
      [{}, ''],
      [{ ids: [] }, '/ids'],
      [{ ids: [1], filter: { rules: [rule] } }, ''],
      [{ ids: [0] }, '/ids/0'],
      [{ ids: [1, 'x'] }, '/ids/1'],
      [{ ids: [1.5] }, '/ids/0'],
      [{ time_range: {} }, '/time_range'],
      [{ filter: { rules: [] } }, '/filter/rules'],
      [{ filter: { rules: [rule] }, total: true }, '/total'],
    ])('a deletion of %j', async (request, pointer) => {
      const code = pointer.startsWith('/filter') ? 'invalid_filter' : 'invalid_request';
      await refused(database.delete(request), code, pointer);
      expect(await database.count()).toBe(1);
    });

    test.each([
      '2',
      '0190a0b2-7c3d-7abc-8def-0123456789ab',
      '0',
      '-1',
      'x',
      '',
      '1.0',
      '01',
      '9007199254740992',
    ])('the record %j is not found', (id) => refused(database.record(id), 'record_not_found'));

    test('what is in a database that is not there', async () => {
      const { databases } = shared;
      await refused(databases.catalog.describe('none'), 'database_not_found');
      await refused(databases.catalog.drop('none'), 'database_not_found');
      await refused(databases.reader.record('none', '1', { form: 'integer' }, {}), 'database_not_found');
    });
  });
}
