import { checkModelDirectories, LocalBackend } from '../backend/index.js';
import {
  checkDatabaseSettings,
  checkOptions,
  type DatabaseDescription,
  type DatabaseSettings,
} from '../schema/index.js';
import { Database } from './database.js';

export interface OpenOptions {
  /** Scan threads. Default: one a core. */
  threads?: number;
  /** Threads that embed texts, each with a copy of the model. Default: one a core, four at most. */
  embedWorkers?: number;
  /** Models beside the built-in one: directories in sentence-transformers layout, with ONNX, by name. */
  models?: Readonly<Record<string, string>>;
}

/**
 * Opens a data directory, made when missing, with all its databases. One process at a time.
 *
 * @example
 * ```ts
 * const cosift = await open('./data');
 * const facts = await cosift.createDatabase('facts');
 * await facts.upsert([{ id: 1, data: { text: 'The Eiffel Tower is in Paris', height_m: 330 } }]);
 * const { results } = await facts.search({ search: { text: 'a tower in France' } });
 * await cosift.close();
 * ```
 *
 * @throws {CosiftError} `data_locked` when another process has it open; `invalid_request` for an option that is unknown
 * or has a value that is not allowed, and for a model whose directory is missing.
 */
export async function open(directory: string, options: OpenOptions = {}): Promise<Cosift> {
  checkOptions('directory', { directory });
  checkOptions('open', options);
  const { threads, embedWorkers, models } = options;
  checkModelDirectories(models);
  return new Cosift(await LocalBackend.open({ directory, threads, embedWorkers, models }));
}

/** The databases of a data directory. */
export class Cosift {
  readonly #backend: LocalBackend;

  /** @internal Made by {@link open}. */
  constructor(backend: LocalBackend) {
    this.#backend = backend;
  }

  /**
   * Makes a database, or finds it made with the same settings. Without settings, every string column of a record is
   * embedded with the built-in model; with `dimensions` alone, records and searches bring their own vectors.
   *
   * @throws {CosiftError} `database_exists` when it was made with other settings.
   */
  async createDatabase(id: string, settings: DatabaseSettings = {}): Promise<Database> {
    checkOptions('database', { id });
    await this.#backend.createDatabase(id, checkDatabaseSettings(settings));
    return new Database(this.#backend, id);
  }

  /** @throws {CosiftError} `database_not_found` */
  async database(id: string): Promise<Database> {
    checkOptions('database', { id });
    await this.#backend.describeDatabase(id);
    return new Database(this.#backend, id);
  }

  async databases(): Promise<DatabaseDescription[]> {
    return this.#backend.listDatabases();
  }

  /** Drops a database with all its records. */
  async dropDatabase(id: string): Promise<void> {
    checkOptions('database', { id });
    await this.#backend.dropDatabase(id);
  }

  /**
   * Finishes the calls under way, saves what makes the next start fast, and releases the directory lock. Calls that
   * wait for changes return at once. A later call fails with `not_ready`, and so do the next page of `searchAll` and
   * `queryAll` and the next record of an asynchronous source of `upsert`. Closing again returns the same promise.
   */
  close(): Promise<void> {
    return this.#backend.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
