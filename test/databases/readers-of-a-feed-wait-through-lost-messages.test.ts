import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CallTracker } from '../../src/async/call-tracker.js';
import { CallerTurns } from '../../src/databases/caller-turns.js';
import { ChangeFeed } from '../../src/databases/change-feed.js';
import type { Dependencies } from '../../src/databases/dependencies.js';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';

// When the connection for messages was lost, all readers look again. With one reader, this ended the process.
test.each([
  ['one reader', ['one']],
  ['several readers', ['one', 'one', 'two', 'error']],
])('%s: woken at once, and wait again', async (_, ids) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-store-'));
  const store = LocalStore.open(directory, LIMITS);
  const calls = new CallTracker('the store');
  let reads = 0;
  const counted = Object.assign(Object.create(store) as LocalStore, {
    changes: async (...call: Parameters<LocalStore['changes']>) => {
      const read = await store.changes(...call);
      reads += 1;
      return read;
    },
  });
  const dependencies = { store: counted, turns: new CallerTurns(store), calls };
  const feed = new ChangeFeed(dependencies as unknown as Dependencies);
  try {
    await store.load();
    for (const id of new Set(ids))
      await store.createDatabase(id, { model: null, fingerprint: null, dimensions: 2 });
    const call = { after: 0, limit: 10, waitMs: 600_000 };
    const waiting = ids.map((id) => feed.read(id, call, {}));
    await expect.poll(() => reads).toBe(ids.length);
    for (const times of [2, 3]) {
      // The readers listen before they read, so all of them listen now.
      feed.notify(undefined);
      await expect.poll(() => reads).toBe(times * ids.length);
    }
    for (const id of new Set(ids)) {
      const body = Buffer.from(JSON.stringify({ records: [{ id: 7, data: {}, vector: [1, 0] }] }));
      await store.commit(id, await store.prepareBatch(id, body), { vectors: new Float32Array() });
      feed.notify(id);
    }
    for (const read of waiting) {
      const { changes } = JSON.parse(Buffer.from(await read).toString());
      expect(changes).toMatchObject([{ kind: 'created', id: 7 }]);
    }
  } finally {
    await calls.close();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  }
});
