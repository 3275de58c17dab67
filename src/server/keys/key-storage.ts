import type { StoredKey } from './key-entry.js';

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
