import { within } from '../../async/sleep.js';
import type { Catalog, CatalogEntry } from './catalog.js';
import type { SqlDatabase } from './sql.js';

/** Databases whose sizes one statement reads: PostgreSQL looks at dozens of files for each. */
const AT_ONCE = 200;
/** Milliseconds that a caller waits for sizes. */
const WAIT_MS = 500;

/**
 * The sizes of databases on disk. To read the sizes of thousands of databases takes seconds, and much memory of the
 * connection. So a reading takes the databases that were written after their last reading, and some of the others in
 * turn, because PostgreSQL also frees space later. Readings run in the background, one at a time: a caller who does not
 * wait for the end gets what is known.
 */
export class DiskSizes {
  readonly #database: SqlDatabase;
  readonly #catalog: Catalog;
  /** By the numbers of the databases, in the order in which they were read. */
  readonly #known = new Map<number, { state: string; bytes: number }>();
  #reading: Promise<void> | undefined;

  /** The transactions of `database` must be limited in time. */
  constructor(database: SqlDatabase, catalog: Catalog) {
    this.#database = database;
    this.#catalog = catalog;
  }

  /** Returns the bytes of each database, undefined for those that were not read yet, in the order of `entries`. */
  async of(entries: readonly CatalogEntry[]): Promise<(number | undefined)[]> {
    this.#reading ??= this.#read(entries).finally(() => {
      this.#reading = undefined;
    });
    await within(WAIT_MS, this.#reading);
    return entries.map(({ number }) => this.#known.get(number)?.bytes);
  }

  /** Never rejects: what cannot be read stays as it was, and the next reading tries it again. */
  async #read(entries: readonly CatalogEntry[]): Promise<void> {
    const numbers = new Set(entries.map(({ number }) => number));
    for (const number of this.#known.keys()) if (!numbers.has(number)) this.#known.delete(number);
    const oldest = new Set([...this.#known.keys()].slice(0, AT_ONCE));
    const wanted = entries.filter(
      (entry) => oldest.has(entry.number) || this.#known.get(entry.number)?.state !== stateOf(entry),
    );
    try {
      for (let at = 0; at < wanted.length; at += AT_ONCE) {
        const some = wanted.slice(at, at + AT_ONCE);
        const read = await this.#database.read((sql) => this.#catalog.diskBytes(sql, some));
        for (const entry of some) {
          this.#known.delete(entry.number);
          this.#known.set(entry.number, { state: stateOf(entry), bytes: read.get(entry.number) ?? 0 });
        }
      }
    } catch {
      // The sizes are for statistics only.
    }
  }
}

/** What changes when records are written, or the tables are replaced. */
function stateOf({ generation, version }: CatalogEntry): string {
  return `${generation} ${version}`;
}
