import { expect, test } from 'vitest';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';
import { TEXTS } from './texts.js';

const LONG = 'word '.repeat(80);
const many = (count: number) => Array.from({ length: count }, (_, i) => `${LONG} ${i}`);

async function withEmbedder(maxQueue: number, body: (embedder: Embedder) => Promise<void>): Promise<void> {
  const embedder = await createEmbedder({ workers: 1, maxQueue, maxWaitMs: 0 });
  try {
    await body(embedder);
  } finally {
    await embedder.close();
  }
}

test('at the limit callers get busy, and queries have a limit of their own', () =>
  withEmbedder(8, async (embedder) => {
    const first = embedder.embedPassages(many(40));
    await expect(embedder.embedPassages(['one more'])).rejects.toMatchObject({ code: 'busy', status: 503 });
    // The worker has the first texts in hand; this many queries wait.
    const queries = Array.from({ length: 8 }, (_, i) => embedder.embedQuery(`query ${i}`));
    await expect(embedder.embedQuery('one more')).rejects.toMatchObject({ code: 'busy' });
    await Promise.all(queries);
    expect((await first).vectors).toHaveLength(40 * embedder.dimensions);
    expect((await embedder.embedPassages(['one more'])).vectors).toHaveLength(embedder.dimensions);
    expect(embedder.stats()).toMatchObject({ queued: 0, running: 0, inferences: 49 });
  }));

test('queries go before records, and a single record does not wait for a long import', () =>
  withEmbedder(1_000, async (embedder) => {
    const order: string[] = [];
    const done = (name: string) => () => order.push(name);
    const all = [
      embedder.embedPassages(many(60)).then(done('import')),
      embedder.embedPassages(['a record']).then(done('record')),
      embedder.embedQuery('a query').then(done('query')),
    ];
    await Promise.all(all);
    expect(order).toEqual(['query', 'record', 'import']);
  }));

test('an abandoned import stops, and the worker goes on with the next', () =>
  withEmbedder(1_000, async (embedder) => {
    const leaving = new AbortController();
    const abandoned = embedder.embedPassages(many(200), { signal: leaving.signal });
    leaving.abort(new Error('the caller left'));
    await expect(abandoned).rejects.toThrow('the caller left');
    expect(embedder.stats().queued).toBe(0);
    await embedder.embedPassages(TEXTS.slice(0, 3));
    // What the worker had in hand was finished; the rest was never begun.
    expect(embedder.stats().inferences).toBeLessThan(20);
    await expect(embedder.embedQuery('late', { signal: leaving.signal })).rejects.toThrow('the caller left');
  }));

test('closing rejects what waits, lets the rest finish, and may be repeated', async () => {
  const embedder = await createEmbedder({ workers: 1 });
  const inHand = embedder.embedQuery('in hand');
  const waiting = embedder.embedPassages(['waiting']);
  const closing = embedder.close();
  await expect(waiting).rejects.toMatchObject({ code: 'stopped' });
  expect(await inHand).toHaveLength(384);
  await closing;
  await embedder.close();
  await expect(embedder.embedQuery('too late')).rejects.toMatchObject({ code: 'stopped' });
});
