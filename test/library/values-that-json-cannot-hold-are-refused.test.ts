import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cosift, type Database, open } from 'cosift';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { Service } from '../server/service.js';

let directory: string;
let cosift: Cosift;
let own: Database;
let service: Service;

type Upsert = (records: unknown[]) => Promise<unknown>;
const upserts: Record<string, Upsert> = {};
const counts: Record<string, () => Promise<number>> = {};
const databases: Record<string, Database> = {};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-values-'));
  cosift = await open(directory);
  own = await cosift.createDatabase('db', { dimensions: 2 });
  service = await Service.start();
  const client = new Client({ url: service.url, key: service.adminKey, retries: 0 });
  await client.createDatabase('db', { dimensions: 2 });
  const remote = client.database('db');
  upserts.library = (records) => own.upsert(records as never[]);
  upserts.client = (records) => remote.upsert(records as never[]);
  databases.library = own;
  databases.client = remote;
  counts.library = async () => (await own.describe()).records;
  counts.client = async () => (await remote.describe()).records;
});
afterAll(async () => {
  await cosift.close();
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

class Money {
  amount = 1;
  toJSON() {
    return 'one';
  }
}

const VALUES: [string, unknown][] = [
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['a date', new Date(0)],
  ['a bigint', 10n],
  ['a function', () => 1],
  ['a symbol', Symbol('s')],
  ['an object', { a: 1 }],
  ['an array with toJSON', Object.assign([1], { toJSON: () => 'one' })],
  ['a map', new Map([['a', 1]])],
  ['a boxed number', Object(5)],
  ['an object with toJSON', new Money()],
];

const good = { id: 1, data: { text: 'a good record' }, vector: [1, 0] };

/** A view of memory that belongs to another thread now. */
function transferred(): Float32Array {
  const view = Float32Array.of(1, 0);
  structuredClone(view, { transfer: [view.buffer] });
  return view;
}

function first(items: AsyncIterable<unknown>): Promise<unknown> {
  return items[Symbol.asyncIterator]().next();
}

/** An object whose members are found on its class. */
class Fact {
  readonly #id: number;
  data = { name: 'a fact' };
  constructor(id: number) {
    this.#id = id;
  }
  get id() {
    return this.#id;
  }
  get vector() {
    return Float32Array.of(1, 0);
  }
}

for (const name of ['library', 'client']) {
  test.each(VALUES)(
    `${name}: %s in data is refused with its place, and nothing is stored`,
    async (_, value) => {
      const bad = { id: 2, data: { text: 'x', 'a/b~c': value }, vector: [0, 1] };
      await expect(upserts[name]!([good, bad])).rejects.toMatchObject({
        code: 'invalid_record',
        problems: [
          { pointer: '/records/1/data/a~1b~0c', code: expect.any(String), detail: expect.any(String) },
        ],
      });
      expect(await counts[name]!()).toBe(0);
    },
  );

  test.each([
    ['a record that is a map', new Map([['data', {}]]), '/records/0'],
    ['a record that is null', null, '/records/0'],
    ['data that is a map', { data: new Map([['a', 1]]), vector: [1, 0] }, '/records/0/data'],
    ['data that is a date', { data: new Date(0), vector: [1, 0] }, '/records/0/data'],
    ['data that is an array', { data: [1], vector: [1, 0] }, '/records/0/data'],
    ['data with its own JSON', { data: new Money(), vector: [1, 0] }, '/records/0/data'],
    ['an id that is a bigint', { id: 3n, data: {}, vector: [1, 0] }, '/records/0/id'],
    ['an id that is not a number', { id: Number.NaN, data: {}, vector: [1, 0] }, '/records/0/id'],
    ['a key with its own JSON', { key: new Money(), data: {}, vector: [1, 0] }, '/records/0/key'],
    [
      'a model that is a date',
      { data: {}, vector: [1, 0], embedded_by: new Date(0) },
      '/records/0/embedded_by',
    ],
    ['a vector with NaN', { data: {}, vector: [1, Number.NaN] }, '/records/0/vector/1'],
    ['a vector with a hole', { data: {}, vector: new Array(2) }, '/records/0/vector/0'],
  ])(`${name}: %s is refused`, async (_, record, pointer) => {
    await expect(upserts[name]!([record])).rejects.toMatchObject({
      code: 'invalid_record',
      problems: [{ pointer }],
    });
    expect(await counts[name]!()).toBe(0);
  });
}

test('what JSON holds is stored as it is', async () => {
  const data = {
    zero: -0,
    tiny: 5e-324,
    large: 1.7976931348623157e308,
    no: null,
    text: '\u2028 "\\',
    yes: true,
    numbers: [1.5, 2],
  };
  for (const [at, name] of ['library', 'client'].entries()) {
    await upserts[name]!([
      { id: 7, data: { ...data, numbers: Float64Array.of(1.5, 2), left_out: undefined }, vector: [1, at] },
    ]);
  }
  const [stored, remote] = [
    await own.get(7),
    await new Client({ url: service.url, key: service.adminKey }).database('db').get(7),
  ];
  // A minus before zero is not kept: equal numbers are one value.
  expect(stored!.data).toStrictEqual({ ...data, zero: 0 });
  expect(remote?.data).toStrictEqual({ ...data, zero: 0 });
});

for (const name of ['library', 'client']) {
  test(`${name}: a vector without memory is refused with its place`, async () => {
    const records = [good, { id: 2, data: {}, vector: transferred() }];
    await expect(upserts[name]!(records)).rejects.toMatchObject({
      code: 'invalid_dimensions',
      problems: [{ pointer: '/records/1/vector' }],
    });
    await expect(upserts[name]!([{ id: 2, data: {}, vector: new Float32Array() }])).rejects.toMatchObject({
      code: 'invalid_dimensions',
    });
    const database = databases[name]!;
    const query = () => ({ vector: transferred() });
    const refused = { problems: [{ pointer: '/query/vector' }] };
    await expect(database.search(query())).rejects.toMatchObject(refused);
    await expect(first(database.searchAll(query()))).rejects.toMatchObject(refused);
    const chunk = Buffer.from(new ArrayBuffer(8));
    structuredClone(chunk, { transfer: [chunk.buffer] });
    await expect(first(database.upsertLines([chunk]))).rejects.toMatchObject({
      code: 'invalid_request',
      detail: 'chunk 0: its memory was transferred to another thread',
    });
  });

  test(`${name}: a request that is nested too deeply is refused`, async () => {
    let filter: object = { column: 'a', operator: 'is_empty' };
    for (let depth = 0; depth < 20_000; depth++) filter = { condition: 'AND', rules: [filter] };
    const given = { filter } as never;
    const database = databases[name]!;
    const calls = [
      () => database.query(given),
      () => first(database.queryAll(given)),
      () => database.search({ vector: [1, 0] }, given),
      () => first(database.searchAll({ vector: [1, 0] }, given)),
      () => database.delete(given),
      () => first(database.exportLines(given)),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'CosiftError' });
  });

  test(`${name}: a value whose class has a strange name is refused`, async () => {
    const strange = { constructor: { name: Symbol('strange') } };
    await expect(upserts[name]!([{ id: 1, data: { a: strange }, vector: [1, 0] }])).rejects.toMatchObject({
      code: 'invalid_record',
      problems: [{ pointer: '/records/0/data/a/constructor/name' }],
    });
  });

  test(`${name}: members are those that were checked`, async () => {
    let reads = 0;
    const changing = {
      get a() {
        reads += 1;
        return reads % 2 === 1 ? 1 : Number.NaN;
      },
    };
    await upserts[name]!([new Fact(501), { id: 502, data: changing, vector: [1, 0] }]);
    const database = databases[name]!;
    expect((await database.get(501))?.data).toEqual({ name: 'a fact' });
    expect((await database.get(502))?.data).toEqual({ a: 1 });
    const ids = Object.assign([502], { toJSON: () => [501] });
    await expect(database.delete({ ids })).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await database.delete({ ids: [501, 502] })).toBe(2);
  });
}
