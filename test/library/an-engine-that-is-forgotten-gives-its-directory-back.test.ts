import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';

const NATIVE = fileURLToPath(new URL('../../native/', import.meta.url));
const BINDING = path.join(NATIVE, readdirSync(NATIVE).find((name) => name.endsWith('.node'))!);

const directories: string[] = [];
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true });
});

// The binding itself: what the classes above it do must not matter.
const OPEN_AND_WRITE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { openEngine } = require(workerData.binding);
  (async () => {
    const engine = openEngine(workerData.directory, { threads: 1, vectorMegabytes: 64, limits: workerData.limits });
    await engine.load();
    const settings = JSON.stringify({ model: null, fingerprint: null, dimensions: 2 });
    const made = await engine.createDatabase('db', settings);
    if (!Buffer.isBuffer(made)) throw new Error(JSON.stringify(made));
    const records = [{ id: 1, data: {}, vector: [1, 0] }];
    const prepared = await engine.prepareBatch('db', Buffer.from(JSON.stringify({ records })), new Float32Array());
    await engine.commit('db', prepared, new Float32Array(), new Uint32Array());
    parentPort.postMessage('written');
    setInterval(() => engine, 1000);
  })();
`;

/** Opens the directory once it is free. */
const openWhenFree = async (directory: string) => {
  for (;;) {
    try {
      return LocalStore.open(directory, LIMITS, { threads: 1 });
    } catch (error) {
      if ((error as { code?: string }).code !== 'data_locked') throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
};

test('a worker thread that ends without closing its engine does not keep the directory', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-forgotten-'));
  directories.push(directory);
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const limits = Object.fromEntries(Object.entries(LIMITS).map(([name, value]) => [camel(name), value]));
  const worker = new Worker(OPEN_AND_WRITE, {
    eval: true,
    workerData: { binding: BINDING, directory, limits },
  });
  await once(worker, 'message');
  expect(() => LocalStore.open(directory, LIMITS, { threads: 1 })).toThrow(
    expect.objectContaining({ code: 'data_locked' }),
  );
  await worker.terminate();
  const engine = await openWhenFree(directory);
  await engine.load();
  expect((await engine.describeDatabase('db')).records).toBe(1);
  await engine.close();
});
