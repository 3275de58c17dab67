import { CosiftError, isCode } from '../errors.js';
import type { DatabaseInfo, RecordStore } from '../store/record-store.js';

/**
 * What requests depend on of each database, so that a request need not ask the store for it.
 *
 * An entry may be out of date: the store then refuses a commit or a search as stale, and the caller calls `refresh`.
 */
export class DatabaseInfoCache {
  readonly #store: RecordStore;
  readonly #infos = new Map<string, DatabaseInfo>();
  readonly #readings = new Map<string, Promise<DatabaseInfo>>();
  /** The readings that have not begun. */
  readonly #waiting = new Map<string, Promise<DatabaseInfo>>();

  constructor(store: RecordStore) {
    this.#store = store;
  }

  set(id: string, { embed, model, fingerprint, dimensions, defaults }: DatabaseInfo): DatabaseInfo {
    const info = { embed, model, fingerprint, dimensions, defaults };
    this.#infos.set(id, info);
    return info;
  }

  delete(id: string): void {
    this.#infos.delete(id);
  }

  /**
   * Reads the entry of the database from the store, as it is now. However many callers ask at the same time, at most
   * one reading of a database runs and one waits.
   */
  refresh(id: string): Promise<DatabaseInfo> {
    // A reading that has begun may have missed what happened before this call.
    const waiting = this.#waiting.get(id);
    if (waiting !== undefined) return waiting;
    const read = async () => {
      this.#waiting.delete(id);
      return this.set(id, await this.#store.databaseInfo(id));
    };
    const last = this.#readings.get(id) ?? Promise.resolve();
    const reading = last.then(read, read);
    this.#waiting.set(id, reading);
    this.#readings.set(id, reading);
    const forget = () => {
      if (this.#readings.get(id) === reading) this.#readings.delete(id);
    };
    reading.then(forget, forget);
    return reading;
  }

  /** The entry of a database, if there is one. */
  cached(id: string): DatabaseInfo | undefined {
    return this.#infos.get(id);
  }

  /** @throws {CosiftError} `database_not_found`, `not_ready` */
  async get(id: string): Promise<DatabaseInfo> {
    const info = this.#infos.get(id);
    if (info !== undefined) return info;
    try {
      return await this.refresh(id);
    } catch (cause) {
      if (!isCode(cause, 'not_ready')) throw cause;
      const facts = { fields: { database: id }, cause };
      throw new CosiftError('not_ready', `database "${id}" is not loaded`, facts);
    }
  }

  ids(): string[] {
    return [...this.#infos.keys()];
  }

  models(): Set<string> {
    return new Set([...this.#infos.values()].flatMap(({ model }) => model ?? []));
  }
}
