import { expect, test } from 'vitest';
import { createEmbedder } from '../../src/embedding/index.js';
import { inFull } from '../helpers/full.js';

// Whether it is one word is known at its end, and its letters need more memory than the workers here have.
const TOO_MUCH = 'a'.repeat(4_000_000);

test('its text gets an error, every other one its vector', async () => {
  const embedder = await createEmbedder({ workers: 2, workerMemoryMb: 48 });
  try {
    const expected = await embedder.embedQuery('a text');
    const texts = Array.from({ length: 100 }, (_, at) => `record ${at}`);
    const [import_, failed, query] = await Promise.allSettled([
      embedder.embedPassages(texts),
      embedder.embedPassages(['before', TOO_MUCH, 'after']),
      embedder.embedQuery('a query beside it'),
    ]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'internal' } });
    expect(import_.status).toBe('fulfilled');
    expect(query.status).toBe('fulfilled');
    // Both workers are replaced several times, and the vectors stay the same.
    for (let round = 0; round < inFull(2, 1); round += 1) {
      await expect(embedder.embedQuery(`${TOO_MUCH}${round}`)).rejects.toMatchObject({ code: 'internal' });
      const { vectors } = await embedder.embedPassages(['a text', 'a text']);
      expect(Float64Array.from(vectors.subarray(0, 384))).toEqual(expected);
    }
    expect(embedder.stats()).toMatchObject({ queued: 0, running: 0 });
  } finally {
    await embedder.close();
  }
});
