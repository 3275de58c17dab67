import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';

// Room for two vectors of 384 values under short texts, not for three.
const TWO_ENTRIES = 4_000;

let embedder: Embedder;

beforeEach(async () => {
  embedder = await createEmbedder({ workers: 1, cacheBytes: TWO_ENTRIES });
});
afterEach(() => embedder.close());

test('a repeated query is not run again until its vector is evicted', async () => {
  for (const text of ['one', 'two', 'one', 'three', 'one']) {
    await embedder.embedQuery(text);
  }
  expect(embedder.stats()).toMatchObject({ cacheHits: 2, cacheMisses: 3, inferences: 3 });
  await embedder.embedQuery('two');
  expect(embedder.stats()).toMatchObject({ cacheHits: 2, cacheMisses: 4, inferences: 4 });
});

test('what a caller does to its vector does not reach the next', async () => {
  const first = await embedder.embedQuery('one');
  const before = first.slice();
  first.fill(0);
  expect(await embedder.embedQuery('one')).toEqual(before);
});

test('callers who want the same text at the same time share one run', async () => {
  const vectors = await Promise.all(Array.from({ length: 20 }, () => embedder.embedQuery('shared')));
  for (const vector of vectors) {
    expect(vector).toEqual(vectors[0]);
  }
  expect(embedder.stats()).toMatchObject({ cacheHits: 19, cacheMisses: 1, inferences: 1 });
});

test('one who leaves does not take the run from the others', async () => {
  const busy = embedder.embedQuery('ahead of them');
  const leaving = new AbortController();
  const left = embedder.embedQuery('shared', { signal: leaving.signal });
  const stayed = embedder.embedQuery('shared');
  leaving.abort();
  await expect(left).rejects.toMatchObject({ name: 'AbortError' });
  expect(await stayed).toHaveLength(384);
  await busy;
  expect(embedder.stats().inferences).toBe(2);
});

test('a text whose callers have all left is never run, and a new call runs it', async () => {
  const busy = embedder.embedQuery('ahead of them');
  const leaving = new AbortController();
  const left = [1, 2].map(() => embedder.embedQuery('shared', { signal: leaving.signal }));
  leaving.abort();
  expect((await Promise.allSettled(left)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await busy;
  expect(embedder.stats()).toMatchObject({ queued: 0, inferences: 1 });
  expect(await embedder.embedQuery('shared')).toHaveLength(384);
});
