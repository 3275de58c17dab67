import type { TextSource } from '../api/text-line.js';
import type { DatabaseSettings, Reembedding } from '../schema/index.js';
import type { EmbeddedVectors } from './embedded-vectors.js';

/** Stores vectors of another model or of other columns besides the current ones, until a switch replaces these. */
export interface ReembeddingStore {
  /** Which process does the re-embedding of each database; undefined in a store that only one process uses. */
  readonly leases: ReembeddingLeases | undefined;
  /** Starts to store vectors of another model, or continues an interrupted re-embedding. */
  begin(id: string, settings: ReembeddingSettings): Promise<StoredReembedding>;
  /** Returns the unfinished re-embedding of a database; null when there is none. */
  find(id: string): Promise<StoredReembedding | null>;
  /** Reads the next records whose texts need a vector of the new model. */
  prepare(id: string): Promise<ReembeddingBatch>;
  /** Stores the new vectors of a batch; resolves with the number of records that have a new vector. */
  commit(
    id: string,
    batch: ReembeddingBatch,
    embedded: EmbeddedVectors & { fingerprint: string },
  ): Promise<number>;
  /** Does the part of the switch that can run while writes continue. */
  warm(id: string): Promise<void>;
  /**
   * Keeps upserts of other processes waiting until the returned function is called; they are refused as `busy` after some
   * seconds. A store that one process uses has nothing to hold.
   */
  holdWriters(id: string): Promise<() => Promise<void>>;
  /**
   * Replaces the vectors of the database by the new ones, and its model by the new one.
   *
   * @throws {StaleError} when records were written after the last batch.
   */
  switch(id: string): Promise<void>;
  /**
   * Removes the new vectors.
   *
   * @throws {CosiftError} `reembedding_not_found`
   */
  cancel(id: string): Promise<void>;
}

/** Records that wait for vectors of another model. Only the store that made the batch can commit it. */
export interface ReembeddingBatch extends TextSource {
  /** Whether the database had no further records to embed when the batch was made. */
  readonly isLast: boolean;
  /** The texts to embed, in the order in which `commit` expects their vectors. */
  texts(): string[];
}

export interface ReembeddingSettings {
  embed: NonNullable<DatabaseSettings['embed']>;
  model: string;
  fingerprint: string;
  dimensions: number;
}

/**
 * Which of the processes that use one store does the re-embedding of each database. A process that ends without
 * releasing its lease loses it after some seconds.
 */
export interface ReembeddingLeases {
  /** The last re-embedding of every database that had one. */
  all(): Promise<SharedReembedding[]>;
  /** Takes a re-embedding for this process and stores its state; false while another process has it. */
  take(database: string, state: Reembedding): Promise<boolean>;
  /** Keeps the lease and stores the state; false once another process has it, or the re-embedding was removed. */
  renew(database: string, state: Reembedding): Promise<boolean>;
  /** Ends the lease and stores the state. Another process may then take the re-embedding. */
  release(database: string, state: Reembedding): Promise<void>;
  /** Forgets the re-embedding. The process that does it ends it. */
  remove(database: string): Promise<void>;
}

/** The last re-embedding of a database, as the process that did it described it. */
export interface SharedReembedding {
  database: string;
  state: Reembedding;
  /** Whether another process is doing it. */
  isElsewhere: boolean;
}

/** An unfinished re-embedding. */
export interface StoredReembedding extends Pick<ReembeddingSettings, 'embed'> {
  model: string;
  fingerprint: string;
  /** Records that have their new vector. */
  done: number;
  /** ISO 8601. */
  startedAt: string;
}
