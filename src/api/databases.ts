/// <reference lib="esnext.disposable" preserve="true" />
import type {
  Columns,
  Data,
  DatabaseDescription,
  DatabaseSettings,
  DoctorCheck,
} from '../schema/public-types.js';
import type { Database } from './database.js';
import type { BackupOptions, CallOptions } from './options.js';

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

  /** Returns the aliases and the databases that they name, ordered by name. */
  aliases(options?: CallOptions): Promise<{ name: string; database: string }[]>;

  /**
   * Lets an alias name a database from now on. {@link database} takes the name of an alias wherever it takes an id, and each
   * call goes to the database that the alias names at its start. So a program can fill a new database while others search the
   * one before, and then switch all of them at once.
   *
   * @throws {CosiftError} `alias_conflict` for a name that is the id of a database; `database_not_found`. A database with the
   * name of an alias cannot be created, and a database that an alias names cannot be dropped: both fail with
   * `alias_conflict`.
   *
   * @example
   * ```ts
   * await cosift.setAlias('places', 'facts');
   * const { records } = await cosift.database('places').describe();
   * await cosift.deleteAlias('places');
   * ```
   */
  setAlias(name: string, database: string, options?: CallOptions): Promise<void>;

  /**
   * Deletes an alias. Its database stays.
   *
   * @throws {CosiftError} `alias_not_found`
   */
  deleteAlias(name: string, options?: CallOptions): Promise<void>;

  /**
   * Returns the unit vectors of up to 64 texts, in their order: those that searches for the texts, or records with them,
   * get. A search by such a vector has the same scores as one by its text. `model` is the built-in one by default. `kind`
   * says whether the texts are searches or texts of records, because some models embed both in different ways.
   *
   * @throws {CosiftError} `invalid_request` with a pointer such as `/texts/3` for a text that is blank, too long
   * or without a word that the model knows; and for an unknown model.
   *
   * @example
   * ```ts
   * const [vector] = await cosift.embed(['a tall tower']);
   * ```
   */
  embed(
    texts: readonly string[],
    options?: CallOptions & { model?: string | undefined; kind?: 'query' | 'record' | undefined },
  ): Promise<Float32Array[]>;

  /**
   * Yields an archive of all databases, the issued keys and the webhooks, as they are at one moment, for
   * `cosift restore`. Writes go on meanwhile. An archive that was read to the end is complete; after an error it is not.
   * Only one backup at a time is made.
   *
   * @throws {CosiftError} `busy` while another backup is in progress; `not_ready` when a database could not be opened;
   * `damaged` when a record is not as it was written; `disk_full` when the data directory has no room for a copy of the
   * records and 64 MiB more.
   *
   * @example
   * ```ts
   * await writeFile('backup.tar', cosift.backup());
   * ```
   */
  backup(options?: BackupOptions): AsyncGenerator<Uint8Array, void, undefined>;

  /**
   * Checks every database completely while it is served, and yields the outcome of each check. Nothing is changed:
   * `cosift doctor --repair` repairs what can be made again.
   *
   * @example
   * ```ts
   * for await (const { check, database, status, detail } of cosift.doctor()) {
   *   if (status === 'problem') console.error(database, check, detail);
   * }
   * ```
   */
  doctor(options?: CallOptions): AsyncIterable<DoctorCheck>;

  /**
   * Releases what this object holds: the data directory of the library, nothing of a client. An aborted signal ends the
   * wait, not the closing.
   */
  close(options?: CallOptions): Promise<void>;
}
