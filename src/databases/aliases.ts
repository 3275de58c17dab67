import { CosiftError } from '../errors.js';
import type { Alias } from '../schema/index.js';
import type { Dependencies } from './dependencies.js';

/** Further names of databases. */
export class Aliases {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Returns the id of the database that a name stands for: that of an alias, or the name itself. It returns at once for a
   * database that calls have used.
   */
  resolve(name: string): string | Promise<string> {
    return this.#dependencies.infos.cached(name) === undefined ? this.#find(name) : name;
  }

  async #find(name: string): Promise<string> {
    const { store, calls } = this.#dependencies;
    using _call = calls.begin();
    return (await store.databaseOfAlias(name)) ?? name;
  }

  /** @throws {CosiftError} `alias_not_found` */
  async read(name: string): Promise<Alias> {
    const { store, calls } = this.#dependencies;
    using _call = calls.begin();
    const database = await store.databaseOfAlias(name);
    if (database === undefined) throw aliasNotFound(name);
    return { name, database };
  }

  async list(): Promise<Alias[]> {
    const { store, calls } = this.#dependencies;
    using _call = calls.begin();
    return await store.aliases();
  }

  /** @throws {CosiftError} `alias_conflict` for the id of a database as the name; `database_not_found`. */
  async set(alias: Alias): Promise<{ created: boolean }> {
    const { store, infos, calls } = this.#dependencies;
    using _call = calls.begin();
    const set = await store.setAlias(alias);
    // Another process may have dropped a database of this name.
    infos.delete(alias.name);
    return set;
  }

  /** @throws {CosiftError} `alias_not_found` */
  async delete(name: string): Promise<void> {
    const { store, calls } = this.#dependencies;
    using _call = calls.begin();
    if (!(await store.deleteAlias(name))) throw aliasNotFound(name);
  }

  /** A call found no database of this name, so that another process may have given it to an alias. */
  forget(name: string): void {
    this.#dependencies.infos.delete(name);
  }
}

export function aliasNotFound(name: string): CosiftError {
  return new CosiftError('alias_not_found', `there is no alias "${name}"`);
}
