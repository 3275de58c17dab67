import { CosiftError, isCode } from '../errors.js';
import type { RecordStore, StoredDatabase } from '../store/record-store.js';

/** How the vectors of a database are made. */
export interface DatabaseInfo {
  /** null: records and searches bring their own vectors. */
  model: string | null;
  fingerprint: string | null;
  dimensions: number;
}

/**
 * The model and the dimensions of each database, so that a request need not ask the store for them.
 *
 * An entry may be out of date: the store then refuses a commit or a search as stale, and the caller calls `refresh`.
 */
export class DatabaseInfoCache {
  readonly #store: RecordStore;
  readonly #infos = new Map<string, DatabaseInfo>();

  constructor(store: RecordStore) {
    this.#store = store;
  }

  set({ id, model, fingerprint, dimensions }: StoredDatabase): DatabaseInfo {
    const info = { model, fingerprint, dimensions };
    this.#infos.set(id, info);
    return info;
  }

  delete(id: string): void {
    this.#infos.delete(id);
  }

  /** Reads the model of the database from the store. */
  async refresh(id: string): Promise<DatabaseInfo> {
    return this.set(await this.#store.describeDatabase(id));
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

  /** The models of all databases. */
  models(): Set<string> {
    return new Set([...this.#infos.values()].flatMap(({ model }) => model ?? []));
  }
}
