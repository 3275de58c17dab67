import path from 'node:path';
import { FairLimiter } from '../../async/fair-limiter.js';
import { CosiftError } from '../../errors.js';
import type { IssuedKey, KeyDescription, KeyRequest } from '../../schema/index.js';
import { ADMIN, type Caller, mayManage } from './caller.js';
import { makeRoom } from './key-capacity.js';
import { describeKey, entryOf, type KeyEntry, type StoredKey } from './key-entry.js';
import { changeKeys, prepareKeys, readKeys, stampOf } from './key-file.js';
import { hashKey, keyIdOf, sameHash } from './key-format.js';
import type { KeyStore } from './key-store.js';
import { newKey } from './new-key.js';

/** Changes of one key that may wait. */
const MAX_WAITING = 64;

/** What the file held when it had `stamp`. */
type Snapshot = { stamp: string | undefined } & (
  | { keys: ReadonlyMap<string, KeyEntry> }
  | { error: unknown }
);

/** The keys in `keys.json` of a data directory. The file is read again whenever a process has replaced it. */
export class FileKeyStore implements KeyStore {
  readonly #file: string;
  readonly #adminHash: Buffer;
  #snapshot: Snapshot | undefined;
  /** The file has one change at a time. Keys take turns, so that no key delays its own revocation. */
  readonly #changes = new FairLimiter({ total: 1, perCaller: 1, waitingPerCaller: MAX_WAITING });

  /** @throws {CosiftError} `damaged` when the file was changed by another program. */
  constructor(dataDirectory: string, adminKey: string) {
    this.#file = keysFile(dataDirectory);
    this.#adminHash = hashKey(adminKey);
    this.#current();
  }

  /**
   * Opens the store of a service. No other service may run on the directory.
   *
   * @throws {CosiftError} `damaged` when the file was changed by another program.
   */
  static async open(dataDirectory: string, adminKey: string): Promise<FileKeyStore> {
    await prepareKeys(keysFile(dataDirectory));
    return new FileKeyStore(dataDirectory, adminKey);
  }

  async authenticate(key: string, now = Date.now()): Promise<Caller | undefined> {
    const hash = hashKey(key);
    if (sameHash(hash, this.#adminHash)) return ADMIN;
    const keyId = keyIdOf(key);
    const found = keyId === undefined ? undefined : this.#current().get(keyId);
    if (found === undefined || !sameHash(hash, found.hash) || now >= found.caller.expiresAt) return undefined;
    return found.caller;
  }

  async find(keyId: string, now = Date.now()): Promise<Caller | undefined> {
    if (keyId === ADMIN.keyId) return ADMIN;
    const caller = this.#current().get(keyId)?.caller;
    return caller === undefined || now >= caller.expiresAt ? undefined : caller;
  }

  async failure(): Promise<unknown> {
    try {
      this.#current();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  async issue(request: KeyRequest, issuer: Caller): Promise<IssuedKey> {
    const { key, stored } = newKey(request, issuer);
    await this.#change(issuer, (keys) => {
      makeRoom(keys, stored, issuer);
      keys.set(stored.key_id, entryOf(stored));
    });
    return { ...describeKey(stored), key };
  }

  async list(caller: Caller): Promise<KeyDescription[]> {
    return [...this.#current().values()]
      .filter((key) => mayManage(caller, key.caller))
      .map(({ stored }) => describeKey(stored));
  }

  async revoke(keyId: string, caller: Caller, { descendants = false } = {}): Promise<void> {
    await this.#change(caller, (keys) => {
      const found = keys.get(keyId);
      const named = [...keys.values()].filter(
        (key) => key === found || (descendants && key.caller.ancestors.includes(keyId)),
      );
      const revoked = named.filter((key) => mayManage(caller, key.caller));
      if (revoked.length === 0 || (found !== undefined && !revoked.includes(found))) {
        throw new CosiftError('key_not_found', `there is no key "${keyId}"`);
      }
      for (const { stored } of revoked) keys.delete(stored.key_id);
    });
  }

  /**
   * Changes the keys and writes the file. Each change starts from the result of the change before.
   *
   * @throws {CosiftError} `unauthorized` when an earlier change revoked the key of `caller`.
   */
  async #change(caller: Caller, change: (keys: Map<string, KeyEntry>) => void): Promise<void> {
    await this.#changes.run(caller.keyId, () =>
      changeKeys(this.#file, (stored) => {
        const keys = byId(stored);
        const isValid =
          caller.keyId === ADMIN.keyId || (keys.has(caller.keyId) && Date.now() < caller.expiresAt);
        if (!isValid) throw new CosiftError('unauthorized', 'the key is not valid');
        change(keys);
        return [...keys.values()].map((key) => key.stored);
      }),
    );
  }

  /** Returns the keys that the file holds now. */
  #current(): ReadonlyMap<string, KeyEntry> {
    // The stamp is read before the file: a change in between is noticed by the next call.
    const stamp = stampOf(this.#file);
    if (this.#snapshot === undefined || this.#snapshot.stamp !== stamp) {
      try {
        this.#snapshot = { stamp, keys: byId(readKeys(this.#file)) };
      } catch (error) {
        // Some of the earlier keys may be revoked by now, so no key is valid until the file can be read.
        this.#snapshot = { stamp, error };
      }
    }
    if ('error' in this.#snapshot) throw this.#snapshot.error;
    return this.#snapshot.keys;
  }
}

function keysFile(dataDirectory: string): string {
  return path.join(dataDirectory, 'keys.json');
}

function byId(keys: readonly StoredKey[]): Map<string, KeyEntry> {
  return new Map(keys.map((stored) => [stored.key_id, entryOf(stored)]));
}
