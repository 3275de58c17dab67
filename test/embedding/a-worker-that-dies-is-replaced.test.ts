import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEmbedder } from '../../src/embedding/index.js';
import { inFull } from '../helpers/full.js';
import { HIDDEN, smallModel } from '../helpers/small-model.js';

// Whether it is one word is known at its end, and its letters need more memory than the workers here have.
const TOO_MUCH = 'a'.repeat(1_500_000);

test('its text gets an error, every other one its vector', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cosift-small-model-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const model = smallModel(join(root, 'model'));
  const embedder = await createEmbedder({ model, workers: 2, workerMemoryMb: 16 });
  try {
    const expected = await embedder.embedQuery('a red text');
    const texts = Array.from({ length: 100 }, (_, at) => `green record ${at}`);
    const [import_, failed, query] = await Promise.allSettled([
      embedder.embedPassages(texts),
      embedder.embedPassages(['red', TOO_MUCH, 'blue']),
      embedder.embedQuery('a blue query beside it'),
    ]);
    expect(failed).toMatchObject({ status: 'rejected', reason: { code: 'internal' } });
    expect(import_.status).toBe('fulfilled');
    expect(query.status).toBe('fulfilled');
    // Both workers are replaced several times, and the vectors stay the same.
    for (let round = 0; round < inFull(2, 1); round += 1) {
      await expect(embedder.embedQuery(`${TOO_MUCH}${round}`)).rejects.toMatchObject({ code: 'internal' });
      const { vectors } = await embedder.embedPassages(['a red text', 'a red text']);
      expect(Float64Array.from(vectors.subarray(0, HIDDEN))).toEqual(expected);
    }
    expect(embedder.stats()).toMatchObject({ queued: 0, running: 0 });
  } finally {
    await embedder.close();
  }
});
