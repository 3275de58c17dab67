import { expect, test } from 'vitest';
import { CosiftError } from '../../src/errors.js';
import { ADMIN } from '../../src/server/keys/caller.js';
import type { StoredKey } from '../../src/server/keys/key-entry.js';
import { hashKey } from '../../src/server/keys/key-format.js';
import { KeyStore } from '../../src/server/keys/key-store.js';

test('keys that were read last are valid without their storage for an hour, where that is enough', async () => {
  let stored: readonly StoredKey[] = [];
  let isAway = false;
  const keys = new KeyStore(
    {
      async read() {
        if (isAway) throw new CosiftError('store_failed', 'the storage is away');
        return stored;
      },
      async change(change) {
        stored = change([...stored]);
      },
    },
    hashKey('admin'),
  );
  const { key, key_id } = await keys.issue(
    { name: 'prometheus', databases: '*', actions: ['databases.manage'] },
    ADMIN,
  );
  isAway = true;
  const now = Date.now();
  const hour = 60 * 60 * 1000;
  await expect(keys.authenticate(key)).rejects.toMatchObject({ code: 'store_failed' });
  const last = (at: number) => keys.authenticate(key, { now: at, acceptsLastRead: true });
  expect(await last(now)).toMatchObject({ keyId: key_id });
  expect(await last(now + hour / 2)).toMatchObject({ keyId: key_id });
  await expect(last(now + hour + 60_000)).rejects.toMatchObject({ code: 'store_failed' });
});
