import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cosift, type Database, open } from 'cosift';
import { afterAll, beforeAll, expect, test } from 'vitest';

const directory = mkdtempSync(path.join(tmpdir(), 'cosift-abort-'));
let cosift: Cosift;
let database: Database;
beforeAll(async () => {
  cosift = await open(directory);
  database = await cosift.createDatabase('own', { dimensions: 2 });
  await database.upsert([{ id: 1, data: { name: 'a' }, vector: [1, 0] }]);
});
afterAll(async () => {
  await cosift.close();
  rmSync(directory, { recursive: true, force: true });
});

async function all(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const reason = new Error('no more');
const query = { vector: [1, 0] };
type Options = { signal: AbortSignal };
const calls: [string, (options: Options) => Promise<unknown>][] = [
  ['createDatabase', (options) => cosift.createDatabase('new', {}, options)],
  ['databases', (options) => cosift.databases(options)],
  ['doctor', (options) => all(cosift.doctor(options))],
  ['backup', (options) => all(cosift.backup(options))],
  ['describe', (options) => database.describe(options)],
  ['get', (options) => database.get(1, options)],
  ['search', (options) => database.search(query, options)],
  ['searchAll', (options) => all(database.searchAll(query, options))],
  ['query', (options) => database.query(options)],
  ['queryAll', (options) => all(database.queryAll(options))],
  ['map', (options) => database.map({ ...options })],
  ['changes', (options) => database.changes({ after: 1, waitMs: 60_000 }, options)],
  ['exportLines', (options) => all(database.exportLines(options))],
  ['upsertLines', async (options) => all(database.upsertLines(['{}'], options))],
  ['cancelReembedding', (options) => database.cancelReembedding(options)],
  ['drop', (options) => cosift.database('dropped').drop(options)],
];

test.each(calls)('%s ends with the reason of its signal, before and while it runs', async (name, call) => {
  await expect(call({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await cosift.createDatabase('dropped', { dimensions: 2 });
  const stop = new AbortController();
  const running = call({ signal: stop.signal });
  stop.abort(reason);
  // A small database is searched before the call returns.
  const outcome = await running.then(
    () => 'done',
    (error) => error,
  );
  expect(outcome === reason || (outcome === 'done' && name === 'search')).toBe(true);
});

test('a deletion that is aborted while it runs has the reason of its signal, or has its effect', async () => {
  const rows = Array.from({ length: 50_000 }, (_, i) => ({
    id: i + 1,
    data: { name: `name ${i}` },
    vector: [1, 0],
  }));
  await database.upsert(rows);
  const filter = { rules: [{ column: 'name', operator: 'contains' as const, value: ' 4999' }] };
  for (;;) {
    const stop = new AbortController();
    setImmediate(() => stop.abort(reason));
    const outcome = await database.delete({ filter, signal: stop.signal }).catch((error) => error);
    if (outcome === reason) break;
    expect(outcome).toBe(11);
    await database.upsert(rows.filter(({ data }) => data.name.includes(filter.rules[0]!.value)));
  }
});

test('an iterator that is aborted between two items gives no further one, and frees what it held', async () => {
  const rows = Array.from({ length: 20_000 }, (_, i) => ({ id: i + 1, data: {}, vector: [1, 0] }));
  await database.upsert(rows);
  const iterators: ((options: Options) => AsyncIterable<unknown>)[] = [
    (options) => cosift.doctor(options),
    (options) => cosift.backup(options),
    (options) => database.searchAll(query, options),
    (options) => database.queryAll(options),
    (options) => database.follow({}, options),
  ];
  // More than there may be at a time.
  for (let n = 0; n < 40; n++) iterators.push((options) => database.exportLines(options));
  for (const iterate of iterators) {
    const stop = new AbortController();
    const iterator = iterate({ signal: stop.signal })[Symbol.asyncIterator]();
    expect((await iterator.next()).done).toBe(false);
    stop.abort(reason);
    if (iterators.indexOf(iterate) < 6) await expect(iterator.next()).rejects.toBe(reason);
  }
  let bytes = 0;
  for await (const chunk of database.exportLines()) bytes += chunk.length;
  expect(bytes).toBeGreaterThan(20_000);
});

test('a vector that cannot be used is named', async () => {
  const of = (failure: unknown) => expect(failure).rejects;
  await of(database.search({ vector: [0, 0] })).toMatchObject({
    code: 'invalid_vector',
    problems: [{ pointer: '/query/vector', code: 'invalid_vector' }],
  });
  const records = [
    { data: {}, vector: Float32Array.of(1, 0, 0) },
    { data: {}, vector: Float32Array.of(0, 1, 0) },
  ];
  await of(database.upsert(records)).toMatchObject({
    code: 'invalid_dimensions',
    problems: [0, 1].map((at) => ({
      pointer: `/records/${at}/vector`,
      detail: 'vector has 3 values, database expects 2',
    })),
  });
});
