import path from 'node:path';
import { CosiftError } from '../../errors.js';
import { checkedText, type FileKind, parseChecked, writeChecked } from '../../files/checked-file.js';
import { readIfExists, removeTemporaries } from '../../files/secret-file.js';
import { checkDatabaseSettings, DATABASE_ID, type Limits, type ValueFormats } from '../../schema/index.js';
import { withFormats } from '../value-formats.js';

/** The formats of the columns of a database. */
interface DatabaseFormats {
  database: string;
  formats: ValueFormats;
}

/** The content of `formats.json`. */
export const FORMATS_FILE: FileKind<DatabaseFormats> = {
  member: 'databases',
  check: checkStored,
  repair: 'put a sound copy in its place, or remove it: exports to CSV then write numbers as JavaScript does',
};

/** The formats of the columns of all databases, in `formats.json` of a data directory. There is none without formats. */
export class FormatsFile {
  readonly #path: string;
  readonly #limits: Limits;
  #formats: ReadonlyMap<string, ValueFormats> = new Map();
  /** Resolves once the last change is written or has failed. */
  #lastChange: Promise<void> = Promise.resolve();

  constructor(dataDirectory: string, limits: Limits) {
    this.#limits = limits;
    this.#path = path.join(dataDirectory, 'formats.json');
  }

  /** @throws {CosiftError} `damaged` when the file was changed by another program. */
  async load(): Promise<void> {
    await removeTemporaries(this.#path);
    const text = await readIfExists(this.#path);
    const items = text === undefined ? [] : parseChecked(this.#path, text, FORMATS_FILE);
    this.#formats = new Map(items.map(({ database, formats }) => [database, formats]));
  }

  /** The formats of a database; undefined if it has none. */
  of(database: string): ValueFormats | undefined {
    return this.#formats.get(database);
  }

  /** The text of a file with these databases, or with all; undefined if they have no formats. */
  textOf(database: string | undefined): string | undefined {
    const items = itemsOf(this.#formats).filter(
      (item) => database === undefined || item.database === database,
    );
    return items.length === 0 ? undefined : checkedText(items, FORMATS_FILE);
  }

  /** Sets the formats of a database that was created. One that was dropped may have left some. */
  create(database: string, formats: ValueFormats = {}): Promise<void> {
    return this.#change(database, () => formats);
  }

  /**
   * Returns the formats of a database that is to have `added`, too.
   *
   * @throws {CosiftError} `database_exists` if a column has another format; `invalid_request` if there are too many.
   */
  with(database: string, added: ValueFormats | undefined): ValueFormats {
    const existing = this.of(database);
    const formats = withFormats(existing, added, this.#limits);
    if (formats !== undefined) return formats;
    const text = JSON.stringify({ formats: existing });
    throw new CosiftError(
      'database_exists',
      `database ${JSON.stringify(database)} exists with other settings: ${text}`,
    );
  }

  /** Adds the formats of further columns. Fails as {@link with} does. */
  add(database: string, added: ValueFormats | undefined): Promise<void> {
    return this.#change(database, () => this.with(database, added));
  }

  /** Forgets a database. */
  remove(database: string): Promise<void> {
    return this.create(database);
  }

  /** Makes one change after the other. The formats change once the file is written. */
  #change(database: string, change: () => ValueFormats): Promise<void> {
    const changed = this.#lastChange.then(async () => {
      const formats = change();
      if (JSON.stringify(formats) === JSON.stringify(this.of(database) ?? {})) return;
      const all = new Map(this.#formats).set(database, formats);
      if (Object.keys(formats).length === 0) all.delete(database);
      await writeChecked(this.#path, itemsOf(all), FORMATS_FILE);
      this.#formats = all;
    });
    this.#lastChange = changed.catch(() => undefined);
    return changed;
  }
}

function itemsOf(formats: ReadonlyMap<string, ValueFormats>): DatabaseFormats[] {
  return [...formats].map(([database, formats]) => ({ database, formats }));
}

function checkStored(value: unknown): DatabaseFormats {
  const { database, formats } = Object(value) as DatabaseFormats;
  if (typeof database !== 'string' || !DATABASE_ID.test(database))
    throw new Error('a database has no valid id');
  checkDatabaseSettings({ formats });
  return { database, formats };
}
