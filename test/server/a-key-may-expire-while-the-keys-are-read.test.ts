import { afterEach, expect, test, vi } from 'vitest';
import { ADMIN } from '../../src/server/keys/caller.js';
import type { StoredKey } from '../../src/server/keys/key-entry.js';
import { hashKey } from '../../src/server/keys/key-format.js';
import { KeyStore } from '../../src/server/keys/key-store.js';

afterEach(() => {
  vi.useRealTimers();
});

test('a key that expires while the keys are read is refused', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  let stored: readonly StoredKey[] = [];
  let readingMs = 0;
  const storage = {
    async read() {
      vi.setSystemTime(Date.now() + readingMs);
      return stored;
    },
    async change(change: (keys: StoredKey[]) => readonly StoredKey[]) {
      stored = change([...stored]);
    },
  };
  const keys = new KeyStore(storage, hashKey('admin'));
  const expires_at = new Date(Date.now() + 60_000).toISOString();
  const { key, key_id } = await keys.issue(
    { name: 'k', databases: '*', actions: ['search'], expires_at },
    ADMIN,
  );
  vi.setSystemTime(Date.parse(expires_at) - 5_000);
  expect(await keys.authenticate(key)).toMatchObject({ keyId: key_id });
  readingMs = 4_000;
  expect(await keys.authenticate(key)).toMatchObject({ keyId: key_id });
  // One second before the key expires.
  expect(await keys.authenticate(key)).toBeUndefined();
  vi.setSystemTime(Date.parse(expires_at) - 1_000);
  expect(await keys.find(key_id)).toBeUndefined();
});
