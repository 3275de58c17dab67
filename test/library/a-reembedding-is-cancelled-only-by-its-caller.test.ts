import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { open } from '../../src/index.js';
import { inFull } from '../helpers/full.js';
import { firstTokenModel } from '../helpers/model-variant.js';

const FACTS = inFull(400, 150);

test('not by one who joins it, nor by one whose signal was aborted before', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'cosift-cancel-'));
  const first = firstTokenModel(path.join(directory, 'first'));
  const cosift = await open(path.join(directory, 'data'), { models: { first }, embedWorkers: 1 });
  try {
    const facts = await cosift.createDatabase('facts');
    await facts.upsert(Array.from({ length: FACTS }, (_, i) => ({ id: i + 1, data: { text: `fact ${i}` } })));
    let joined: Promise<unknown>[] = [];
    const done = await facts.reembed('first', {
      onProgress: ({ state }) => {
        if (state !== 'running' || joined.length > 0) return;
        const late = new AbortController();
        const onProgress = () => late.abort(new Error('late'));
        joined = [
          facts.reembed('first', { signal: AbortSignal.abort(new Error('early')) }),
          facts.reembed('first', { signal: late.signal, onProgress }),
        ];
        for (const call of joined) call.catch(() => undefined);
      },
    });
    expect(done).toMatchObject({ state: 'done', done: FACTS });
    const [early, late] = await Promise.allSettled(joined);
    expect(early).toMatchObject({ status: 'rejected', reason: { message: 'early' } });
    expect(late).toMatchObject({ status: 'rejected', reason: { message: 'late' } });
    expect(await facts.describe()).toMatchObject({ model: 'first' });
  } finally {
    await cosift.close();
    rmSync(directory, { recursive: true });
  }
});
