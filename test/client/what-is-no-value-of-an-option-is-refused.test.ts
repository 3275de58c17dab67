import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cosift, type CosiftError, open } from 'cosift';
import { Client } from 'cosift/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Service } from '../server/service.js';

// A program in plain JavaScript passes anything. None of these values is allowed anywhere, so each call has to refuse
// each of them, in the library and in the client, with an error that has a code.

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

const VALUES: readonly [string, unknown][] = [
  ['null', null],
  ['NaN', Number.NaN],
  ['a fraction', 1.5],
  ['a bigint', 5n],
  ['a symbol', Symbol('s')],
  ['a function', () => 1],
  ['a date', new Date(0)],
  ['a map', new Map([['signal', 1]])],
  ['a set', new Set([1])],
  ['a promise', Promise.resolve({})],
  ['an AbortController', new AbortController()],
  ['a regular expression', /x/],
  ['bytes', new Uint8Array(2)],
  ['an object that contains itself', cyclic],
  [
    'an object of a class',
    new (class Foo {
      unknown = 1;
    })(),
  ],
  ['a long text with half of a surrogate pair', `${'x'.repeat(20_000)}\ud800`],
];

// biome-ignore lint/suspicious/noExplicitAny: a program in plain JavaScript has no types to stop it
type Loose = Record<string, (...args: any[]) => any>;
type Call = (value: unknown, database: Loose, databases: Loose) => unknown;

const first = (records: AsyncIterator<unknown>) => records.next();

/** Calls whose argument has to be an object, with the code of their errors. */
const CALLS: Readonly<Record<string, Call>> = {
  'the options of search': (value, database) => database.search?.('x', value),
  'the query of search': (value, database) => database.search?.(value),
  'text of a query': (value, database) => database.search?.({ text: value }),
  'vector of a query': (value, database) => database.search?.({ vector: value }),
  filter: (value, database) => database.search?.('x', { filter: value }),
  'filter.rules': (value, database) => database.search?.('x', { filter: { rules: value } }),
  'filter.rules.0': (value, database) => database.search?.('x', { filter: { rules: [value] } }),
  'filter.operator': (value, database) =>
    database.search?.('x', { filter: { column: 'a', operator: value, value: 1 } }),
  'filter.condition': (value, database) =>
    database.search?.('x', { filter: { condition: value, rules: [{ column: 'a', operator: 'is_empty' }] } }),
  limit: (value, database) => database.search?.('x', { limit: value }),
  threshold: (value, database) => database.search?.('x', { threshold: value }),
  cursor: (value, database) => database.search?.('x', { cursor: value }),
  total: (value, database) => database.search?.('x', { total: value }),
  facets: (value, database) => database.search?.('x', { facets: value }),
  'facets.0': (value, database) => database.search?.('x', { facets: [value] }),
  timeRange: (value, database) => database.search?.('x', { timeRange: value }),
  signal: (value, database) => database.search?.('x', { signal: value }),
  'the options of searchAll': (value, database) => first(database.searchAll?.('x', value)),
  'the options of query': (value, database) => database.query?.(value),
  'the options of queryAll': (value, database) => first(database.queryAll?.(value)),
  sort: (value, database) => database.query?.({ sort: value }),
  'id of get': (value, database) => database.get?.(value),
  'the options of get': (value, database) => database.get?.(1, value),
  'id of patch': (value, database) => database.patch?.(value, {}),
  'the changes of patch': (value, database) => database.patch?.(1, value),
  'the options of patch': (value, database) => database.patch?.(1, {}, value),
  'the options of delete': (value, database) => database.delete?.(value),
  'ids of delete': (value, database) => database.delete?.({ ids: value }),
  'ids.0 of delete': (value, database) => database.delete?.({ ids: [value] }),
  'the records of upsert': (value, database) => database.upsert?.(value),
  'a record': (value, database) => database.upsert?.([value]),
  'data of a record': (value, database) => database.upsert?.([{ data: value }]),
  'id of a record': (value, database) => database.upsert?.([{ id: value, data: {} }]),
  'uuid of a record': (value, database) => database.upsert?.([{ uuid: value, data: {} }]),
  'timestamps of a record': (value, database) => database.upsert?.([{ data: {}, timestamps: value }]),
  'a time of a record': (value, database) =>
    database.upsert?.([{ data: {}, timestamps: { created_at: value } }]),
  'vector of a record': (value, database) => database.upsert?.([{ data: {}, vector: value }]),
  'the options of upsert': (value, database) => database.upsert?.([], value),
  'the options of upsertLines': (value, database) => first(database.upsertLines?.(['{}'], value)),
  'the request of changes': (value, database) => database.changes?.(value),
  'the options of changes': (value, database) => database.changes?.({}, value),
  'after of changes': (value, database) => database.changes?.({ after: value }),
  'the request of follow': (value, database) => first(database.follow?.(value)),
  'the options of follow': (value, database) => first(database.follow?.({}, value)),
  'the options of describe': (value, database) => database.describe?.(value),
  'the options of reembed': (value, database) => database.reembed?.('all-MiniLM-L6-v2', value),
  'the model of reembed': (value, database) => database.reembed?.(value),
  'the options of cancelReembedding': (value, database) => database.cancelReembedding?.(value),
  'the options of databases': (value, _, databases) => databases.databases?.(value),
  'id of database': (value, _, databases) => databases.database?.(value),
  'id of createDatabase': (value, _, databases) => databases.createDatabase?.(value),
  settings: (value, _, databases) => databases.createDatabase?.('other', value),
  embed: (value, _, databases) => databases.createDatabase?.('other', { embed: value }),
  'embed.columns': (value, _, databases) =>
    databases.createDatabase?.('other', { embed: { columns: value } }),
  dimensions: (value, _, databases) => databases.createDatabase?.('other', { dimensions: value }),
  model: (value, _, databases) => databases.createDatabase?.('other', { model: value }),
  'the options of createDatabase': (value, _, databases) => databases.createDatabase?.('other', {}, value),
};

const OF_A_SERVICE: Readonly<Record<string, Call>> = {
  'the request of issueKey': (value, _, client) => client.issueKey?.(value),
  'databases of issueKey': (value, _, client) =>
    client.issueKey?.({ name: 'n', actions: ['search'], databases: value }),
  'expires_at of issueKey': (value, _, client) =>
    client.issueKey?.({ name: 'n', actions: ['search'], databases: '*', expires_at: value }),
  'the options of keys': (value, _, client) => client.keys?.(value),
  'id of revokeKey': (value, _, client) => client.revokeKey?.(value),
  'the options of revokeKey': (value, _, client) => client.revokeKey?.('k', value),
  'the request of createWebhook': (value, database) => database.createWebhook?.(value),
  'after of createWebhook': (value, database) =>
    database.createWebhook?.({ url: 'https://example.org', after: value }),
  'id of deleteWebhook': (value, database) => database.deleteWebhook?.(value),
  'the options of webhooks': (value, database) => database.webhooks?.(value),
  'the options of close': (value, _, client) => client.close?.(value),
};

/** Values that some members may have. */
const ALLOWED: ReadonlySet<string> = new Set([
  'a fraction of threshold',
  'a long text with half of a surrogate pair of the changes of patch',
  // Its members are columns.
  'an object of a class of data of a record',
  'an object of a class of the changes of patch',
]);

let directory: string;
let service: Service;
let cosift: Cosift;
const places = new Map<string, { database: Loose; databases: Loose }>();

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-values-'));
  cosift = await open(path.join(directory, 'data'), { threads: 1, embedWorkers: 1 });
  service = await Service.start();
  const client = new Client({ url: service.url, key: service.adminKey, retries: 0 });
  for (const [name, databases] of Object.entries({ library: cosift, client })) {
    const database = await databases.createDatabase('facts');
    await database.upsert([{ id: 1, data: { text: 'a tower' } }]);
    places.set(name, { database, databases } as unknown as { database: Loose; databases: Loose });
  }
});
afterAll(async () => {
  await cosift.close();
  await service.stop();
  await rm(directory, { recursive: true, force: true });
});

describe.each(['library', 'client'])('%s', (place) => {
  const calls = Object.entries(place === 'client' ? { ...CALLS, ...OF_A_SERVICE } : CALLS);

  test.each(calls)('%s', async (name, call) => {
    const { database, databases } = places.get(place)!;
    for (const [value, given] of VALUES) {
      if (ALLOWED.has(`${value} of ${name}`)) continue;
      const outcome = await (async () => call(given, database, databases))().then(
        (result) => `${value} gave ${JSON.stringify(result)}`,
        (error: unknown) => error,
      );
      expect(outcome, value).toMatchObject({ name: 'CosiftError' });
      const { code, detail } = outcome as CosiftError;
      expect(`${value}: ${code}`).toMatch(/: (invalid_\w+|too_large)$/);
      expect(detail.length, detail.slice(0, 80)).toBeLessThan(500);
    }
  });
});
