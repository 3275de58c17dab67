import path from 'node:path';
import { type FileKind, parseChecked, writeChecked } from '../../files/checked-file.js';
import { readIfExists, removeTemporaries } from '../../files/secret-file.js';
import { type Alias, checkSchema } from '../../schema/index.js';
import { aliasOfOther } from '../store-errors.js';

/** The content of `aliases.json`. */
export const ALIASES_FILE: FileKind<Alias> = {
  member: 'aliases',
  check(value) {
    checkSchema('Alias', value);
    return value as Alias;
  },
  repair: 'put a sound copy in its place, or remove it and set the aliases again',
};

/** The aliases of all databases, in `aliases.json` of a data directory. There is none without aliases. */
export class AliasesFile {
  readonly #path: string;
  #databases: ReadonlyMap<string, string> = new Map();
  /** Resolves once the last call of {@link alone} has ended. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(dataDirectory: string) {
    this.#path = path.join(dataDirectory, 'aliases.json');
  }

  /** Removes what killed processes left. To be called by the process that writes the file. */
  removeTemporaries(): Promise<void> {
    return removeTemporaries(this.#path);
  }

  /** @throws {CosiftError} `damaged` when the file was changed by another program. */
  async load(): Promise<void> {
    const text = await readIfExists(this.#path);
    const aliases = text === undefined ? [] : parseChecked(this.#path, text, ALIASES_FILE);
    this.#databases = new Map(aliases.map(({ name, database }) => [name, database]));
  }

  /** The aliases, in the order of their names. */
  all(): Alias[] {
    return aliasesOf(this.#databases);
  }

  /** The database that an alias names. */
  get(name: string): string | undefined {
    return this.#databases.get(name);
  }

  /** Sets or deletes an alias. To be called by {@link alone}. */
  async set(name: string, database: string | undefined): Promise<void> {
    const databases = new Map(this.#databases);
    if (database === undefined) databases.delete(name);
    else databases.set(name, database);
    await writeChecked(this.#path, aliasesOf(databases), ALIASES_FILE);
    // Once the file is written, so that no caller sees what a crash undoes.
    this.#databases = databases;
  }

  /** Refuses to create a database with the name of an alias. */
  refuseName(id: string): void {
    if (this.#databases.has(id)) throw aliasOfOther(id);
  }

  /** Runs one change after the other, so that no database gets the name of an alias, and no alias loses its database. */
  alone<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#last.then(change);
    this.#last = changed.catch(() => undefined);
    return changed;
  }
}

function aliasesOf(databases: ReadonlyMap<string, string>): Alias[] {
  const aliases = [...databases].map(([name, database]) => ({ name, database }));
  return aliases.sort((a, b) => (a.name < b.name ? -1 : 1));
}
