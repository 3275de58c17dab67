import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { CosiftError, type Problem } from '../../src/errors.js';
import { PATTERN_MEANINGS } from '../../src/schema/problems-of.js';
import {
  checkServiceSchema,
  SERVICE_COMPONENTS,
  type ServiceComponent,
} from '../../src/server/variants/schemas.js';
import { OPERATIONS } from '../../src/server/variants/variants.js';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

const RULES: Json[] = [
  { column: 'a', operator: 'equals', value: 1 },
  { condition: 'OR', rules: [{ column: 'a', operator: 'is_empty' }] },
];
const FILTER = { condition: 'AND', rules: RULES };
const RANGE = { start_time: '2026-01-01', end_time: '2026-01-02' };
const FACETS: Json[] = [
  { column: 'a', type: 'values', limit: 5 },
  { column: 'a', type: 'histogram', interval: 5 },
  { time: 'created', interval: 'day' },
];
const LISTING = {
  filter: FILTER,
  time_range: RANGE,
  pagination: { limit: 5, cursor: '0.5_1' },
  facets: FACETS,
};
const SEARCH = { search: { text: 'x', threshold: 0.5 }, passages: true, ...LISTING };
const SEARCHES: Json[] = [
  SEARCH,
  { search: { vector: [1, 2] } },
  { search: { vector: [1, 2], text: 'x', lexical: 0.5, prefix: true }, highlights: true },
];

/** Valid requests with every member. */
const REQUESTS: Partial<Record<ServiceComponent, Json[]>> = {
  SearchRequestA: SEARCHES,
  SearchRequestB: SEARCHES,
  QueryRequestA: [{ ...LISTING, sort: { column: 'a', direction: 'asc' } }, { sort: { time: 'created_at' } }],
  QueryRequestB: [{ ...LISTING, sort: { column: 'a' } }, { sort: { time: 'last_seen_time' } }],
  DeleteRequest: [
    { ids: [1, '0190a0b2-7c1e-7f2a-8a4e-0c8d4b1f2a3c', 'key:key:\n'] },
    { filter: FILTER, time_range: RANGE },
  ],
  WebhookRequest: [{ url: 'https://example.org/', after: 1 }],
  DatabaseSettings: [
    { embed: { columns: ['a', 'b'] }, model: 'm', lexical: true },
    { dimensions: 3, formats: { price: '0.00' } },
  ],
  ReembeddingRequest: [{ model: 'm' }],
  KeyRequest: [
    { name: 'k', actions: ['search', 'records.read'], databases: ['a', 'b'], filter: FILTER },
    { name: 'k', actions: ['search'], databases: '*', expires_at: '2030-01-01' },
  ],
};

/** The bodies that schemas check. The engine checks batches of records. */
const BODIES = [
  ...new Set(
    Object.values(OPERATIONS).flatMap((operation) =>
      operation.body !== undefined && operation.body in REQUESTS ? [operation.body] : [],
    ),
  ),
];

const LONG = 'x'.repeat(20_000);
const BAD: readonly Json[] = [
  null,
  true,
  -1,
  0,
  0.5,
  1e9,
  '',
  ' ',
  'BAD\u0001',
  LONG,
  [],
  ['a', 'a'],
  [0],
  {},
  { x: 1 },
];

/** Every request that differs from `value` in one place. */
function* mutations(value: Json): Generator<Json> {
  yield* BAD;
  if (Array.isArray(value)) {
    yield [...value, value[0] as Json];
    yield Array<Json>(5_000).fill(value[0] as Json);
    for (const [i, item] of value.entries()) for (const other of mutations(item)) yield value.with(i, other);
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, unknown: 1 };
    for (const [name, member] of Object.entries(value)) {
      const { [name]: _, ...rest } = value;
      yield rest;
      yield { ...rest, [`${name}x`]: member };
      yield { ...rest, [`${name}\u0001`]: member };
      for (const other of mutations(member)) yield { ...value, [name]: other };
    }
  }
}

function problemsIn(name: ServiceComponent, body: Json): readonly Problem[] {
  try {
    checkServiceSchema(name, body);
  } catch (error) {
    if (error instanceof CosiftError) return error.problems;
    throw error;
  }
  return [];
}

/** The sentences that follow a pointer. */
const SENTENCES = [
  /^is (?:null|array|object|true|false|-?[\d.e+]+|"(?:[^"\\]|\\.)*"), must be \S.*$/,
  /^is "(?:[^"\\]|\\.)*"; did you mean "\w+(\.\w+)?"\?$/,
  /^is (?:null|array|object|string|number|boolean), must be of type \w+( or \w+)*$/,
  /^must be (?:one of )?"[^"]+"(, "[^"]+")*$/,
  /^must not be empty$/,
  /^is not a name for a column$/,
  /^must be absent, because "\w+" takes no value$/,
  /^lacks the member "\w+"$/,
  /^is not a known member; (?:did you mean "\w+"\?|known: \w+(, \w+)*)$/,
  /^has \d+ (?:characters|items), at most \d+ are allowed$/,
  /^has \S+ twice, as items \d+ and \d+$/,
  /^must have exactly one of "\w+"(, "\w+")+$/,
  /^needs either "ids", or at least one of "filter" and "time_range"$/,
];

describe.each(BODIES)('%s', (name) => {
  const requests = REQUESTS[name] as Json[];

  test('takes the valid requests', () => {
    for (const request of requests) expect(problemsIn(name, request)).toEqual([]);
  });

  test('every problem of a request that differs in one place is a plain sentence about a place', () => {
    const seen = new Map<string, string>();
    for (const request of requests) {
      for (const body of mutations(request)) {
        for (const { pointer, detail } of problemsIn(name, body)) seen.set(detail, pointer);
      }
    }
    expect(seen.size).toBeGreaterThan(5);
    const others = [...seen].filter(([detail]) => !SENTENCES.some((sentence) => sentence.test(detail)));
    expect(others).toEqual([]);
    for (const detail of seen.keys()) expect(detail.length).toBeLessThan(400);
  });
});

test('the mutations violate every keyword that the schemas of requests use', () => {
  const violated = new Set<string>();
  const ajv = new Ajv2020({ allErrors: true, strict: false, discriminator: true, validateFormats: false });
  ajv.addSchema({ $id: 'all', components: { schemas: SERVICE_COMPONENTS } });
  for (const name of BODIES) {
    const validate = ajv.compile({ $ref: `all#/components/schemas/${name}` });
    for (const request of REQUESTS[name] as Json[]) {
      for (const body of mutations(request)) {
        if (!validate(body)) for (const { keyword } of validate.errors ?? []) violated.add(keyword);
      }
    }
  }
  const used = new Set<string>();
  const walked = new Set<unknown>();
  const walk = (schema: unknown): void => {
    if (typeof schema !== 'object' || schema === null || walked.has(schema)) return;
    walked.add(schema);
    if (Array.isArray(schema)) schema.forEach(walk);
    for (const [keyword, value] of Array.isArray(schema) ? [] : Object.entries(schema)) {
      if (keyword === '$ref') walk(SERVICE_COMPONENTS[String(value).split('/').at(-1) as ServiceComponent]);
      else if (keyword === 'properties') Object.values(value as object).forEach(walk);
      else if (!ANNOTATIONS.has(keyword)) {
        if (!APPLICATORS.has(keyword)) used.add(keyword);
        // Their values hold names of members, not schemas.
        if (keyword !== 'discriminator' && keyword !== 'dependentRequired') walk(value);
      }
    }
  };
  for (const name of BODIES) walk(SERVICE_COMPONENTS[name]);
  expect(used.size).toBeGreaterThan(12);
  expect([...used].filter((keyword) => !violated.has(keyword))).toEqual([]);
});

const ANNOTATIONS = new Set(['description', 'examples', 'format']);
// `not` is used only inside of `if`, so it causes no problem itself.
const APPLICATORS = new Set(['items', 'if', 'then', 'else', 'not']);

test('every pattern of a schema has a meaning', () => {
  const patterns = [...JSON.stringify(SERVICE_COMPONENTS).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)];
  expect(patterns.length).toBeGreaterThan(10);
  for (const [, pattern] of patterns) expect(PATTERN_MEANINGS).toHaveProperty([JSON.parse(String(pattern))]);
});

test.each([
  [
    'KeyRequest',
    { name: 'k', actions: ['search', 'search'], databases: '*' },
    '/actions',
    'has "search" twice, as items 0 and 1',
  ],
  [
    'KeyRequest',
    { name: 'k', actions: ['search'], databases: ['a b'] },
    '/databases/0',
    'is "a b", must be the id of a database: 1 to 64 of a-z 0-9 _ -',
  ],
  [
    'KeyRequest',
    { name: 'k', actions: ['search'], databases: 'a' },
    '/databases',
    'is "a", must be "*" or an array',
  ],
  [
    'KeyRequest',
    { name: 'k', actions: ['search'], databases: 5 },
    '/databases',
    'is 5, must be "*" or an array',
  ],
  [
    'QueryRequestB',
    { filter: { rules: [{ column: 'a', operator: 'is_empty', value: true }] } },
    '/filter/rules/0/value',
    'must be absent, because "is_empty" takes no value',
  ],
  [
    'QueryRequestB',
    { filter: { rules: [{ condition: 'OR', column: 'a', operator: 'equals', value: 1 }] } },
    '/filter/rules/0/condition',
    'is not a known member; known: column, operator, value',
  ],
  [
    'QueryRequestB',
    { filter: { rules: [{ condition: 'OR', rule: [] }] } },
    '/filter/rules/0/rule',
    'is not a known member; did you mean "rules"?',
  ],
  [
    'DatabaseChanges',
    { lexical: { columns: { a: 1.5 } } },
    '/lexical/columns/a',
    'is 1.5, must be an integer or null',
  ],
  ['DeleteRequest', { ids: [1, 0] }, '/ids/1', 'is 0, must be from 1 to 9007199254740991'],
  ['DeleteRequest', { ids: [1, 'x'] }, '/ids/1', 'is "x", must be a UUID with hyphens, or key: and a key'],
  [
    'DeleteRequest',
    { ids: [1, 'key:'] },
    '/ids/1',
    'is "key:", must be a UUID with hyphens, or key: and a key',
  ],
  ['DeleteRequest', { ids: [1, null] }, '/ids/1', 'is null, must be an integer or a string or an object'],
  [
    'WebhookRequest',
    { url: 'ftp://a' },
    '/url',
    'is "ftp://a", must be a URL of http or https without spaces',
  ],
  [
    'QueryRequestB',
    { facets: [{ column: 'a', type: 'histogram', interval: 0 }] },
    '/facets/0/interval',
    'is 0, must be greater than 0',
  ],
  ['ReembeddingRequest', { model: 'm'.repeat(300) }, '/model', 'has 300 characters, at most 256 are allowed'],
  [
    'WebhookRequest',
    { url: 'x'.repeat(100) },
    '/url',
    `is "${'x'.repeat(64)}…", must be a URL of http or https without spaces`,
  ],
] as const)('%s %j: %s %s', (name, body, pointer, detail) => {
  expect(problemsIn(name, body as unknown as Json)).toEqual([
    {
      pointer,
      detail,
      code: expect.stringMatching(/^(invalid_value|wrong_type|unexpected_value|unknown_member)$/) as unknown,
    },
  ]);
});
