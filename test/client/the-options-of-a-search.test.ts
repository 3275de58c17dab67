import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  and,
  before,
  CosiftError,
  contains,
  type Database,
  type Databases,
  endsWith,
  equals,
  greaterThan,
  greaterThanOrEquals,
  isEmpty,
  isNotEmpty,
  lessThan,
  lessThanOrEquals,
  notContains,
  notEquals,
  or,
  startsWith,
} from '../../src/api/index.js';
import { Client } from '../../src/client/index.js';
import { open } from '../../src/library/cosift.js';
import { Service } from '../server/service.js';

interface Fact {
  text: string;
  height?: number;
  country?: string | null;
}

const FACTS: Fact[] = [
  { text: 'The Eiffel Tower is a tall tower', height: 330, country: 'France' },
  { text: 'The Tokyo Tower is a tall tower', height: 333, country: 'Japan' },
  { text: 'A tower of no country', height: 10, country: null },
  { text: 'A tower of unknown height' },
];

const sides = new Map<string, Databases>();
const facts = new Map<string, Database<Fact>>();
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-short-'));
  const service = await Service.start();
  sides.set('library', await open(directory));
  sides.set('client', new Client({ url: service.url, key: service.adminKey }));
  for (const [side, databases] of sides) {
    const database = await databases.createDatabase<Fact>('facts');
    await database.upsert(FACTS.map((data, at) => ({ id: at + 1, data })));
    facts.set(side, database);
    ends.push(() => databases.close());
  }
  ends.push(
    () => service.stop(),
    () => rm(directory, { recursive: true }),
  );
});

afterAll(async () => {
  for (const end of ends) await end();
});

describe.each(['library', 'client'])('%s', (side) => {
  const database = () => facts.get(side) as Database<Fact>;
  const idsOf = async (where: Parameters<Database<Fact>['query']>[0]) =>
    (await database().query({ ...where, sort: { column: 'text' } })).results.map(({ id }) => id).sort();

  test('the options reach the search', async () => {
    const { results, total, facets, pagination } = await database().search('a tall tower', {
      filter: and(greaterThan('height', 100), equals('country', 'Japan')),
      threshold: 0.1,
      limit: 1,
      timeRange: { start_time: '2020-01-01' },
      total: true,
      facets: [{ column: 'country' }],
    });
    expect(results.map(({ data }) => data.country)).toEqual(['Japan']);
    expect({ total, facets, pagination }).toMatchObject({
      total: { value: 1 },
      facets: [{ column: 'country', values: [{ value: 'Japan', count: 1 }] }],
      pagination: { limit: 1, has_more: false },
    });
    const timeRange = { end_time: '2020-01-01' };
    expect((await database().search('a tall tower', { timeRange, threshold: 0 })).results).toEqual([]);
  });

  test('results are distinct by a column, page by page', async () => {
    await database().upsert([{ id: 5, data: { text: 'Another tower in France', country: 'France' } }]);
    const options = { threshold: 0, limit: 1, distinct: { column: 'country', counts: true } } as const;
    const groups = [];
    for await (const { group } of database().searchAll('a tall tower', options)) groups.push(group);
    expect(groups.toSorted((a, b) => String(a?.value).localeCompare(String(b?.value)))).toEqual([
      { value: 'France', count: 2 },
      { value: 'Japan', count: 1 },
      { value: null, count: 1 },
      { value: null, count: 1 },
    ]);
    const { total } = await database().query({ distinct: 'country', total: true });
    expect(total).toEqual({ value: 4 });
    await database().delete({ ids: [5] });
    const wrong = { distinct: { column: 'country', counts: 'yes' } } as never;
    await expect(database().query(wrong)).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ pointer: '/distinct/counts' }],
    });
  });

  test('examples are searched for, and an error names them', async () => {
    const like = { positive: [1] };
    const found = [];
    const options = { threshold: 0, limit: 1 };
    for await (const { id } of database().searchAll({ like }, options)) found.push(id);
    expect(found.toSorted()).toEqual([2, 3, 4]);
    const { points } = await database().map({ search: { like: { positive: [1, 2] } }, threshold: 0 });
    expect(points.map(({ id }) => id).toSorted()).toEqual([3, 4]);
    await expect(database().search({ like: { positive: [1, 'key:none'] } })).rejects.toMatchObject({
      code: 'invalid_request',
      detail: 'query.like.positive.1: no record has the id key:none',
      problems: [{ pointer: '/query/like/positive/1' }],
    });
  });

  test('boosts count in the score, and are named as the caller does', async () => {
    const search = { threshold: 0, filter: isNotEmpty('height') } as const;
    const boosts = [
      { weight: 0.3, filter: equals('country', 'Japan') },
      { weight: 0.6, column: 'height', target: 10, scale: 100 },
    ] as const;
    const { results } = await database().search('a tall tower', { ...search, boosts });
    expect(results.map(({ id }) => id)).toEqual([3, 2, 1]);
    const group = [{ weight: 0.3, filter: and(equals('country', 'Japan')) }, boosts[1]] as const;
    expect((await database().search('a tall tower', { ...search, boosts: group })).results).toEqual(results);
    const { points } = await database().map({ search: 'a tall tower', ...search, boosts });
    expect(points.map(({ id, relevance_score }) => [id, relevance_score])).toEqual(
      results.map(({ id, relevance_score }) => [id, relevance_score]),
    );
    const [outcome] = await database().searchMany([{ search: 'a tall tower', ...search, boosts }]);
    expect(outcome).toMatchObject({ page: { results } });
    const refused: [unknown, string, string][] = [
      [
        [{ weight: 0.3, filter: { column: 'a', operator: 'is' } }],
        '/boosts/0/filter/operator',
        'invalid_filter',
      ],
      [
        [boosts[0], { weight: 0.3, filter: and(before('text', 'soon')) }],
        '/boosts/1/filter/rules/0/value',
        'invalid_filter',
      ],
      [[boosts[0], { ...boosts[1], weight: 0.8 }], '/boosts/1/weight', 'invalid_request'],
      [[boosts[0], { ...boosts[1], scale: Number.NaN }], '/boosts/1/scale', 'invalid_request'],
      [[null], '/boosts/0', 'invalid_request'],
      ['none', '/boosts', 'invalid_request'],
    ];
    for (const [given, pointer, code] of refused) {
      const call = database().search('a tall tower', { boosts: given as typeof boosts });
      const error = await call.catch((thrown) => thrown);
      expect(error, pointer).toMatchObject({ code });
      expect(error.problems[0].pointer).toBe(pointer);
    }
  });

  test('texts are embedded as searches and records are', async () => {
    const databases = sides.get(side) as Databases;
    const texts = ['a tall tower', 'café ❄'];
    const [vector, other] = await databases.embed(texts, { model: 'all-MiniLM-L6-v2' });
    expect(other).toHaveLength(384);
    const byText = await database().search('a tall tower', { threshold: 0 });
    expect(await database().search({ vector: vector! }, { threshold: 0 })).toEqual(byText);
    const { vector: stored } = (await database().get(4, { vectors: true })) as { vector?: number[] };
    const [record] = await databases.embed(['text: A tower of unknown height'], { kind: 'record' });
    // A vector is stored in steps of 2^-30.
    for (const [at, value] of record!.entries())
      expect(Math.abs(value - stored![at]!)).toBeLessThan(2 ** -30);
    const refused: [readonly string[], object, string, RegExp][] = [
      [['a', ' \n'], {}, '/texts/1', /^the text is blank/],
      [['a', ''], {}, '/texts/1', /^texts\.1: must not be empty/],
      [[], {}, '/texts', /^texts: must/],
      [Array(65).fill('a'), {}, '/texts', /^texts: has 65 items, at most 64 are allowed/],
      [['a', 'x'.repeat(9_000)], {}, '/texts/1', /^texts\.1: has 9000 bytes/],
      [['a', '!'.repeat(8_000)], {}, '/texts/1', /^the text has more than 64 passages/],
      [['a', 'ok '.repeat(600)], { kind: 'record' }, '/texts/1', /^the text is longer than the window/],
      [['a', '\u{10a00}'], { kind: 'record' }, '/texts/1', /knows no word of the text/],
      [['a'], { model: 'none' }, '/model', /^there is no model "none"/],
      [['a'], { kind: 'other' }, '/kind', /^kind: must be one of "query", "record"/],
      ['a' as never, {}, '/texts', /^texts: is a string, must be an array of texts/],
    ];
    for (const [given, options, pointer, detail] of refused) {
      const error = await databases.embed(given, options).catch((error) => error);
      expect(error, String(detail)).toMatchObject({
        code: 'invalid_request',
        detail: expect.stringMatching(detail),
        problems: [{ pointer }],
      });
    }
  });

  test('all matches come page after page, with both ids', async () => {
    const ids: number[] = [];
    for await (const { id } of database().searchAll('tower', { limit: 1, threshold: 0 })) ids.push(id);
    expect(ids.sort()).toEqual([1, 2, 3, 4]);
    const { pagination } = await database().search('tower', { limit: 2, threshold: 0 });
    const rest = await database().search('tower', { threshold: 0, cursor: pagination.next_cursor });
    expect(rest.results).toHaveLength(2);
    const nested = or(equals('country', 'France'), { rules: [isEmpty('country'), isNotEmpty('height')] });
    const found = await database().search('tower', { filter: nested, threshold: 0 });
    expect(found.results.map(({ data }) => data.height).sort()).toEqual([10, 330]);
    for (const { id, uuid, timestamps } of found.results) {
      expect(`${id} ${uuid} ${timestamps.synced_at}`).toMatch(/^[1-4] .*-.* 20/);
    }
  });

  test('results have only the columns that are asked for', async () => {
    const { results } = await database().search('a tall tower', {
      filter: greaterThan('height', 100),
      columns: ['height'],
      limit: 1,
    });
    expect(results.map(({ data }) => Object.keys(data))).toEqual([['height']]);
    const shown: unknown[] = [];
    for await (const { data } of database().queryAll({ columns: [], limit: 1 })) shown.push(data);
    expect(shown).toEqual([{}, {}, {}, {}]);
    await expect(database().query({ columns: ['' as 'text'] })).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ pointer: '/columns/0' }],
    });
  });

  test('results have their vectors if the call asks for them', async () => {
    const { results } = await database().search('tower', { columns: [], vectors: true, threshold: 0 });
    const vectors = results.map(({ vector, embedded_by }) => [vector?.length, typeof embedded_by]);
    expect(vectors).toEqual(Array(4).fill([384, 'string']));
    const one = await database().get(1, { vectors: true });
    expect(one?.vector).toEqual(results.find(({ id }) => id === 1)?.vector);
    expect(await database().get(1)).not.toHaveProperty('vector');
    await expect(database().get(1, { vectors: 1 as never })).rejects.toThrow('vectors: ');
  });

  test('each helper makes the rule of its operator', async () => {
    expect(await idsOf({ filter: equals('country', 'France') })).toEqual([1]);
    expect(await idsOf({ filter: notEquals('country', 'France') })).toEqual([2, 3, 4]);
    expect(await idsOf({ filter: greaterThan('height', 330) })).toEqual([2]);
    expect(await idsOf({ filter: greaterThanOrEquals('height', 330) })).toEqual([1, 2]);
    expect(await idsOf({ filter: lessThan('height', 330) })).toEqual([3]);
    expect(await idsOf({ filter: lessThanOrEquals('height', 330) })).toEqual([1, 3]);
    expect(await idsOf({ filter: contains('text', 'Tokyo') })).toEqual([2]);
    expect(await idsOf({ filter: notContains('text', 'Tower') })).toEqual([3, 4]);
    expect(await idsOf({ filter: startsWith('text', 'A tower') })).toEqual([3, 4]);
    expect(await idsOf({ filter: endsWith('text', 'height') })).toEqual([4]);
    expect(await idsOf({ filter: isEmpty('country') })).toEqual([3, 4]);
    expect(await idsOf({ filter: isNotEmpty('country') })).toEqual([1, 2]);
    expect(await idsOf({ filter: and(isEmpty('country'), or(isEmpty('height'))) })).toEqual([4]);
    expect(await database().delete({ filter: equals('text', 'none') })).toBe(0);
  });

  test.each<[object, string, string]>([
    [{ treshold: 1 }, 'treshold: is not a known member; did you mean "threshold"?', '/treshold'],
    [{ limit: 0 }, 'limit: is 0, must be from 1 to 100', '/limit'],
    [{ threshold: 1.5 }, 'threshold: is 1.5, must be from 0 to 1', '/threshold'],
    [{ threshold: '1' }, 'threshold: is string, must be of type number', '/threshold'],
    [{ total: 1 }, 'total: is number, must be of type boolean', '/total'],
    [{ onProgress: () => undefined }, 'onProgress: is not a known member', '/onProgress'],
    [{ filter: { column: 'a', operator: 'lik', value: 1 } }, 'filter.operator: ', '/filter/operator'],
    [
      { filter: { rules: [{ column: 'a', operator: 'is_empty', value: 1 }] } },
      'filter.rules.0.value: ',
      '/filter/rules/0/value',
    ],
    [
      { filter: { condition: 'AND', column: 'a', operator: 'equals', value: 1 } },
      'filter.condition: is not a known member',
      '/filter/condition',
    ],
    [{ timeRange: { start: '2020-01-01' } }, 'timeRange.start: ', '/timeRange/start'],
    [{ facets: [{ column: 'a', limit: 0 }] }, 'facets.0.limit: ', '/facets/0/limit'],
    [{ cursor: 'x' }, 'cursor: ', '/cursor'],
  ])('an error names the option: %j', async (options, detail, pointer) => {
    const error = await database()
      .search('a tower', options as object)
      .then(
        () => undefined,
        (thrown) => thrown,
      );
    expect(error).toBeInstanceOf(CosiftError);
    expect(error.detail).toContain(detail);
    expect(error.problems.map((problem: { pointer: string }) => problem.pointer)).toContain(pointer);
  });

  test('every call rejects with the reason of a signal that is aborted', async () => {
    const reason = new Error('changed my mind');
    const signal = AbortSignal.abort(reason);
    const databases = sides.get(side) as Databases;
    const one = database();
    const last = async (items: () => AsyncIterable<unknown>) => {
      for await (const _ of items());
    };
    const calls: (() => Promise<unknown>)[] = [
      () => databases.createDatabase('other', {}, { signal }),
      () => databases.databases({ signal }),
      () => databases.close({ signal }),
      () => one.describe({ signal }),
      () => one.drop({ signal }),
      () => one.upsert([{ data: { text: 'a' } }], { signal }),
      () => last(() => one.upsertLines(['{"data":{}}\n'], { signal })),
      () => one.search('a', { signal }),
      () => one.search('a', { signal }),
      () => last(() => one.searchAll('a', { signal })),
      () => one.query({ signal }),
      () => last(() => one.queryAll({ signal })),
      () => one.get(1, { signal }),
      () => one.patch(1, { height: 1 }, { signal }),
      () => one.delete({ ids: [1], signal }),
      () => one.changes({}, { signal }),
      () => last(() => one.follow({}, { signal })),
      () => one.reembed('all-MiniLM-L6-v2', { signal }),
      () => one.cancelReembedding({ signal }),
    ];
    for (const [at, call] of calls.entries()) {
      const thrown = await Promise.resolve()
        .then(call)
        .then(
          () => undefined,
          (error) => error,
        );
      expect(thrown, `call ${at}`).toBe(reason);
    }
    expect((await one.get(1))?.data.height).toBe(330);
  });

  test('a write of many records reports its progress', async () => {
    const many = await (sides.get(side) as Databases).createDatabase('many', { dimensions: 2 });
    const records = Array.from({ length: 2500 }, (_, at) => ({ id: at + 1, data: {}, vector: [1, 0] }));
    const committed: number[] = [];
    await many.upsert(records, { onProgress: (progress) => committed.push(progress.committed) });
    expect(committed).toEqual([1000, 2000, 2500]);
    const lines: number[] = [];
    const text = records.map((record) => JSON.stringify(record)).join('\n');
    for await (const _ of many.upsertLines([text], { onProgress: (progress) => lines.push(progress.lines) }));
    expect(lines.at(-1)).toBe(2500);
  });
});

test('opening reports its progress, and an aborted one releases the directory', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-opening-'));
  try {
    await using first = await open(directory);
    const one = await first.createDatabase('one', { dimensions: 2 });
    await one.upsert([{ data: {}, vector: [1, 0] }]);
    await first.close();
    const told: object[] = [];
    const second = await open(directory, { onProgress: (progress) => told.push(progress) });
    expect(told.at(-1)).toEqual({ databases: 1, loaded: 1, records: 1 });
    await second.close();
    const controller = new AbortController();
    const opening = open(directory, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(opening).rejects.toThrow('enough');
    await (await open(directory)).close();
  } finally {
    await rm(directory, { recursive: true });
  }
});
