import type { Change } from '../schema/index.js';
import type { StoredDatabase } from './record-store.js';

/** What a store of several processes offers to a migration into it, beside its records. */
export interface MigrationSupport {
  /** The lines of some records with their vectors, in the order of the ids; a record that does not exist has none. */
  linesOf(id: string, ids: readonly number[]): Promise<Uint8Array>;
  /**
   * Replaces the change feed of a database, its times and its next id, by those of another store that has the same
   * records.
   */
  adoptFeed(id: string, feed: AdoptedFeed): Promise<void>;
}

/** The change feed of another store. */
export interface AdoptedFeed {
  /** The position of the last change, and its epoch. */
  position: number;
  epoch: string;
  /** The changes that are kept, oldest first. */
  changes: readonly Change[];
  times: StoredDatabase['times'];
  /** One above every id that was ever given. */
  nextId: number;
}
