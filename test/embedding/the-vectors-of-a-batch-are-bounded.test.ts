import { expect, test } from 'vitest';
import { QueuedEmbedder } from '../../src/embedding/queued-embedder.js';
import { EmbeddingScheduler, type Executor } from '../../src/embedding/scheduler.js';
import { createVectorCache } from '../../src/embedding/vector-cache.js';

const PER_RECORD = 4_096;

/** Makes vectors of one value, and passages of each text whose passages it should make. */
function embedderOf(passagesOf: (text: string) => number): QueuedEmbedder {
  const place = { text: 'a', line: 0, start: 0, end: 1 };
  const executor: Executor = {
    concurrency: 2,
    sliceSize: { texts: 16, characters: 2_000 },
    run: async (_, texts, _signal, split) => ({
      vectors: new Float32Array(texts.length).fill(split?.onlySplits ? 0 : 1),
      splits: !split
        ? []
        : texts.map((text, at) => {
            const count = passagesOf(text);
            return { text: at, count, passages: split.onlySplits ? [] : Array(count).fill(place) };
          }),
    }),
    close: async () => undefined,
  };
  const scheduler = new EmbeddingScheduler(executor, { dimensions: 1, maxQueue: 4_096, maxWaitMs: 0 });
  const identity = { model: 'model', fingerprint: 'fingerprint', dimensions: 1, window: 256 };
  return new QueuedEmbedder(identity, scheduler, createVectorCache(1_000));
}

test.each([
  ['of texts that may have too many', 'long '.repeat(PER_RECORD), PER_RECORD, 32],
  ['of shorter texts', 'short', 250, 524],
])('a batch takes 131,072 passages %s, and no more', async (_, text, passages, most) => {
  const embedder = embedderOf(() => passages);
  const split = { lines: () => [], passages: { perRecord: PER_RECORD, tokens: 16 } };
  const embed = (texts: number, allOrNothing: boolean) =>
    embedder.embedPassages(Array(texts).fill(text), { split, allOrNothing });
  expect((await embed(most, true)).vectors).toHaveLength(most * passages);
  await expect(embed(most + 1, true)).rejects.toMatchObject({
    code: 'too_large',
    detail: expect.stringContaining(`${(most + 1) * passages} passages, at most 131072`),
    fields: { max: 131_072 },
  });
  // The parts of a stream have a bound of their own.
  expect((await embed(most + 1, false)).vectors).toHaveLength((most + 1) * passages);
  await embedder.close();
});
