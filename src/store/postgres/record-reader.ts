import { isDeepStrictEqual } from 'node:util';
import { isCode } from '../../errors.js';
import type { Catalog, CatalogEntry, ReadEntry } from './catalog.js';
import type { Servers } from './servers.js';
import type { Sql, SqlDatabase } from './sql.js';

/** Milliseconds without reads from a replica that failed. */
const AVOID_MS = 5_000;

/** What a replica returns that has not replayed all commits of a database. */
const BEHIND = Symbol();

/** What a read returns that began with an entry that is out of date. */
const OUTDATED = Symbol();

/** Reads records in a transaction, with the entry of their database. */
type Work<T> = (sql: Sql, entry: ReadEntry) => Promise<T>;

/** Runs reads of the records of a database, on a replica where that makes no difference. */
export class RecordReader {
  readonly #servers: Servers;
  readonly #catalog: Catalog;
  readonly #replica: SqlDatabase | undefined;
  #avoidUntil = 0;

  constructor(servers: Servers, catalog: Catalog, replica?: SqlDatabase) {
    this.#servers = servers;
    this.#catalog = catalog;
    this.#replica = replica;
  }

  /**
   * Runs reads that see every commit that was acknowledged before the call. `work` may run more than once.
   *
   * The primary is asked for the row of the database, which every commit changes. A replica that has the same row has
   * replayed the same commits, so its records are those of the primary. Otherwise the primary is read.
   *
   * @throws {CosiftError} `database_not_found`
   */
  async read<T>(id: string, work: Work<T>, signal?: AbortSignal): Promise<T> {
    if (this.#replica !== undefined && performance.now() >= this.#avoidUntil) {
      const wanted = await this.#catalog.read(id, async (_, entry) => entry, signal);
      const result = await this.#readReplica(this.#replica, wanted, work, signal);
      if (result !== BEHIND) return result;
    }
    const result = await this.#servers.of(id).read((sql) => this.#readEarly(sql, id, work), signal);
    if (result !== OUTDATED) return result;
    return await this.#catalog.read(id, work, signal);
  }

  /** Begins with the entry that an earlier transaction saw, while the entry of this transaction is read. */
  async #readEarly<T>(sql: Sql, id: string, work: Work<T>): Promise<T | typeof OUTDATED> {
    const found = this.#catalog.find(sql, id);
    const seen = this.#catalog.seen(id);
    if (seen === undefined) return await work(sql, await found);
    // The statement of the catalog is sent before the work begins.
    const worked = Promise.resolve().then(() => work(sql, seen));
    // No statement may be running when the transaction ends.
    const [entry, result] = await Promise.allSettled([found, worked]);
    if (entry.status === 'rejected') throw entry.reason;
    if (!isSame(entry.value, seen)) return OUTDATED;
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  }

  async #readReplica<T>(
    replica: SqlDatabase,
    wanted: CatalogEntry,
    work: Work<T>,
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

/** Whether two entries are equal in what reads of records need to know. */
function isSame(a: ReadEntry, b: ReadEntry): boolean {
  return (
    a.number === b.number &&
    a.epoch === b.epoch &&
    a.generation === b.generation &&
    a.settings === b.settings &&
    a.has_passages === b.has_passages &&
    a.list_columns === b.list_columns
  );
}
