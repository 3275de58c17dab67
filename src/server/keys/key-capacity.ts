import { CosiftError } from '../../errors.js';
import type { Caller } from './caller.js';
import type { KeyEntry, StoredKey } from './key-entry.js';

/** The maximum size of all keys as JSON; about 12,000 keys without filters. */
const MAX_BYTES = 4 << 20;

/** The maximum size of the keys that one key has issued, directly or through other keys. The admin key has no such limit. */
const MAX_ISSUED_BYTES = 3 << 20;

/**
 * Checks that there is room for one more key. Removes expired keys from `keys` when there is not.
 *
 * The file is read and written completely for each change, so its size bounds how long other requests wait.
 *
 * @throws {CosiftError} `busy`
 */
export function makeRoom(keys: Map<string, KeyEntry>, added: StoredKey, issuer: Caller): void {
  const now = Date.now();
  for (const removesExpired of [false, true]) {
    let total = bytesOf(added);
    let ofIssuer = total;
    for (const [keyId, { stored, caller }] of keys) {
      if (removesExpired && now >= caller.expiresAt) {
        keys.delete(keyId);
        continue;
      }
      const bytes = bytesOf(stored);
      total += bytes;
      if (caller.ancestors.includes(issuer.keyId)) ofIssuer += bytes;
    }
    const exceeded =
      total > MAX_BYTES ? MAX_BYTES : ofIssuer > MAX_ISSUED_BYTES ? MAX_ISSUED_BYTES : undefined;
    if (exceeded === undefined) return;
    if (removesExpired) {
      const whose = exceeded === MAX_BYTES ? 'all keys' : 'the keys that this key has issued';
      throw new CosiftError('busy', `${whose} may take ${exceeded} bytes: revoke keys that nobody needs`);
    }
  }
}

function bytesOf(key: StoredKey): number {
  return Buffer.byteLength(JSON.stringify(key));
}
