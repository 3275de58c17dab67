import { SingleFlight } from '../async/single-flight.js';
import type { EmbedderStats } from '../embedding/index.js';
import { isCode } from '../errors.js';
import type { DatabaseProgress, StoreStats } from '../store/store-state.js';
import type { Dependencies } from './dependencies.js';
import type { Reembeddings } from './reembeddings.js';

/** Milliseconds that statistics wait for the store. Programs that ask for metrics wait for seconds only. */
const PROGRESS_MS = 2_000;

export type DatabaseState = Omit<DatabaseProgress, 'memoryBytes' | 'diskBytes'>;

/** Facts for metrics. Totals count from the start of the process. */
export interface DatabaseStats extends StoreStats {
  /** Absent while the store cannot be reached, or does not answer in time. */
  databases?: (Omit<DatabaseProgress, 'problem'> & {
    /** Records with their new vector, and all records, while the database is embedded with another model. */
    reembedding?: { done: number; records: number };
  })[];
  /** Absent while no model is loaded. */
  embedder?: EmbedderStats;
}

/** Tells the state of the databases, and how much work there was. */
export class Monitor {
  readonly #dependencies: Dependencies;
  readonly #reembeddings: Reembeddings;
  /** A store that does not answer is asked once at a time. */
  readonly #progress = new SingleFlight<DatabaseProgress[]>();

  constructor(dependencies: Dependencies, reembeddings: Reembeddings) {
    this.#dependencies = dependencies;
    this.#reembeddings = reembeddings;
  }

  /** Returns the state of every database, including those that could not be opened. Aborting `signal` ends the call. */
  async states(signal?: AbortSignal): Promise<DatabaseState[]> {
    const databases = await this.#read(false, signal);
    return databases.map(({ memoryBytes: _, diskBytes: __, ...state }) => state);
  }

  async stats(): Promise<DatabaseStats> {
    const { store, models } = this.#dependencies;
    const [databases, { searches, commits }] = await Promise.all([this.#readIfReached(), store.stats()]);
    const embedder = models.stats();
    return {
      ...(databases && {
        databases: databases.map(({ problem: _, ...database }) => {
          const reembedding = this.#reembeddings.unfinished(database.id, database.records);
          return { ...database, ...(reembedding && { reembedding }) };
        }),
      }),
      searches,
      commits,
      ...(embedder && { embedder }),
    };
  }

  /** The databases; undefined while the store cannot be reached, or does not answer in time. */
  async #readIfReached(): Promise<DatabaseProgress[] | undefined> {
    const late = AbortSignal.timeout(PROGRESS_MS);
    try {
      return await this.#read(true, late);
    } catch (error) {
      if (late.aborted || isCode(error, 'store_failed') || isCode(error, 'timed_out')) return undefined;
      throw error;
    }
  }

  /** Callers at the same time share one reading, which ends when all of them have left. */
  #read(sizes: boolean, signal: AbortSignal | undefined): Promise<DatabaseProgress[]> {
    const read = (left: AbortSignal) => this.#dependencies.store.progress({ sizes, signal: left });
    return this.#progress.run(sizes ? 'with sizes' : 'without', read, signal);
  }
}
