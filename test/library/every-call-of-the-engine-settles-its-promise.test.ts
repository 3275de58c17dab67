import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';
import { searchStore } from '../helpers/search-store.js';

const NATIVE = fileURLToPath(new URL('../../native/', import.meta.url));
const BINDING = path.join(NATIVE, readdirSync(NATIVE).find((name) => name.endsWith('.node'))!);
const RECORDS = 200;
/** A page that the thread of the caller does not make itself, although the database is small. */
const REQUEST = { form: 'integer', threshold: 0, limit: 100, embedded_by: null } as const;

// The binding itself, in an environment that ends: the classes above it would close the engine.
const OPEN = `
  const { openEngine, StopFlag } = require(binding);
  const engine = openEngine(directory, { threads: 2, vectorMegabytes: 64, limits });
  const request = JSON.stringify({ form: 'integer', threshold: 0, limit: 100, embedded_by: null });
  const load = async () => engine.load();
  const search = async () => engine.searches('db', [request], [new Float64Array([1, 0])], new StopFlag());
`;
const SEARCH_IN_WORKER = `
  const { parentPort, workerData: { binding, directory, limits } } = require('node:worker_threads');
  ${OPEN}
  load().then(() => {
    const searchAgain = () => search().then(searchAgain);
    for (let i = 0; i < 500; i++) searchAgain();
    parentPort.postMessage('searching');
  });
`;
const SEARCH_AND_GO = `
  const { binding, directory, limits } = JSON.parse(process.argv[1]);
  ${OPEN}
  load().then(search).then(({ bodies }) => console.log(JSON.parse(bodies).results.length));
`;

let directory: string;
afterEach(() => rm(directory, { recursive: true, force: true }));

/** An engine with a database of `RECORDS` records. */
async function filled(): Promise<LocalStore> {
  directory = await mkdtemp(path.join(tmpdir(), 'cosift-calls-'));
  const store = LocalStore.open(directory, LIMITS, { threads: 2 });
  await store.load();
  await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
  const records = Array.from({ length: RECORDS }, (_, i) => ({
    id: i + 1,
    data: { name: `record ${i + 1}` },
    vector: [1, i / RECORDS],
  }));
  const prepared = await store.prepareBatch('db', Buffer.from(JSON.stringify({ records })));
  await store.commit('db', prepared, { vectors: new Float32Array() });
  return store;
}

/** What a program needs to open the directory. */
function opening() {
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const limits = Object.fromEntries(Object.entries(LIMITS).map(([name, value]) => [camel(name), value]));
  return { binding: BINDING, directory, limits };
}

test('calls that run at the same time get each its own result or error', async () => {
  const store = await filled();
  const ids = Array.from({ length: 2 * RECORDS }, (_, i) => i + 1);
  const read = ids.map(async (id) => {
    try {
      return JSON.parse(Buffer.from(await store.record('db', `${id}`, { form: 'integer' })).toString()).data
        .name;
    } catch (error) {
      return (error as { code: string }).code;
    }
  });
  expect(await Promise.all(read)).toEqual(
    ids.map((id) => (id <= RECORDS ? `record ${id}` : 'record_not_found')),
  );
  await store.close();
});

test('more searches at once than the queue takes are answered or refused as busy', async () => {
  const store = await filled();
  const search = async () => {
    try {
      return Buffer.from((await searchStore(store, 'db', REQUEST, new Float64Array([1, 0]))).body).toString();
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const outcomes = await Promise.all(Array.from({ length: 8_192 }, search));
  const pages = outcomes.filter((outcome) => outcome !== 'busy');
  expect(pages.length).toBeGreaterThanOrEqual(4_096);
  expect(new Set(pages).size).toBe(1);
  expect(JSON.parse(pages[0]!).results[0].id).toBe(1);
  await store.close();
});

test('a call that is aborted stops no later one', async () => {
  const store = await filled();
  const search = (signal?: AbortSignal) =>
    searchStore(store, 'db', REQUEST, new Float64Array([1, 0]), { signal });
  for (let round = 0; round < 20; round++) {
    const leaving = new AbortController();
    const left = [1, 2, 3].map(() => search(leaving.signal));
    const stayed = search();
    // The native calls have begun then.
    await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    await Promise.allSettled(left);
    expect((await stayed).body.length).toBeGreaterThan(0);
    expect((await Promise.all([1, 2, 3, 4].map(() => search()))).length).toBe(4);
  }
  await store.close();
});

test('a search that is done at once leaves its signal unread', async () => {
  const store = await filled();
  let isRead = false;
  const stoppable = {
    get signal(): undefined {
      isRead = true;
      return undefined;
    },
    isStopped: false,
  };
  const request = { ...REQUEST, limit: 10 };
  // While a background job publishes, no search is done at once.
  do {
    isRead = false;
    const page = await searchStore(store, 'db', request, new Float64Array([1, 0]), stoppable);
    expect(page.body.length).toBeGreaterThan(0);
  } while (isRead);
  await store.close();
});

test('a worker thread may end while its searches run', async () => {
  await (await filled()).close();
  for (let round = 0; round < 5; round++) {
    const worker = new Worker(SEARCH_IN_WORKER, { eval: true, workerData: opening() });
    await once(worker, 'message');
    await worker.terminate();
    const store = await openWhenFree();
    await store.load();
    expect((await store.describeDatabase('db')).records).toBe(RECORDS);
    await store.close();
  }
});

test('a process waits for its calls, and not for an engine without calls', async () => {
  await (await filled()).close();
  const call = promisify(execFile)(process.execPath, ['-e', SEARCH_AND_GO, JSON.stringify(opening())]);
  expect((await call).stdout).toBe('100\n');
});

/** Opens the directory once the engine of the worker thread has released it. */
async function openWhenFree(): Promise<LocalStore> {
  for (;;) {
    try {
      return LocalStore.open(directory, LIMITS, { threads: 1 });
    } catch (error) {
      if ((error as { code?: string }).code !== 'data_locked') throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
