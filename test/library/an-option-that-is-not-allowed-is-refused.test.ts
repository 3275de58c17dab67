import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type CosiftError, open } from 'cosift';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../src/client/index.js';
import { LIMITS } from '../../src/schema/index.js';
import { native } from '../../src/store/local/binding.js';

let directory: string;
let cosift: Awaited<ReturnType<typeof open>>;

beforeAll(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'cosift-options-'));
  cosift = await open(path.join(directory, 'data'), { threads: 1, embedWorkers: undefined });
});

afterAll(async () => {
  await cosift.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A program in plain JavaScript has no types to stop it. */
type Loose = (...args: unknown[]) => unknown;

async function refusal(call: () => unknown): Promise<CosiftError> {
  const error = await (async () => call())().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ name: 'CosiftError', code: 'invalid_request' });
  return error as CosiftError;
}

describe('of open', () => {
  it.each<[unknown, string]>([
    [{ threads: -3 }, 'threads: is -3, must be from 1 to 1024'],
    [{ threads: 0 }, 'threads: is 0, must be from 1 to 1024'],
    [{ threads: 2 ** 32 + 1 }, 'threads: is 4294967297, must be from 1 to 1024'],
    [{ threads: 1.5 }, 'threads: is 1.5, must be an integer'],
    [{ threads: Number.NaN }, 'threads: is NaN, must be an integer'],
    [{ threads: '4' }, 'threads: is string, must be of type integer'],
    [{ embedWorkers: 257 }, 'embedWorkers: is 257, must be from 1 to 256'],
    [{ treads: 4 }, 'treads: is not a known member; did you mean "threads"?'],
    [{ embed_workers: 4 }, 'embed_workers: is not a known member; did you mean "embedWorkers"?'],
    [{ directory: 'elsewhere', resume: false }, 'resume: is not a known member; known: '],
    [{ models: { e5: '' } }, 'models.e5: must not be empty'],
    [{ models: { e5: '/no/such/place' } }, 'model "e5": there is no directory "/no/such/place"'],
    [{ models: ['e5=/e5'] }, 'models: is array, must be of type object'],
    [null, 'the options: is null, must be of type object'],
  ])('%j', async (options, detail) => {
    const place = path.join(directory, 'never');
    const error = await refusal(() => (open as Loose)(place, options));
    expect(error.detail).toContain(detail);
    expect(existsSync(place)).toBe(false);
  });

  it.each([[''], [undefined], [5]])('the directory %j', async (name) => {
    expect((await refusal(() => (open as Loose)(name))).detail).toMatch(/^(directory: |the options: lacks)/);
  });
});

describe('of a call', () => {
  it('is named with its value and what is allowed', async () => {
    const database = await cosift.createDatabase('d', { dimensions: 2 });
    const loose = database as unknown as Record<string, Loose>;
    const query = { vector: [1, 0] };
    const told: [() => unknown, string][] = [
      [() => (cosift.createDatabase as Loose).call(cosift, 5), 'id: is number, must be of type string'],
      [() => (cosift.database as Loose).call(cosift), 'the options: lacks the member "id"'],
      [() => loose.search?.(query, { sginal: 1 }), 'sginal: is not a known member; did you mean "signal"?'],
      [() => loose.search?.(query, { signal: {} }), 'signal: is object, must be an AbortSignal'],
      [() => loose.query?.({ timeout: 5 }), 'timeout: is not a known member; known: filter'],
      [
        () => loose.searchAll?.(query, { limit: '1' }) && drain(loose.searchAll?.(query, { limit: '1' })),
        'limit: ',
      ],
      [() => loose.upsert?.([], { signal: 'now' }), 'signal: is "now", must be an AbortSignal'],
      [() => loose.get?.(1, { singal: 1 }), 'did you mean "signal"?'],
      [() => loose.changes?.({ after: -1 }), `after: is -1, must be from 0 to ${Number.MAX_SAFE_INTEGER}`],
      [() => loose.changes?.({ limit: 1.5 }), 'limit: is 1.5, must be an integer'],
      [() => loose.changes?.({ wait: 5 }), 'wait: is not a known member; known: after, limit, waitMs'],
      [() => loose.changes?.({}, { waitMs: 5 }), 'waitMs: is not a known member; known: signal'],
      [() => loose.reembed?.('m', { onProgress: true }), 'onProgress: is boolean, must be a function'],
      [() => loose.reembed?.(), 'the options: lacks the member "model"'],
      [() => loose.reembed?.(5), 'model: is number, must be of type string'],
      [() => loose.upsert?.(), 'records: is undefined, must be an array or another iterable of records'],
      [() => loose.upsert?.({ id: 1, data: {} }), 'records: is object, must be an array'],
      [() => loose.search?.(), 'query: is undefined, must be a text'],
      [() => loose.search?.(null), 'query: is null'],
      [() => drain(loose.searchAll?.()), 'query: is undefined'],
    ];
    for (const [call, detail] of told) expect((await refusal(call)).detail).toContain(detail);
  });

  async function drain(records: unknown): Promise<void> {
    for await (const _ of records as AsyncIterable<unknown>);
  }
});

describe('of the client', () => {
  const client = (options: object) =>
    new Client({ url: 'http://localhost:1', key: 'k', ...options } as never);

  it.each<[object, string]>([
    [{ retries: -1 }, 'retries: is -1, must be from 0 to 100'],
    [{ retries: 0.5 }, 'retries: is 0.5, must be an integer'],
    [{ maxWaitMs: Number.POSITIVE_INFINITY }, 'maxWaitMs: is Infinity, must be an integer'],
    [{ retrys: 1 }, 'did you mean "retries"?'],
    [{ url: 'localhost:8080' }, 'url: is "localhost:8080", must be a URL of http or https'],
    [{ url: undefined }, 'the options: lacks the member "url"'],
    [{ key: 5 }, 'key: is number, must be of type string'],
    [{ fetch: 'x' }, 'fetch: is "x", must be a function'],
  ])('%j', async (options, detail) => {
    expect((await refusal(() => client(options))).detail).toContain(detail);
  });

  it('is refused before anything is sent', async () => {
    const sent: unknown[] = [];
    const fetch = async (...call: unknown[]) => {
      sent.push(call);
      return new Response('{}');
    };
    const loose = client({ fetch }) as unknown as Record<string, Loose>;
    const database = loose.database?.('d') as Record<string, Loose>;
    expect((await refusal(() => database.query?.({ limit: '1' }))).detail).toContain('limit: ');
    expect((await refusal(() => loose.databases?.({ singal: 1 }))).detail).toContain(
      'did you mean "signal"?',
    );
    expect((await refusal(() => loose.createDatabase?.('d', {}, { singal: 1 }))).detail).toContain(
      '"signal"?',
    );
    expect((await refusal(() => database.changes?.({ waitMs: -1 }))).detail).toContain('waitMs: is -1');
    expect((await refusal(() => database.upsert?.([{ data: {} }], { retries: 1 }))).detail).toContain(
      'retries',
    );
    expect((await refusal(() => database.upsert?.(5))).detail).toContain('records: is number');
    expect((await refusal(() => database.reembed?.('m', { onprogress: 1 }))).detail).toContain(
      '"onProgress"?',
    );
    expect(sent).toEqual([]);
  });
});

describe('of the native module', () => {
  const limits = {
    filterDepth: LIMITS.filter_depth,
    filterRules: LIMITS.filter_rules,
    filterValueBytes: LIMITS.filter_value_bytes,
    batchRecords: LIMITS.batch_records,
    recordBytes: LIMITS.record_bytes,
    pageBytes: LIMITS.page_bytes,
    databaseColumns: LIMITS.database_columns,
    changeRetentionDays: LIMITS.change_retention_days,
  };

  it.each([
    // Not -3: where this test fails, it must not start 4,294,967,293 threads.
    ['/threads', { threads: 1.5, vectorMegabytes: 1, limits }],
    ['/threads', { threads: Number.NaN, vectorMegabytes: 1, limits }],
    ['/vectorMegabytes', { vectorMegabytes: -1, limits }],
    ['/batchRecords', { vectorMegabytes: 1, limits: { ...limits, batchRecords: 2 ** 32 } }],
    ['/filterDepth', { vectorMegabytes: 1, limits: { ...limits, filterDepth: -1 } }],
  ])('%s of %j', (pointer, options) => {
    const place = path.join(directory, 'never');
    expect(native().openEngine(place, options)).toMatchObject({
      code: 'invalid_request',
      problems: [{ pointer }],
    });
    expect(existsSync(place)).toBe(false);
  });
});
