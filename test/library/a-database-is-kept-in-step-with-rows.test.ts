import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as otherWork } from 'node:timers/promises';
import { type Cosift, open } from 'cosift';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cosift as cli } from '../helpers/processes.js';

let root: string;
let cosift: Cosift;
/** The texts that were embedded. */
let embedded: string[];
const models = {
  counted: {
    dimensions: 2,
    fingerprint: 'counted',
    embed: (texts: readonly string[]) => {
      embedded.push(...texts);
      return texts.map((text) => [1, text.length]);
    },
  },
};
beforeEach(async () => {
  root = mkdtempSync(path.join(tmpdir(), 'cosift-sync-'));
  embedded = [];
  cosift = await open(path.join(root, 'data'), { models });
  await cosift.createDatabase('facts', { model: 'counted', embed: { columns: ['name'] } });
});
afterEach(async () => {
  vi.useRealTimers();
  await cosift.close();
  rmSync(root, { recursive: true, force: true });
});

const article = (sku: string | number | bigint, name: string, more: object = {}) => ({ sku, name, ...more });

test('the second pass embeds nothing, and a changed row is embedded once', async () => {
  const facts = cosift.database('facts');
  let rows: object[] = [article('A-1', 'Kettle'), article('B/7', 'Toaster'), article('C', 'Pan')];
  const sync = await facts.sync({ name: 'shop', rows: () => rows, key: 'sku' });
  const progress = { read: 3, written: 3, unchanged: 0, deleted: 0, refused: 0, withheld: 0 };
  expect(await sync.once()).toEqual(progress);
  expect(embedded.sort()).toEqual(['Kettle', 'Pan', 'Toaster']);
  expect(await facts.get('key:shop/B%2F7')).toMatchObject({ data: { sku: 'B/7', name: 'Toaster' } });
  embedded = [];
  expect(await sync.once()).toMatchObject({ written: 0, unchanged: 3 });
  expect(embedded).toEqual([]);
  // The key of a row changes, and the text of another one.
  rows = [article('A-2', 'Kettle'), article('B/7', 'Toaster, red')];
  expect(await sync.once()).toMatchObject({ written: 2, deleted: 2 });
  expect(embedded.sort()).toEqual(['Kettle', 'Toaster, red']);
  await sync.close();
});

test('keys of several columns, times, and columns are taken as named', async () => {
  const facts = cosift.database('facts');
  async function* rows() {
    yield {
      shop: 'a/b',
      sku: 1,
      name: 'Pan',
      secret: 'x',
      at: new Date(0),
      changed: '2020-01-01T00:00:00+01:00',
    };
    yield { shop: 'a', sku: 12n, name: 'Pot', at: null };
  }
  const times = { created: 'at', changed: 'changed' };
  const sync = await facts.sync({ name: 'shop', rows, key: ['shop', 'sku'], columns: ['name'], times });
  expect(await sync.once()).toMatchObject({ written: 2 });
  expect(await facts.get('key:shop/a%2Fb/1')).toMatchObject({
    data: { name: 'Pan' },
    timestamps: { created_at: '1970-01-01T00:00:00.000Z', changed_at: '2019-12-31T23:00:00.000Z' },
  });
  expect((await facts.get('key:shop/a/12'))?.data).toEqual({ name: 'Pot' });
  await sync.close();
});

test('rows that cannot become records are listed with their keys and reasons', async () => {
  const facts = cosift.database('facts');
  const rows = () => [
    article('a', 'first'),
    article('a', 'the same key'),
    article('b', 'a date', { at: new Date(0) }),
    article('c', 'not a number', { price: Number.NaN }),
    article('d', 'a map', { map: { of: { objects: 1 } } }),
    article('', 'no key'),
    { name: 'no column' },
    article('e', 'good'),
  ];
  const sync = await facts.sync({ name: 'shop', rows, key: 'sku' });
  expect(await sync.once()).toMatchObject({ read: 8, written: 2, refused: 6 });
  const { refusedRows } = await sync.status();
  expect(Object.fromEntries(refusedRows.map(({ key, reason }) => [key, reason]))).toEqual({
    a: 'an earlier row has this key',
    b: expect.stringContaining('is a Date'),
    c: expect.stringContaining('is NaN'),
    d: expect.stringContaining('/data/map'),
    '': 'the key is empty',
    'row 7': 'the key column "sku" is missing; it must be a text or a number',
  });
  expect((await facts.get('key:shop/a'))?.data).toEqual({ sku: 'a', name: 'first' });
  await sync.close();
});

test('a row that is not an object is refused with its place', async () => {
  const facts = cosift.database('facts');
  const rows = () => [article('a', 'one'), null, undefined, 5, ['a', 'b'], 'text', article('b', 'two')];
  const sync = await facts.sync({ name: 'shop', rows: rows as () => object[], key: 'sku' });
  expect(await sync.once()).toMatchObject({ read: 7, written: 2, refused: 5 });
  expect((await sync.status()).refusedRows).toEqual([
    { key: 'row 2', reason: 'is null, must be of type object' },
    { key: 'row 3', reason: 'is undefined, must be of type object' },
    { key: 'row 4', reason: 'is number, must be of type object' },
    { key: 'row 5', reason: 'is array, must be of type object' },
    { key: 'row 6', reason: 'is string, must be of type object' },
  ]);
  await sync.close();
});

test('a column that no row has fails the pass before anything is deleted', async () => {
  const facts = cosift.database('facts');
  let rows: object[] = [article('a', 'one'), article('b', 'two')];
  const sync = await facts.sync({ name: 'shop', rows: () => rows, key: 'sku', columns: ['name'] });
  await sync.once();
  rows = [{ sku: 'a', title: 'one' }];
  await expect(sync.once()).rejects.toThrow('no row has the column "name"');
  expect(await sync.status()).toMatchObject({ state: 'failed', records: 2, reason: expect.any(String) });
  await sync.close();
});

test('a source that fails deletes nothing, and its error is thrown as it is', async () => {
  const facts = cosift.database('facts');
  const failure = new Error('connection lost');
  let fails = false;
  async function* rows() {
    yield article('a', 'one');
    if (fails) throw failure;
    yield article('b', 'two');
  }
  const sync = await facts.sync({ name: 'shop', rows, key: 'sku' });
  await sync.once();
  fails = true;
  await expect(sync.once()).rejects.toBe(failure);
  expect(await sync.status()).toMatchObject({ state: 'failed', records: 2, reason: 'connection lost' });
  // Another process sees it, too.
  const shown = () => cli('sync', 'status', 'shop', '--database', 'facts', '--data', path.join(root, 'data'));
  expect(await shown()).toMatchObject({ code: 1, stdout: 'shop  failed: connection lost · 2 records\n' });
  // Who waits to be in step waits until somebody repairs the source.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const inStep = sync.inStep();
  while ((await sync.status()).nextAttempt === undefined) await otherWork();
  fails = false;
  const before = Date.now();
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  expect((await inStep).getTime()).toBeGreaterThanOrEqual(before);
  expect(await sync.status()).toMatchObject({ state: 'in_step', inStepAsOf: await inStep });
  expect(await shown()).toMatchObject({ code: 0, stdout: expect.stringContaining('in step as of') });
  await sync.close();
});

test('all who wait to be in step share a pass that begins after their calls', async () => {
  const facts = cosift.database('facts');
  let passes = 0;
  let goOn = () => {};
  const sync = await facts.sync({
    name: 'shop',
    rows: async function* () {
      passes += 1;
      yield article('a', `pass ${passes}`);
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
    },
    key: 'sku',
  });
  const first = sync.inStep();
  while (passes < 1) await otherWork();
  const [second, third] = [sync.inStep(), sync.inStep()];
  goOn();
  await first;
  while (passes < 2) await otherWork();
  goOn();
  await Promise.all([second, third]);
  expect(passes).toBe(2);
  expect((await facts.get('key:shop/a'))?.data.name).toBe('pass 2');
  await sync.close();
});

test('a signal or a close ends the running pass and allows another sync', async () => {
  const facts = cosift.database('facts');
  const caller = new AbortController();
  const endless = {
    name: 'shop',
    key: 'sku',
    rows: async function* () {
      yield article('a', 'one');
      await new Promise(() => {});
    },
  };
  const sync = await facts.sync(endless, { signal: caller.signal });
  await expect(facts.sync(endless)).rejects.toMatchObject({ code: 'busy' });
  const pass = sync.once();
  const reason = new Error('enough');
  caller.abort(reason);
  await expect(pass).rejects.toBe(reason);
  await sync.close();
  await expect(sync.once()).rejects.toBe(reason);
  const other = await facts.sync(endless);
  const another = other.once();
  another.catch(() => undefined);
  await other.close();
  await expect(another).rejects.toMatchObject({ code: 'stopped' });
});

test('options that are not valid are refused', async () => {
  const facts = cosift.database('facts');
  const good = { name: 'shop', rows: () => [], key: 'sku' };
  const refused = (source: object, options?: object) =>
    expect(facts.sync(source as never, options as never)).rejects.toMatchObject({ code: 'invalid_request' });
  await refused({ ...good, name: 'Shop 1' });
  await refused({ ...good, key: [] });
  await refused({ ...good, columns: [''] });
  await refused({ ...good, rows: [] });
  await refused({ ...good, times: { synced: 'at' } });
  await refused({ ...good, maxDeletes: -1 });
  await refused({ ...good, colums: ['name'] });
  await refused(good, { every: 1 });
});

test('a backup has the state, and a directory that is only read has no sync', async () => {
  const facts = cosift.database('facts');
  const many = Array.from({ length: 30 }, (_, at) => article(at, `article ${at}`));
  let rows = many;
  const source = { name: 'shop', rows: () => rows, key: 'sku' };
  const sync = await facts.sync(source);
  await sync.once();
  rows = many.slice(0, 15);
  expect(await sync.once()).toMatchObject({ withheld: 15 });
  const { lastWholePass, ...status } = await sync.status();
  expect(lastWholePass).toMatchObject({ read: 15, written: 0, deleted: 0, withheld: 15 });
  const archive = path.join(root, 'backup.tar');
  await pipeline(cosift.backup(), createWriteStream(archive));
  const restored = path.join(root, 'restored');
  expect(await cli('restore', archive, '--data', restored)).toMatchObject({ code: 0 });
  await using copy = await open(restored, { models });
  const again = await copy.database('facts').sync(source);
  expect(await again.status()).toEqual(status);
  expect(await again.confirm()).toMatchObject({ deleted: 15, withheld: 0 });
  await using reader = await open(path.join(root, 'data'), { readOnly: true, models });
  await expect(reader.database('facts').sync(source)).rejects.toMatchObject({ code: 'read_only' });
  await again.close();
  await sync.close();
});
