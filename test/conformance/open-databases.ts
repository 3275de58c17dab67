import type { DatabaseService } from '../../src/databases/index.js';
import type { ModelSource } from '../../src/databases/public-types.js';
import type { Limits } from '../../src/schema/index.js';

export interface OpenOptions {
  limits?: Limits;
  /** Models besides the built-in one, by their names. */
  models?: Readonly<Record<string, ModelSource>>;
}

/** A service over a store of its own, which is empty at first. */
export interface OpenedDatabases {
  /** The service that is open now: another object after `reopen`. */
  readonly databases: DatabaseService;
  /** Closes the service and opens the same store again with the same options. */
  reopen(): Promise<void>;
  /** Closes the service and removes the store. */
  close(): Promise<void>;
}

/** Opens a new store. A store proves that it keeps the contract by passing this function to `describeContract`. */
export interface OpenDatabases {
  (options?: OpenOptions): Promise<OpenedDatabases>;
  /** Why the tests have small rounds only; undefined where they run whole. */
  readonly shortBecause?: string | undefined;
}
