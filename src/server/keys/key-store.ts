import type { IssuedKey, KeyDescription, KeyRequest } from '../../schema/index.js';
import type { Caller } from './caller.js';

/**
 * The API keys of a service. A revocation takes effect as soon as it is durable, whichever process made it; at the other
 * services of a PostgreSQL database, within a second.
 *
 * While the issued keys cannot be read, only the admin key is valid, and keys can be neither listed nor changed.
 */
export interface KeyStore {
  /**
   * Returns the caller whose secret is `key`; undefined for a key that is unknown, revoked or expired. `now` is in
   * milliseconds since 1970. With `acceptsLastRead`, the keys that were read within the last hour are valid while the
   * store cannot be reached.
   *
   * @throws {CosiftError} `damaged` while the issued keys cannot be read, unless `key` is the admin key.
   */
  authenticate(
    key: string,
    options?: { now?: number; acceptsLastRead?: boolean },
  ): Promise<Caller | undefined>;
  /**
   * Returns the caller whose key has this id; undefined for a key that is unknown, revoked or expired.
   *
   * @throws {CosiftError} `damaged` while the issued keys cannot be read, unless it is the id of the admin key.
   */
  find(keyId: string, now?: number): Promise<Caller | undefined>;
  /** Returns why the issued keys cannot be read; undefined while they can be read. */
  failure(): Promise<unknown>;
  /**
   * Issues a key that can do no more than its issuer and expires no later. The key is durable when the promise resolves.
   *
   * @throws {CosiftError} `forbidden` with a pointer to each member of the request that exceeds the issuer; `busy` when
   * there is no room for another key.
   */
  issue(request: KeyRequest, issuer: Caller): Promise<IssuedKey>;
  /** Returns the keys that `caller` could have issued, oldest first. */
  list(caller: Caller): Promise<KeyDescription[]>;
  /**
   * Revokes a key. With `descendants`, the keys that it issued, directly or through other keys, are revoked, too, even
   * when the key itself is revoked already.
   *
   * @throws {CosiftError} `key_not_found` for a key that `caller` could not have issued.
   */
  revoke(keyId: string, caller: Caller, options?: { descendants?: boolean }): Promise<void>;
}
