/// <reference lib="esnext.disposable" preserve="true" />
import type { Columns, Data, DatabaseDescription, DatabaseSettings } from '../schema/public-types.js';
import type { Database } from './database.js';
import type { CallOptions } from './options.js';

/** The databases of a data directory or of a service. `await using` closes it at the end of the block. */
export interface Databases extends AsyncDisposable {
  /**
   * Creates a database, or opens an existing one that has the same settings. Without settings, every string column of a
   * record is embedded with the built-in model; with `dimensions` alone, records and searches bring their own vectors.
   * With the type of a record's data as a type argument, the names of columns and the operators of rules are checked.
   *
   * @throws {CosiftError} `database_exists` when the database exists with other settings.
   *
   * @example
   * ```ts
   * const facts = await cosift.createDatabase<{ text: string; height_m?: number }>('facts', {
   *   embed: { columns: ['text'] },
   * });
   * ```
   */
  createDatabase<T extends Columns<T> = Data>(
    id: string,
    settings?: DatabaseSettings<NoInfer<T>>,
    options?: CallOptions,
  ): Promise<Database<T>>;

  /**
   * Returns a handle without checking whether the database exists; if it does not, calls on the handle fail. For the
   * type argument see {@link createDatabase}.
   */
  database<T extends Columns<T> = Data>(id: string): Database<T>;

  /** Describes all databases, ordered by id. */
  databases(options?: CallOptions): Promise<DatabaseDescription[]>;

  /**
   * Releases what this object holds: the data directory of the library, nothing of a client. An aborted signal ends the
   * wait, not the closing.
   */
  close(options?: CallOptions): Promise<void>;
}
