import type { DatabaseDescription, DatabaseSettings } from '../schema/index.js';
import type { CallOptions, Database } from './database.js';

/** The databases of a data directory or of a service. */
export interface Databases extends AsyncDisposable {
  /**
   * Creates a database, or opens an existing one that has the same settings. Without settings, every string column of a
   * record is embedded with the built-in model; with `dimensions` alone, records and searches bring their own vectors.
   *
   * @throws {CosiftError} `database_exists` when the database exists with other settings.
   */
  createDatabase(id: string, settings?: DatabaseSettings, options?: CallOptions): Promise<Database>;

  /** Returns a handle without checking whether the database exists; if it does not, calls on the handle fail. */
  database(id: string): Database;

  /** Describes all databases, ordered by id. */
  databases(options?: CallOptions): Promise<DatabaseDescription[]>;

  /** Releases what this object holds: the data directory of the library, nothing of a client. */
  close(): Promise<void>;
}
