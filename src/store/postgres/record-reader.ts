import { isDeepStrictEqual } from 'node:util';
import { isCode } from '../../errors.js';
import type { Catalog, CatalogEntry } from './catalog.js';
import type { Sql, SqlDatabase } from './sql.js';

/** Milliseconds without reads from a replica that failed. */
const AVOID_MS = 5_000;

/** What a replica returns that has not replayed all commits of a database. */
const BEHIND = Symbol();

/** Runs reads of the records of a database, on a replica where that makes no difference. */
export class RecordReader {
  readonly #primary: SqlDatabase;
  readonly #catalog: Catalog;
  readonly #replica: SqlDatabase | undefined;
  #avoidUntil = 0;

  constructor(primary: SqlDatabase, catalog: Catalog, replica?: SqlDatabase) {
    this.#primary = primary;
    this.#catalog = catalog;
    this.#replica = replica;
  }

  /**
   * Runs reads that see every commit that was acknowledged before the call.
   *
   * The primary is asked for the row of the database, which every commit changes. A replica that has the same row has
   * replayed the same commits, so its records are those of the primary. Otherwise the primary is read.
   *
   * @throws {CosiftError} `database_not_found`
   */
  async read<T>(
    id: string,
    work: (sql: Sql, entry: CatalogEntry) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (this.#replica !== undefined && performance.now() >= this.#avoidUntil) {
      const wanted = await this.#primary.read((sql) => this.#catalog.find(sql, id), signal);
      const result = await this.#readReplica(this.#replica, wanted, work, signal);
      if (result !== BEHIND) return result;
    }
    return await this.#primary.read(async (sql) => work(sql, await this.#catalog.find(sql, id)), signal);
  }

  async #readReplica<T>(
    replica: SqlDatabase,
    wanted: CatalogEntry,
    work: (sql: Sql, entry: CatalogEntry) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T | typeof BEHIND> {
    try {
      return await replica.read(async (sql) => {
        const entry = await this.#catalog.findIfExists(sql, wanted.id);
        return isDeepStrictEqual(entry, wanted) ? await work(sql, wanted) : BEHIND;
      }, signal);
    } catch (error) {
      signal?.throwIfAborted();
      // `internal`: for example, the replica has no table yet.
      if (!isCode(error, 'store_failed') && !isCode(error, 'internal')) throw error;
      this.#avoidUntil = performance.now() + AVOID_MS;
      return BEHIND;
    }
  }
}
