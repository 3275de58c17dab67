import { describe, expect, test } from 'vitest';
import type { Database, NewRecord } from '../../src/api/index.js';
import type { LineChunks } from '../../src/api/line-chunks.js';
import { CosiftError } from '../../src/client/index.js';
import { bothSides } from './both-sides.js';

const sides = bothSides();

const record = (id: number): NewRecord => ({ id, data: {}, vector: [1, 0] });
const line = (id: number, text = '') => `${JSON.stringify({ id, data: { text }, vector: [1, 0] })}\n`;
const loose = (value: unknown) => value as never;

async function* failing<T>(items: T[], error: unknown) {
  yield* items;
  throw error;
}

/** `onPending` is called when all items have been read. */
async function* pending<T>(items: T[], onPending = () => {}) {
  yield* items;
  onPending();
  await new Promise(() => undefined);
}

async function upsertLines(database: Database, chunks: LineChunks, options = {}) {
  const events = [];
  for await (const event of database.upsertLines(chunks, options)) events.push(event);
  return events.at(-1);
}

describe.each(['library', 'client'])('%s', (side) => {
  let database: Database;
  let number = 0;
  const create = async () => {
    number += 1;
    database = await sides.get(side)!.createDatabase(`sources-${number}`, { dimensions: 2 });
  };

  test.each([
    ['at once', []],
    ['after a commit', Array.from({ length: 1001 }, (_, i) => record(i + 1))],
  ])('an abort ends an upsert whose source is pending %s', async (_, first) => {
    await create();
    const stop = new AbortController();
    const reason = new Error('no more');
    // After the reader has begun to wait for the next record.
    const abort = () => setImmediate(() => stop.abort(reason));
    const upsert = database.upsert(pending(first, abort), { signal: stop.signal });
    await expect(upsert).rejects.toBe(reason);
    expect((await database.describe()).records).toBe(first.length === 0 ? 0 : 1000);
  });

  test('an abort ends an upsert of lines whose source is pending', async () => {
    await create();
    const upsert = upsertLines(database, pending([line(1)]), { signal: AbortSignal.timeout(300) });
    await expect(upsert).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }));
  });

  test.each([
    ['a string', 'abc'],
    ['no text', ''],
    ['a number', 7],
    ['nothing', undefined],
  ])('an upsert of %s is refused', async (_, records) => {
    await create();
    await expect(database.upsert(loose(records))).rejects.toMatchObject({
      code: 'invalid_request',
      detail: expect.stringMatching(/^records: is (string|number|undefined), must be an array/),
    });
  });

  const text = line(1, 'ä😀') + line(2);
  const bytes = new TextEncoder().encode(text);
  test.each<[string, () => LineChunks]>([
    ['a string', () => text],
    ['an array of strings', () => [line(1, 'ä😀'), line(2)]],
    ['strings that divide a surrogate pair', () => text.split('')],
    ['an array of bytes', () => [bytes.subarray(0, 20), bytes.subarray(20)]],
    ['bytes and strings', () => [bytes.subarray(0, 2), text.slice(2)]],
    [
      'an asynchronous source of strings',
      () =>
        (async function* () {
          yield text;
        })(),
    ],
  ])('lines come from %s', async (_, chunks) => {
    await create();
    expect(await upsertLines(database, chunks())).toMatchObject({ type: 'summary', created: 2, failed: 0 });
    expect((await database.get(1))?.data).toEqual({ text: 'ä😀' });
  });

  test.each<[string, unknown, string]>([
    ['null', null, 'chunks: is null, must be an iterable of Uint8Array or string'],
    ['undefined', undefined, 'chunks: is undefined, must be an iterable of Uint8Array or string'],
    ['a number', 1, 'chunks: is number, must be an iterable of Uint8Array or string'],
    ['an object', {}, 'chunks: is object, must be an iterable of Uint8Array or string'],
    ['a number chunk', [line(1), 7], 'chunk 1: is number, must be a Uint8Array or a string'],
    ['a null chunk', [null], 'chunk 0: is null, must be a Uint8Array or a string'],
    ['half of a character', ['\ud800'], 'chunk 0: contains half of a surrogate pair'],
    ['half of a character before bytes', ['\ud800', bytes], 'chunk 1: contains half of a surrogate pair'],
    ['half of a character in the middle', ['a\udc00b'], 'chunk 0: contains half of a surrogate pair'],
  ])('lines are refused from %s', async (_, chunks, detail) => {
    await create();
    const error = await upsertLines(database, loose(chunks)).catch((error) => error);
    expect(error).toBeInstanceOf(CosiftError);
    expect(error).toMatchObject({ code: 'invalid_request', detail });
  });

  test.each([
    ['first', []],
    ['after lines', [line(1)]],
  ])('a failure of the source that comes %s is thrown as it is', async (_, first) => {
    await create();
    const reason = new Error('the disk is gone');
    await expect(upsertLines(database, failing(first, reason))).rejects.toBe(reason);
    await expect(database.upsert(failing([], reason))).rejects.toBe(reason);
  });
});
