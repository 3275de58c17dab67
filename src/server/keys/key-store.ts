import { FairLimiter } from '../../async/fair-limiter.js';
import { within } from '../../async/sleep.js';
import { CosiftError, isCode } from '../../errors.js';
import type { IssuedKey, KeyDescription, KeyRequest } from '../../schema/index.js';
import { ADMIN, type Caller, mayManage } from './caller.js';
import { makeRoom } from './key-capacity.js';
import { describeKey, entryOf, type KeyEntry, type StoredKey } from './key-entry.js';
import { hashKey, keyIdOf, sameHash } from './key-format.js';
import { newKey } from './new-key.js';

/** Changes of one key that may wait. */
const MAX_WAITING = 64;
/** Milliseconds after which the keys that were read last may be used instead. */
const READ_MS = 1_000;
/** Milliseconds for which the keys that were read last may be used: another service may have revoked one of them since. */
const LAST_READ_MS = 3_600_000;

/** Where the issued keys of a service are kept. Several processes may use it at the same time. */
export interface KeyStorage {
  /**
   * Returns the stored keys: the same array until they have changed. A change of another process is noticed within a
   * second.
   *
   * @throws {CosiftError} when the keys cannot be read.
   */
  read(): Promise<readonly StoredKey[]>;
  /**
   * Replaces the keys by those that `change` returns, which has no other effect. The change is durable when the promise
   * resolves. There is one change at a time, over all processes.
   */
  change(change: (keys: StoredKey[]) => StoredKey[]): Promise<void>;
}

/**
 * The API keys of a service. A revocation takes effect as soon as it is durable, whichever process made it; at the other
 * services of a PostgreSQL database, within a second.
 *
 * While the issued keys cannot be read, only the admin key is valid, and keys can be neither listed nor changed.
 */
export class KeyStore {
  readonly #storage: KeyStorage;
  readonly #adminHash: Buffer;
  /** The keys that the storage returned last, in the form in which requests need them. */
  #keys: { stored: readonly StoredKey[]; byId: ReadonlyMap<string, KeyEntry> } | undefined;
  /** When they were known to be current, in milliseconds since 1970. */
  #readAt = 0;
  /**
   * The storage has one change at a time. Keys take turns, and each has places of its own to wait, so that no key delays
   * or prevents its own revocation by its issuer.
   */
  readonly #changes = new FairLimiter({ total: 1, perCaller: 1, waitingPerCaller: MAX_WAITING });

  constructor(storage: KeyStorage, adminHash: Buffer) {
    this.#storage = storage;
    this.#adminHash = adminHash;
  }

  /**
   * Returns the caller whose secret is `key`; undefined for a key that is unknown, revoked or expired. `now` is in
   * milliseconds since 1970. With `acceptsLastRead`, the keys that were read within the last hour are valid while the
   * store cannot be reached.
   *
   * @throws {CosiftError} `damaged` while the issued keys cannot be read, unless `key` is the admin key.
   */
  async authenticate(
    key: string,
    { now, acceptsLastRead = false }: { now?: number; acceptsLastRead?: boolean } = {},
  ): Promise<Caller | undefined> {
    const hash = hashKey(key);
    if (sameHash(hash, this.#adminHash)) return ADMIN;
    const keyId = keyIdOf(key);
    if (keyId === undefined) return undefined;
    const keys = acceptsLastRead ? await this.#currentOrLast(now ?? Date.now()) : await this.#current();
    const found = keys.get(keyId);
    if (found === undefined || !sameHash(hash, found.hash)) return undefined;
    return isExpired(found.caller, now) ? undefined : found.caller;
  }

  /**
   * Returns the caller whose key has this id; undefined for a key that is unknown, revoked or expired.
   *
   * @throws {CosiftError} `damaged` while the issued keys cannot be read, unless it is the id of the admin key.
   */
  async find(keyId: string, now?: number): Promise<Caller | undefined> {
    if (keyId === ADMIN.keyId) return ADMIN;
    const caller = (await this.#current()).get(keyId)?.caller;
    return caller === undefined || isExpired(caller, now) ? undefined : caller;
  }

  /** Returns why the issued keys cannot be read; undefined while they can be read. */
  async failure(): Promise<unknown> {
    try {
      await this.#current();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /**
   * Issues a key that can do no more than its issuer and expires no later. The key is durable when the promise resolves.
   *
   * @throws {CosiftError} `forbidden` with a pointer to each member of the request that exceeds the issuer; `busy` when
   * there is no room for another key.
   */
  async issue(request: KeyRequest, issuer: Caller): Promise<IssuedKey> {
    const { key, stored } = newKey(request, issuer);
    await this.#change(issuer, (keys) => {
      makeRoom(keys, stored, issuer);
      keys.set(stored.key_id, entryOf(stored));
    });
    return { ...describeKey(stored), key };
  }

  /** Returns the keys that `caller` could have issued, oldest first. */
  async list(caller: Caller): Promise<KeyDescription[]> {
    return [...(await this.#current()).values()]
      .filter((key) => mayManage(caller, key.caller))
      .map(({ stored }) => describeKey(stored));
  }

  /**
   * Revokes a key. With `descendants`, the keys that it issued, directly or through other keys, are revoked, too, even
   * when the key itself is revoked already.
   *
   * @throws {CosiftError} `key_not_found` for a key that `caller` could not have issued.
   */
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
   * Changes the stored keys. Each change starts from the result of the change before.
   *
   * @throws {CosiftError} `unauthorized` when an earlier change revoked the key of `caller`.
   */
  async #change(caller: Caller, change: (keys: Map<string, KeyEntry>) => void): Promise<void> {
    await this.#changes.run(caller.keyId, async () => {
      let changed: StoredKey[] = [];
      await this.#storage.change((stored) => {
        const keys = byId(stored);
        const isValid =
          caller.keyId === ADMIN.keyId || (keys.has(caller.keyId) && Date.now() < caller.expiresAt);
        if (!isValid) throw new CosiftError('unauthorized', 'the key is not valid');
        change(keys);
        changed = [...keys.values()].map((key) => key.stored);
        return changed;
      });
      // A key that was revoked here must not be among those that were read last.
      this.#keys = { stored: changed, byId: byId(changed) };
      this.#readAt = Date.now();
    });
  }

  /**
   * The current keys; those that were read within the last hour while the store cannot be reached, or does not answer in
   * time.
   */
  async #currentOrLast(now: number): Promise<ReadonlyMap<string, KeyEntry>> {
    if (this.#keys === undefined || now - this.#readAt > LAST_READ_MS) return await this.#current();
    try {
      const current = await within(READ_MS, this.#current());
      if (current !== undefined) return current;
    } catch (error) {
      if (!isCode(error, 'store_failed') && !isCode(error, 'timed_out')) throw error;
    }
    // A key may have been revoked here while the storage was asked.
    return this.#keys.byId;
  }

  async #current(): Promise<ReadonlyMap<string, KeyEntry>> {
    // Without the stored keys no key is valid, because some of the earlier keys may be revoked by now.
    const stored = await this.#storage.read();
    if (this.#keys?.stored !== stored) this.#keys = { stored, byId: byId(stored) };
    this.#readAt = Date.now();
    return this.#keys.byId;
  }
}

function byId(keys: readonly StoredKey[]): Map<string, KeyEntry> {
  return new Map(keys.map((stored) => [stored.key_id, entryOf(stored)]));
}

/** Without `now`, takes the time only here, because the key may have expired while the keys were read. */
function isExpired({ expiresAt }: Caller, now = Date.now()): boolean {
  return now >= expiresAt;
}
