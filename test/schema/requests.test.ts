import { describe, expect, test } from 'vitest';
import { CosiftError, PROBLEM_CODES } from '../../src/errors.js';
import {
  checkDatabaseSettings,
  checkDeleteRequest,
  checkKeyRequest,
  LIMITS,
} from '../../src/schema/index.js';
import { FORMS } from '../helpers/forms.js';

const refusal = (check: () => unknown): CosiftError => {
  try {
    check();
  } catch (error) {
    if (error instanceof CosiftError) return error;
    throw error;
  }
  throw new Error('was taken');
};

const search = { text: 'x' };
const rule = { column: 'a', operator: 'equals', value: 1 };
const listed = { column: 'a', operator: 'in', value: [1] };
const longest = { ...listed, value: Array(1_000).fill(1) };

describe('nothing is coerced, clamped or ignored', () => {
  test.each([
    ['limit as text', { search, pagination: { limit: '5' } }, '/pagination/limit'],
    ['limit with a fraction', { search, pagination: { limit: 1.5 } }, '/pagination/limit'],
    ['limit 0', { search, pagination: { limit: 0 } }, '/pagination/limit'],
    ['limit 101', { search, pagination: { limit: 101 } }, '/pagination/limit'],
    ['limit null', { search, pagination: { limit: null } }, '/pagination/limit'],
    ['threshold 1.1', { search: { text: 'x', threshold: 1.1 } }, '/search/threshold'],
    ['threshold as text', { search: { text: 'x', threshold: '0.2' } }, '/search/threshold'],
    ['a text that is a number', { search: { text: 5 } }, '/search/text'],
    ['an empty text', { search: { text: '' } }, '/search/text'],
    ['a member from nowhere', { search, top_k: 5 }, '/top_k'],
    ['a column without a name', { search, columns: ['a', ''] }, '/columns/1'],
    ['a column that is no list', { search, columns: 'a' }, '/columns'],
    ['101 columns', { search, columns: Array(101).fill('a') }, '/columns'],
    ['a facet that is no object', { search, facets: ['a'] }, '/facets/0'],
    ['a facet of a type that is no text', { search, facets: [{ column: 'a', type: 5 }] }, '/facets/0/type'],
    ['a facet of nothing', { search, facets: [{}] }, '/facets/0'],
    ['a member named __proto__', JSON.parse('{"search":{"text":"x"},"__proto__":{}}'), '/__proto__'],
    ['no search', {}, ''],
    ['neither text nor vector', { search: { threshold: 0.2 } }, '/search'],
    ['text and vector', { search: { text: 'x', vector: [1] } }, '/search'],
    ['no object', [], ''],
    ['null', null, ''],
  ])('%s', (_, body, pointer) => {
    const { code, problems } = refusal(() => FORMS.integer.search(body));
    expect(code).toBe('invalid_request');
    expect(problems.map((problem) => problem.pointer)).toContain(pointer);
  });

  test('the request itself stays as it was', () => {
    const body = { search: { text: 'x' }, pagination: {} };
    FORMS.integer.search(body);
    expect(body).toEqual({ search: { text: 'x' }, pagination: {} });
  });
});

describe('a slip of the keyboard is met with what was probably meant', () => {
  test.each([
    ['member', () => FORMS.integer.search({ search, filters: {} }), 'filter'],
    ['nested member', () => FORMS.integer.search({ search: { text: 'x', treshold: 0 } }), 'threshold'],
    ['required member', () => FORMS.integer.search({ serach: search }), 'search'],
    ['one of two members', () => FORMS.integer.search({ search: { txt: 'x' } }), 'text'],
    [
      'member of a rule',
      () =>
        FORMS.integer.search({ search, filter: { rules: [{ colunm: 'a', operator: 'equals', value: 1 }] } }),
      'column',
    ],
    [
      'member that tells rules apart',
      () =>
        FORMS.integer.search({ search, filter: { rules: [{ column: 'a', operater: 'equals', value: 1 }] } }),
      'operator',
    ],
    [
      'member of a group',
      () => FORMS.integer.search({ search, filter: { condition: 'AND', rule: [rule] } }),
      'rules',
    ],
    [
      'operator',
      () => FORMS.integer.search({ search, filter: { rules: [{ ...rule, operator: 'starts-with' }] } }),
      'starts_with',
    ],
    ['condition', () => FORMS.integer.search({ search, filter: { condition: 'or', rules: [rule] } }), 'OR'],
    [
      'type of a facet',
      () => FORMS.integer.search({ search, facets: [{ column: 'uuid', type: 'histgram', interval: 5 }] }),
      'histogram',
    ],
    ['action', () => checkKeyRequest({ name: 'k', actions: ['serach'], databases: '*' }), 'search'],
    ['setting', () => checkDatabaseSettings({ dimension: 3 }), 'dimensions'],
  ])('%s', (_, check, meant) => {
    expect(refusal(check).detail).toContain(`did you mean "${meant}"?`);
  });

  test('once, and not as a member that is lacking too', () => {
    const misspelt = { column: 'a', operater: 'equals', value: 1 };
    expect(refusal(() => FORMS.integer.search({ search, filter: { rules: [misspelt] } })).problems).toEqual([
      {
        pointer: '/filter/rules/0/operater',
        code: 'unknown_member',
        detail: 'is not a known member; did you mean "operator"?',
      },
    ]);
  });

  test('but not where the member is there as well', () => {
    const both = { search: { text: 'x', vector: [1], txt: 'x' } };
    expect(refusal(() => FORMS.integer.search(both)).problems).toContainEqual({
      pointer: '/search',
      code: 'invalid_value',
      detail: 'must have exactly one of "text", "vector", "like"',
    });
  });
});

describe('every problem has a code of the documented list', () => {
  const filter = (rule: unknown) => () => FORMS.integer.query({ filter: rule });
  const long = 'x'.repeat(LIMITS.filter_value_bytes + 1);
  test.each([
    ['unknown_member', '/top_k', () => FORMS.integer.search({ search, top_k: 5 })],
    ['missing_member', '', () => FORMS.integer.search({})],
    ['missing_member', '/filter/rules/0', filter({ rules: [{ column: 'a', value: 1 }] })],
    ['missing_member', '/filter', () => FORMS.uuid.query({ filter: { rules: [rule] } })],
    ['wrong_type', '', () => FORMS.integer.search([])],
    ['wrong_type', '/search/text', () => FORMS.integer.search({ search: { text: 5 } })],
    ['wrong_type', '/filter/rules/0/operator', filter({ rules: [{ ...rule, operator: 2 }] })],
    ['wrong_type', '/filter/rules/0/value', filter({ rules: [{ ...rule, value: null }] })],
    ['wrong_type', '/databases', () => checkKeyRequest({ name: 'k', actions: ['search'], databases: 5 })],
    [
      'invalid_value',
      '/search/threshold',
      () => FORMS.integer.search({ search: { text: 'x', threshold: 2 } }),
    ],
    ['invalid_value', '/search/text', () => FORMS.integer.search({ search: { text: '' } })],
    ['invalid_value', '/search', () => FORMS.integer.search({ search: { text: 'x', vector: [1] } })],
    ['invalid_value', '', () => checkDeleteRequest({})],
    ['invalid_value', '/actions/0', () => checkKeyRequest({ name: 'k', actions: ['x'], databases: '*' })],
    ['invalid_column', '/filter/rules/0/column', filter({ rules: [{ ...rule, column: '' }] })],
    ['invalid_column', '/filter/rules/0/column', filter({ rules: [{ ...rule, column: 'a\u0000' }] })],
    ['unknown_operator', '/filter/rules/0/operator', filter({ rules: [{ ...rule, operator: 'like' }] })],
    ['unknown_condition', '/filter/condition', filter({ condition: 'XOR', rules: [rule] })],
    ['empty_rules', '/filter/rules', filter({ rules: [] })],
    ['unexpected_value', '/filter/rules/0/value', filter({ rules: [{ ...rule, operator: 'is_empty' }] })],
    ['value_too_long', '/filter/rules/0/value', filter({ rules: [{ ...rule, value: long }] })],
    ['value_too_long', '/filter/rules/0/value/1', filter({ rules: [{ ...listed, value: ['x', long] }] })],
    [
      'wrong_type',
      '/filter/rules/0/value/3',
      filter({ rules: [{ ...listed, value: [1, 'x', true, null] }] }),
    ],
    ['invalid_value', '/filter/rules/0/value', filter({ rules: [{ ...listed, value: [] }] })],
    [
      'invalid_value',
      '/filter/rules/0/value',
      filter({ rules: [{ ...listed, value: Array(1_001).fill(1) }] }),
    ],
    ['too_many_values', '/filter/rules/10/value', filter({ rules: Array(500).fill(longest) })],
    [
      'invalid_time',
      '/filter/rules/0/value',
      filter({ rules: [{ ...rule, operator: 'after', value: 'now' }] }),
    ],
    [
      'invalid_time',
      '/filter/rules/0/value',
      () => {
        const late = { rules: [{ ...rule, operator: 'before', value: '9999-12-31T23:59-00:01' }] };
        checkKeyRequest({ name: 'k', actions: ['search'], databases: '*', filter: late });
      },
    ],
    [
      'unknown_operator',
      '/filter/rules/1/operator',
      filter({
        rules: [
          { ...rule, operator: 'after', value: 'now' },
          { ...rule, operator: 'like' },
        ],
      }),
    ],
    ['wrong_type', '/filter/rules/0/value', filter({ rules: [{ ...rule, value: Array(10_001).fill(1) }] })],
    ['too_many_rules', '/filter/rules/1000', filter({ rules: Array(LIMITS.filter_rules + 1).fill(rule) })],
  ])('%s at %s', (code, pointer, check) => {
    const { problems } = refusal(check);
    expect(problems).toContainEqual({ pointer, code, detail: expect.any(String) });
    for (const problem of problems) expect(Object.keys(PROBLEM_CODES)).toContain(problem.code);
  });

  test('all of them are told beside the longest vector', () => {
    const vector = Array.from({ length: 4_096 }, (_, at) => at);
    const { problems } = refusal(() =>
      FORMS.integer.search({ search: { vector, threshold: 2 }, top_k: 5, explain: 1 }),
    );
    expect(problems.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/explain',
      '/search/threshold',
      '/top_k',
    ]);
  });
});

describe('limits', () => {
  const nested = (depth: number): unknown =>
    depth === 1 ? { rules: [rule] } : { rules: [nested(depth - 1)] };

  test('a filter of the maximum depth is valid, a deeper one is not', () => {
    expect(() => FORMS.integer.query({ filter: nested(LIMITS.filter_depth) })).not.toThrow();
    expect(refusal(() => FORMS.integer.query({ filter: nested(LIMITS.filter_depth + 1) })).code).toBe(
      'invalid_filter',
    );
  });

  test('1,000 rules are valid, 1,001 are not', () => {
    const rules = Array.from({ length: LIMITS.filter_rules }, () => rule);
    expect(() => FORMS.integer.query({ filter: { rules } })).not.toThrow();
    expect(refusal(() => FORMS.integer.query({ filter: { rules: [...rules, rule] } })).code).toBe(
      'invalid_filter',
    );
  });

  test('texts count in bytes of UTF-8', () => {
    const taken = 'é'.repeat(LIMITS.search_text_bytes / 2);
    expect(() => FORMS.integer.search({ search: { text: taken } })).not.toThrow();
    expect(refusal(() => FORMS.integer.search({ search: { text: `${taken}é` } })).problems).toEqual([
      { pointer: '/search/text', code: 'value_too_long', detail: 'has 8002 bytes, at most 8000 are taken' },
    ]);
  });

  test('a body full of faults names a bounded number of them', () => {
    const rules = Array.from({ length: 300 }, () => ({ column: 1, operator: 2 }));
    const { problems } = refusal(() => FORMS.integer.query({ filter: { rules } }));
    expect(problems.length).toBeGreaterThan(1);
    expect(problems.length).toBeLessThanOrEqual(20);
  });
});

describe('either ids or criteria to delete by', () => {
  test.each([
    [{}],
    [{ ids: [] }],
    [{ ids: [1], filter: { rules: [rule] } }],
    [{ ids: ['1', true] }],
    [{ time_range: {} }],
  ])('refuses %j', (body) => {
    expect(refusal(() => checkDeleteRequest(body)).status).toBe(400);
  });

  test.each([
    [{ ids: [1, '0190a0b2-7c3d-7abc-8def-0123456789ab'] }],
    [{ filter: { rules: [rule] } }],
    [{ time_range: { end_time: '2026-01-01' } }],
  ])('takes %j', (body) => {
    expect(checkDeleteRequest(body)).toBe(body);
  });
});

describe('opt-in members', () => {
  test.each([
    [{ total: true }],
    [{ facets: [{ column: 'a' }, { column: 'a', type: 'values', limit: 5 }] }],
    [{ facets: [{ column: 'a', type: 'histogram', interval: 0.5 }] }],
    [{ facets: [{ time: 'synced', interval: 'month' }] }],
    [{ explain: true }],
    [{ sort: { column: 'a', direction: 'desc' } }],
    [{ sort: { time: 'last_seen_time' } }],
  ])('takes %j', (members) => {
    expect(() => FORMS.integer.query(members)).not.toThrow();
  });

  test.each([
    [{ facets: [{ column: 'a', type: 'histogram', interval: 0 }] }, '/facets/0/interval'],
    [{ facets: [{ time: 'synced', interval: 'fortnight' }] }, '/facets/0/interval'],
    [{ facets: [{ column: 'a', limit: 101 }] }, '/facets/0/limit'],
    [{ facets: [] }, '/facets'],
    [{ sort: { column: 'a', time: 'last_seen_time' } }, '/sort'],
    [{ sort: { time: 'synced_at' } }, '/sort/time'],
    [{ total: 1 }, '/total'],
  ])('refuses %j', (members, pointer) => {
    const { problems } = refusal(() => FORMS.integer.query(members));
    expect(problems.map((problem) => problem.pointer)).toContain(pointer);
  });
});
