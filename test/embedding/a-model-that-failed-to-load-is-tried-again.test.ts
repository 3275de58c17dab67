import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';
import { createEmbedder } from '../../src/embedding/index.js';
import { smallModel } from '../helpers/small-model.js';

const root = mkdtempSync(path.join(tmpdir(), 'cosift-late-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Calls until it succeeds; the test's own limit ends what never does. */
async function untilDone<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch {
      await pause(50);
    }
  }
}

test('by a later call, and not by each', async () => {
  const late = smallModel(path.join(root, 'late'));
  const graph = path.join(late, 'onnx/model.onnx');
  renameSync(graph, `${graph}.away`);
  const databases = await openDatabases({ directory: path.join(root, 'data'), models: { late } });
  try {
    const create = () => databases.catalog.create('db', { model: 'late' });
    // Another attempt is made after a second.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const burst = await Promise.allSettled(Array.from({ length: 20 }, create));
    burst.push(...(await Promise.allSettled([create()])));
    const reasons = new Set(burst.map((outcome) => outcome.status === 'rejected' && outcome.reason));
    // One error: it was loaded once.
    expect([...reasons]).toEqual([expect.objectContaining({ code: 'invalid_request' })]);
    clock.mockRestore();
    renameSync(`${graph}.away`, graph);
    const { database } = await untilDone(create);
    expect(database.model).toBe('late');
  } finally {
    await databases.close();
  }
});

test('by a worker that takes the place of another', async () => {
  const model = smallModel(path.join(root, 'replaced'));
  const graph = path.join(model, 'onnx/model.onnx');
  const embedder = await createEmbedder({ model, workers: 1, workerMemoryMb: 16 });
  try {
    const before = await embedder.embedQuery('a red text');
    renameSync(graph, `${graph}.away`);
    // More than the worker has memory for: it ends, and the next one finds no model.
    await expect(embedder.embedQuery('a'.repeat(1_500_000))).rejects.toMatchObject({ code: 'internal' });
    await expect(embedder.embedPassages(['a red text'])).rejects.toMatchObject({
      code: 'internal',
      detail: expect.stringContaining('model.onnx'),
    });
    renameSync(`${graph}.away`, graph);
    const { vectors } = await untilDone(() => embedder.embedPassages(['a red text']));
    expect(Float64Array.from(vectors)).toEqual(before);
  } finally {
    await embedder.close();
  }
});
