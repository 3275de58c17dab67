import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import type {
  ColumnValue,
  Database,
  Databases,
  NewRecord,
  SearchResult,
  StoredRecord,
} from '../../src/api/index.js';
import { Client, CosiftError } from '../../src/client/index.js';
import { type Cosift, open } from '../../src/library/cosift.js';
import { inFull } from '../helpers/full.js';
import { at, Service } from '../server/service.js';

let directory: string;
let service: Service;
let sides: { library: Cosift; client: Client };

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-same-'));
  service = await Service.start();
  sides = {
    library: await open(directory),
    client: new Client({ url: service.url, key: service.adminKey, retries: 0 }),
  };
});
afterAll(async () => {
  await sides.library.close();
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

const uuidOf = (id: number) => `0190a0b2-0000-7000-8000-${String(id).padStart(12, '0')}`;

/** Records with identities and times of their own, so that both sides return the same. */
const records = (first: number, last: number): NewRecord<Record<string, ColumnValue | undefined>>[] =>
  Array.from({ length: last - first + 1 }, (_, i) => {
    const id = first + i;
    const time = new Date(Date.UTC(2026, 0, 1, 0, 0, id)).toISOString();
    return {
      id,
      uuid: uuidOf(id),
      data: { name: `record ${id}`, even: id % 2 === 0, size: id, none: undefined },
      vector: Float32Array.from(at(id / 1000)),
      timestamps: { created_at: time, changed_at: time, synced_at: time },
    };
  });

/** The value of a call without the time at which it began, which differs between the two sides. */
function withoutStart(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutStart);
  if (typeof value !== 'object' || value === null || !('started_at' in value)) return value;
  expect(value.started_at).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  return { ...value, started_at: 'a time' };
}

/** What a call resolves with, or the parts of its error that callers rely on. */
async function outcomeOf(call: (database: Database) => Promise<unknown>, database: Database) {
  try {
    return { value: withoutStart(await call(database)) };
  } catch (error) {
    if (!(error instanceof CosiftError)) return { thrown: error };
    // Only a request to a service has an id.
    const { request_id, ...fields } = error.fields;
    const { code, detail, problems } = error;
    return { code, detail, problems, fields };
  }
}

async function both(call: (database: Database) => Promise<unknown>, id = 'same') {
  return {
    library: await outcomeOf(call, sides.library.database(id)),
    client: await outcomeOf(call, sides.client.database(id)),
  };
}

async function all<T>(items: AsyncIterable<T>, limit = Number.POSITIVE_INFINITY): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) {
    found.push(item);
    if (found.length === limit) break;
  }
  return found;
}

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

const vector = Float32Array.from([1, 0]);
const query = { vector };
const options = { threshold: 0, limit: 3 };
const loose = <T = never>(value: unknown) => value as T;

/** Values that a service would get as something else, or not at all. */
const NOT_JSON: [string, unknown][] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['a bigint', 10n],
  ['a date', new Date(0)],
  ['a map', new Map()],
  ['a function', () => 1],
  ['itself', itself()],
];

function itself(): object {
  const group: { rules: unknown[] } = { rules: [] };
  group.rules.push(group);
  return group;
}

/** A record without its times, which are those of the call. */
const withoutTimes = async (record: Promise<StoredRecord | undefined>) => {
  const { timestamps, ...rest } = (await record)!;
  expect(Object.keys(timestamps)).toHaveLength(3);
  return rest;
};

const textOf = async (chunks: AsyncIterable<Uint8Array>) => {
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString('latin1');
  return text;
};

/** Values in place of a query, and what an error says of them. */
const NO_QUERIES: [unknown, string][] = [
  [[1, 0], 'an array'],
  [null, 'null'],
  [undefined, 'undefined'],
  [5, '5'],
  [() => 1, 'a function'],
  [new Date(0), 'a Date'],
  [new Map(), 'a Map'],
];

type Call = [string, (database: Database) => Promise<unknown>];

const HALF_PAIRS: [string, object][] = [
  ['a column', { column: 'a\ud800', operator: 'equals', value: 'x' }],
  ['a value', { column: 'a', operator: 'equals', value: '\udc00' }],
  ['a value of a list', { column: 'a', operator: 'in', value: ['x', '\ud800'] }],
  ['a nested group', { condition: 'OR', rules: [{ column: 'a', operator: 'equals', value: '\ud800x' }] }],
];

/** Calls in the order in which they run, on each side. */
const CALLS: Call[] = [
  ['upsert of several batches', (database) => database.upsert(records(1, 1100))],
  ['upsert again', (database) => database.upsert(records(1, 3))],
  ['upsert of nothing', (database) => database.upsert([])],
  [
    'upsert from an asynchronous source',
    (database) =>
      database.upsert(
        (async function* () {
          yield* records(1101, 1102);
        })(),
      ),
  ],
  ['upsert of what is not iterable', (database) => database.upsert(loose({ id: 1 }))],
  [
    'upsert of a typed vector that JSON lacks',
    (database) => database.upsert([{ data: {}, vector: Float32Array.of(1, Number.NaN) }]),
  ],
  [
    'search with a typed vector that JSON lacks',
    (database) => database.search({ vector: Float32Array.of(1, Number.NaN) }),
  ],
  ['upsert of a value that JSON lacks', (database) => database.upsert([{ data: { a: Number.NaN } }])],
  [
    'upsert that fails in its second batch',
    (database) => database.upsert([...records(1, 1000), { id: 2000, data: {}, vector: [1, 2, 3] }]),
  ],
  [
    'upsertLines',
    (database) =>
      all(database.upsertLines(chunks('{"id":1,"data":{"a":', '1}}\n{"data"\n'))).then((events) =>
        events.at(-1),
      ),
  ],
  ['search', (database) => database.search(query, options)],
  ['search with an array', (database) => database.search({ vector: [1, 0] }, { threshold: 0.99 })],
  [
    'search with extras',
    (database) =>
      database
        .search(query, { ...options, total: true, facets: [{ column: 'even' }] })
        .then(({ total, facets }) => [total, facets]),
  ],
  ['search with a wrong vector', (database) => database.search({ vector: [1, 2, 3] })],
  ['search with a wrong cursor', (database) => database.search(query, { ...options, cursor: 'x' })],
  [
    'search with a wrong filter',
    (database) =>
      database.search(query, { ...options, filter: { rules: [loose({ column: 'a', operator: 'equal' })] } }),
  ],
  ['search with half of a surrogate pair', (database) => database.search('a\ud800')],
  ...HALF_PAIRS.map(
    ([where, rule]): Call => [
      `search with half of a surrogate pair in ${where}`,
      (database) => database.search(query, { ...options, filter: { rules: [loose(rule)] } }),
    ],
  ),
  [
    'search with half of a surrogate pair in a name',
    (database) => database.search(query, loose({ 'a/b': { '\udc00': 1 } })),
  ],
  [
    'query with half of a surrogate pair',
    (database) => database.query({ sort: { column: '\ud800', direction: 'asc' } }),
  ],
  ['delete with half of a surrogate pair', (database) => database.delete({ ids: [1, '\udc00'] })],
  ['upsert of half of a surrogate pair', (database) => database.upsert([{ data: { a: '\ud800' }, vector }])],
  [
    'upsert of a column with half of a surrogate pair',
    (database) => database.upsert([{ data: { '\ud800': 1 }, vector }]),
  ],
  ...NOT_JSON.flatMap(([what, value]): Call[] => [
    [
      `search with ${what} in the filter`,
      (database) => database.search('x', loose({ filter: { threshold: value } })),
    ],
    [
      `query with ${what} in the filter`,
      (database) =>
        database.query({ filter: loose({ rules: [{ column: 'a', operator: 'equals', value }] }) }),
    ],
    [
      `delete with ${what} in the time range`,
      (database) => database.delete(loose({ timeRange: { start_time: value } })),
    ],
  ]),
  [
    'search with a filter larger than a body may be',
    (database) => {
      const rule = { column: 'a', operator: 'equals', value: 'x'.repeat(9_000) } as const;
      return database.search(query, { ...options, filter: { rules: Array(120).fill(rule) } });
    },
  ],
  [
    'query with a filter almost as large as a body may be',
    (database) => {
      const rule = { column: 'a', operator: 'equals', value: 'x'.repeat(9_000) } as const;
      return database.query({ filter: { rules: Array(110).fill(rule) } });
    },
  ],
  ...NO_QUERIES.flatMap(([query, what]): Call[] => [
    [`search for ${what}`, (database) => database.search(loose(query))],
    [`searchAll for ${what}`, async (database) => all(database.searchAll(loose(query)))],
    [`map of ${what}`, (database) => database.map({ search: loose(query) })],
  ]),
  ['search for neither text nor vector', (database) => database.search(loose({}))],
  ['search for an unknown member', (database) => database.search(loose({ vektor: [1, 0] }))],
  ['search for too long a text', (database) => database.search('x'.repeat(9_000))],
  ['search for too long a text in an object', (database) => database.search({ text: 'x'.repeat(9_000) })],
  ['map with a threshold alone', (database) => database.map({ threshold: 0.5 })],
  ['map with a lexical weight alone', (database) => database.map({ lexical: 0.5 })],
  ['map with a wrong vector', (database) => database.map({ search: { vector: [1, 2, 3] } })],
  ['searchAll', (database) => all(database.searchAll({ vector }, { threshold: 0.9 }))],
  [
    'searchAll from a cursor',
    async (database) => {
      const { pagination } = await database.search(query, options);
      const rest = { ...options, limit: 40, cursor: pagination.next_cursor };
      return all(database.searchAll(query, rest), 90);
    },
  ],
  ['query', (database) => database.query()],
  [
    'query with a filter and a sort',
    (database) =>
      database.query({
        filter: { rules: [{ column: 'even', operator: 'equals', value: true }] },
        sort: { column: 'size', direction: 'desc' },
        limit: 2,
      }),
  ],
  ['queryAll', (database) => all(database.queryAll())],
  // Before a patch, whose time is that of the call.
  ['exportLines', (database) => textOf(database.exportLines())],
  ['exportLines with vectors', (database) => textOf(database.exportLines({ vectors: true }))],
  [
    'exportLines with a rule',
    (database) =>
      textOf(database.exportLines({ filter: { column: 'size', operator: 'less_than', value: 4 } })),
  ],
  [
    'exportLines with a wrong rule',
    (database) => textOf(database.exportLines({ filter: loose({ column: 'a', operator: 'equal' }) })),
  ],
  [
    'exportLines with a value that JSON lacks',
    (database) =>
      textOf(database.exportLines({ filter: { column: 'a', operator: 'equals', value: Number.NaN } })),
  ],
  ['exportLines with a wrong option', (database) => textOf(database.exportLines(loose({ vectors: 1 })))],
  [
    'exportLines with an aborted signal',
    (database) => textOf(database.exportLines({ signal: AbortSignal.abort(new Error('enough')) })),
  ],
  ['get by integer', (database) => database.get(7)],
  ['get by UUID', (database) => database.get(uuidOf(7))],
  ['get by an upper-case UUID', (database) => database.get(uuidOf(7).toUpperCase())],
  ['get of no record', (database) => database.get(99_999)],
  ['get of a text that is no id', (database) => database.get('5')],
  ['get of no integer', (database) => database.get(1.5)],
  ['get of the integer 0', (database) => database.get(0)],
  ['changes of an epoch that no feed has', (database) => database.changes({ epoch: 'x' })],
  ['a query that is null', (database) => database.query(null as never)],
  ['get of no UUID', (database) => database.get(uuidOf(99_999))],
  ['patch by integer', (database) => withoutTimes(database.patch(9, { name: 'other', even: null, new: 1 }))],
  ['patch by UUID', (database) => withoutTimes(database.patch(uuidOf(9), { size: 9.5, none: undefined }))],
  ['patch of nothing', (database) => withoutTimes(database.patch(9, {}))],
  ['patch of no record', (database) => database.patch(99_999, { a: 1 })],
  ['patch of a text that is no id', (database) => database.patch('9', { a: 1 })],
  ['patch of a value that JSON lacks', (database) => database.patch(9, { 'a/b': Number.NaN })],
  ['patch of a value that is none', (database) => database.patch(9, loose({ a: new Date(0), b: [] }))],
  ['patch without changes', (database) => database.patch(9, loose(undefined))],
  ['patch of a column that is none', (database) => database.patch(9, { '': 1 })],
  ['patch larger than a body may be', (database) => database.patch(9, { a: 'x'.repeat(1 << 21) })],
  ['patch of half of a surrogate pair', (database) => database.patch(9, { a: '\ud800' })],
  [
    'upsert where no record may be',
    (database) => database.upsert([{ id: 3, data: {}, if_changed_at: null }]),
  ],
  ['patch under a condition', (database) => database.patch(3, { a: 1 }, { ifChangedAt: '2001-01-01' })],
  [
    'patch under a condition that is no time',
    (database) => database.patch(3, { a: 1 }, { ifChangedAt: 'x' }),
  ],
  ['patch under no condition', (database) => database.patch(3, { a: 1 }, loose({ ifChangedAt: 5 }))],
  [
    'delete under a condition',
    (database) => database.delete({ ids: [4, { id: 3, if_changed_at: '2001-01-01' }] }),
  ],
  [
    'delete under a condition that is no time',
    (database) => database.delete({ ids: [{ id: 3, if_changed_at: 'x' }] }),
  ],
  ['get of a patched record', (database) => withoutTimes(database.get(9))],
  ['delete', (database) => database.delete({ ids: [7, uuidOf(8), 99_999] })],
  ['delete without what', (database) => database.delete({} as never)],
  [
    'delete by ids and a filter',
    (database) => database.delete(loose({ ids: [1], filter: { rules: [] }, timeRange: 5 })),
  ],
  ['changes', (database) => database.changes({ limit: 2 }).then(({ epoch: _, ...page }) => page)],
  [
    'changes from a place on, with a wait',
    async (database) => {
      const { position, epoch } = await database.changes({ limit: 1000 });
      const { changes } = await database.changes({ after: position, epoch, waitMs: 60_000 });
      return changes.map(({ kind, id }) => [kind, id]);
    },
  ],
  [
    'changes of another feed',
    async (database) => {
      const { epoch } = await database.changes({ limit: 1 });
      const other = database.changes({ after: 1, epoch: '0'.repeat(32) });
      return other.catch(({ code, fields }) => [code, fields.epoch === epoch]);
    },
  ],
  [
    'follow',
    async (database) => {
      const changes = await all(database.follow({ after: 1100 }), 4);
      return changes.map(({ position, kind, id }) => [position, kind, id]);
    },
  ],
  [
    'describe',
    (database) => database.describe().then(({ id, records, dimensions }) => [id, records, dimensions]),
  ],
  ['reembed with no such model', (database) => database.reembed('none')],
  ['reembed without a model', (database) => database.reembed(loose(undefined))],
  ['cancelReembedding of none', (database) => database.cancelReembedding()],
];

describe('one call after the other', () => {
  beforeAll(async () => {
    for (const side of Object.values(sides)) await side.createDatabase('same', { dimensions: 2 });
  });

  test.each(CALLS)('%s', async (_, call) => {
    const { library, client } = await both(call);
    expect(client).toEqual(library);
  });

  test('get is undefined where there is no record, and fails where there is no database', async () => {
    expect(await both((database) => database.get(99_999))).toEqual({
      library: { value: undefined },
      client: { value: undefined },
    });
    const { library, client } = await both((database) => database.get(1), 'none');
    expect(library).toMatchObject({ code: 'database_not_found' });
    expect(client).toEqual(library);
  });
});

describe('an error names the arguments of the caller', () => {
  test.each(NO_QUERIES.filter(([query]) => query !== undefined))(
    '%j in place of a query',
    async (query, what) => {
      const detail = `is ${what}, must be a text, or an object with a vector or examples`;
      const problem = (pointer: string) => [{ pointer, code: 'wrong_type', detail }];
      const { library } = await both((database) => database.search(loose(query)));
      expect(library).toMatchObject({ detail: `query: ${detail}`, problems: problem('/query') });
      const { library: map } = await both((database) => database.map({ search: loose(query) }));
      expect(map).toMatchObject({ detail: `search: ${detail}`, problems: problem('/search') });
    },
  );

  test.each<[string, (database: Database) => Promise<unknown>, string, string]>([
    ['a part of a query', (of) => of.search(loose({ txt: 'x' })), '/query/txt', 'query.txt: is not a known'],
    ['the vector', (of) => of.search({ vector: [Number.NaN] }), '/query/vector/0', 'query.vector.0: is NaN'],
    ['a text', (of) => of.search('x'.repeat(9_000)), '/query', 'query: has 9000 bytes'],
    ['a text in an object', (of) => of.search({ text: '' }), '/query/text', 'query.text: must not be empty'],
    ['an option', (of) => of.search('x', loose({ sort: {} })), '/sort', 'sort: is not a known member'],
    [
      'nothing to search for',
      (of) => of.map({ threshold: 0.5 }),
      '/search',
      'search: must have exactly one of',
    ],
    [
      'nothing to delete',
      (of) => of.delete(loose({})),
      '',
      'the options: needs either "ids", or at least one of',
    ],
    ['a time range', (of) => of.query({ timeRange: loose(5) }), '/timeRange', 'timeRange: is number'],
    ['no changes', (of) => of.patch(1, loose(null)), '/data', 'changes: is null, must be a plain object'],
  ])('%s', async (_, call, pointer, detail) => {
    const { library, client } = await both(call);
    expect(library).toMatchObject({ detail: expect.stringContaining(detail), problems: [{ pointer }] });
    expect(client).toEqual(library);
    expect(JSON.stringify(library)).not.toMatch(/body|time_range/);
  });

  test('settings', async () => {
    for (const side of Object.values(sides)) {
      const creating = side.createDatabase('settings', loose(null));
      await expect(creating).rejects.toThrow('the settings: is null, must be of type object');
    }
    const issuing = sides.client.issueKey(loose({}));
    await expect(issuing).rejects.toThrow('the request: lacks the member "name"');
  });
});

test('an argument that is too large is named', async () => {
  const found = await both((database) => database.patch(9, { a: 'x'.repeat(1 << 21) }));
  const refused = { code: 'too_large', detail: 'the changes: more than 1048576 bytes' };
  expect(found).toMatchObject({ library: refused, client: refused });
});

test('a filter that is too long for the address of an export is named', async () => {
  const rule = { column: 'name', operator: 'equals', value: 'x'.repeat(1_000) } as const;
  const { library, client } = await both((database) =>
    textOf(database.exportLines({ filter: { rules: Array(20).fill(rule) } })),
  );
  expect(library).toEqual({ value: '' });
  const detail = expect.stringMatching(/^has \d{5} bytes, .* use `queryAll`/);
  expect(client).toMatchObject({
    code: 'headers_too_large',
    problems: [{ pointer: '/filter', code: 'value_too_long', detail }],
  });
});

test('an upsert larger than a service takes at once is sent in several batches', async () => {
  const text = 'x'.repeat(1_000_000);
  const count = inFull(70, 20);
  const large = Array.from({ length: count }, (_, at) => ({ id: at + 1, data: { text }, vector: [1, 0] }));
  for (const side of Object.values(sides)) {
    const database = await side.createDatabase('large', { dimensions: 2 });
    const committed: number[] = [];
    const { created } = await database.upsert(large, {
      onProgress: (progress) => committed.push(progress.committed),
    });
    expect([created, committed]).toEqual([count, inFull([17, 34, 51, 68, 70], [17, 20])]);
    await database.drop();
  }
});

/** The methods of an object and of its class, with their names. */
function methodsOf(target: object): [string, (...given: unknown[]) => unknown][] {
  const names = new Set<string>();
  for (let of = Object.getPrototypeOf(target); of !== Object.prototype; of = Object.getPrototypeOf(of)) {
    for (const name of Object.getOwnPropertyNames(of)) if (name !== 'constructor') names.add(name);
  }
  return [...names].map((name) => [name, Reflect.get(target, name).bind(target)]);
}

test('every method refuses an argument more than it takes', async () => {
  const { library, client } = sides;
  const seen: string[] = [];
  for (const target of [library, client, library.database('same'), client.database('same')]) {
    for (const [name, method] of methodsOf(target)) {
      const given = Array.from({ length: 5 }, () => ({ signal: AbortSignal.abort() }));
      const call = (async () => method(...given))();
      const max = expect.stringMatching(`^${name} takes at most \\d arguments?, but 5 were given$`);
      await expect(call).rejects.toMatchObject({ code: 'invalid_request', detail: max });
      seen.push(name);
    }
  }
  expect(new Set(seen).size).toBeGreaterThan(25);
  await expect(library.database('same').query({}, ...loose<[]>([undefined]))).resolves.toBeDefined();
});

test('a method takes as many arguments as its type says', async () => {
  const database = sides.client.database('same');
  const { signal } = new AbortController();
  const at = loose({ signal });
  await expect(database.query({}, ...loose<[]>([at]))).rejects.toThrow('query takes at most 1 argument');
  await expect(database.get(1, { signal })).resolves.toBeDefined();
  await expect(sides.library.createDatabase('same', { dimensions: 2 }, { signal })).resolves.toBeDefined();
});

/** Every method of a database, with options. */
const WITH_OPTIONS: [string, (database: Database, options: object) => Promise<unknown>][] = [
  ['describe', (database, options) => database.describe(options)],
  ['drop', (database, options) => database.drop(options)],
  ['upsert', (database, options) => database.upsert(records(1, 1), options)],
  ['upsertLines', async (database, options) => all(database.upsertLines(chunks('{}'), options))],
  ['search', (database, options) => database.search(query, options)],
  ['searchAll', (database, options) => all(database.searchAll(query, options))],
  ['query', (database, options) => database.query(options)],
  ['queryAll', (database, options) => all(database.queryAll(options))],
  ['get', (database, options) => database.get(1, options)],
  ['patch', (database, options) => database.patch(1, { a: 1 }, options)],
  ['delete', (database, options) => database.delete({ ids: [1], ...options })],
  ['changes', (database, options) => database.changes({ waitMs: 60_000 }, options)],
  ['follow', (database, options) => all(database.follow({}, options))],
  ['reembed', (database, options) => database.reembed('none', options)],
  ['cancelReembedding', (database, options) => database.cancelReembedding(options)],
];

test.each(WITH_OPTIONS)('%s takes a signal, and refuses an unknown option', async (_, call) => {
  const reason = new Error('no more');
  const aborted = await both((database) => call(database, { signal: AbortSignal.abort(reason) }));
  expect(aborted).toEqual({ library: { thrown: reason }, client: { thrown: reason } });
  const { library, client } = await both((database) => call(database, { singal: 1 }));
  expect(library).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining('"signal"?') });
  expect(client).toEqual(library);
});

test.each([null, 5, { singal: 1 }])('close refuses the options %j', async (options) => {
  for (const side of Object.values(sides)) {
    const closing = Promise.resolve().then(() => side.close(loose(options)));
    await expect(closing).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await side.databases()).toEqual(expect.any(Array));
  }
});

test('an abort ends a wait for changes with its reason', async () => {
  for (const side of Object.values(sides)) {
    const database = await side.createDatabase('quiet', { dimensions: 2 });
    const stop = new AbortController();
    const waiting = database.changes({ waitMs: 60_000 }, { signal: stop.signal });
    setImmediate(() => stop.abort(new Error('no more')));
    await expect(waiting).rejects.toThrow('no more');
    await database.drop();
  }
});

test('a service that allows short waits only is followed all the same', async () => {
  const strict = await Service.start({ limitChangeWaitSeconds: 2 });
  const client = new Client({ url: strict.url, key: strict.adminKey });
  const database = await client.createDatabase('short', { dimensions: 2 });
  await database.upsert([{ id: 1, data: {}, vector }]);
  const changes = database.follow();
  expect((await changes.next()).value).toMatchObject({ kind: 'created', id: 1 });
  const next = changes.next();
  await database.delete({ ids: [1] });
  expect((await next).value).toMatchObject({ kind: 'deleted', id: 1 });
  await strict.stop();
});

test('databases are created, listed, opened and dropped', async () => {
  const lives = async (databases: Databases) => {
    const created = await databases.createDatabase('made', { dimensions: 2 });
    const again = await databases.createDatabase('made', { dimensions: 2 });
    const other = databases.createDatabase('made', { dimensions: 3 }).catch(({ code }) => code);
    const listed = (await databases.databases()).map(({ id }) => id);
    await databases.database('made').drop();
    const gone = created.drop().catch(({ code }) => code);
    const wrong = await databases.createDatabase('A b').catch(({ code }) => code);
    return [created.id, again.id, await other, listed.includes('made'), await gone, wrong];
  };
  const library = await lives(sides.library);
  expect(library).toEqual(['made', 'made', 'database_exists', true, 'database_not_found', 'invalid_request']);
  expect(await lives(sides.client)).toEqual(library);
});

test('a database shows its id and nothing else', () => {
  for (const [side, name] of [
    [sides.library, 'LocalDatabase'],
    [sides.client, 'RemoteDatabase'],
  ] as const) {
    const database = side.database('same');
    expect(Object.keys(database)).toEqual(['id']);
    expect(inspect(database, { showHidden: true })).toBe(`${name} { id: 'same' }`);
  }
});

test('results have their types', () => {
  const typed = async (database: Database) => {
    expectTypeOf((await database.search(query, options)).results).toEqualTypeOf<SearchResult[]>();
    expectTypeOf((await database.query()).results).toEqualTypeOf<StoredRecord[]>();
    expectTypeOf(await database.get(1)).toEqualTypeOf<StoredRecord | undefined>();
    expectTypeOf(await database.patch(uuidOf(1), { a: null })).toEqualTypeOf<StoredRecord>();
  };
  expectTypeOf(typed).parameter(0).toEqualTypeOf<Database>();
  expectTypeOf<Client>().toExtend<Databases>();
  expectTypeOf<Cosift>().toExtend<Databases>();
});
