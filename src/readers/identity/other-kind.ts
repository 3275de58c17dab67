import type { Data } from '../../schema/index.js';
import { type Cell, Nested } from '../cells.js';
import type { ColumnType } from '../column-types.js';
import { type IdentityColumns, type IdentityKind, type IdentityValues, KIND_NAMES } from './column.js';
import { contentOf, isIntegerId, uuidOfContent } from './identities.js';

/** Values that are looked up at once. */
const REQUESTS = 8;

/** Values of an identity column of which no option says what they are. */
export interface InferredIdentity {
  column: string;
  kind: IdentityKind;
  /** Some of the values so far that are integers or UUIDs, and may therefore be of another kind. */
  texts: readonly string[];
}

/** Returns the identity column, if its values alone decide of which kind they are: no option and no column with UUIDs. */
export function inferredIdentity(
  { column, kind, uuids }: IdentityColumns,
  { sample }: IdentityValues,
  types: Readonly<Record<string, ColumnType>> | undefined,
): InferredIdentity | undefined {
  if (column === undefined || uuids || types?.[column] !== undefined) return undefined;
  return { column, kind, texts: sample.texts };
}

export interface OtherKindCalls {
  get(id: number | string): Promise<{ key?: string | undefined; data: Data } | undefined>;
  /** Names what the user gives to declare the type of a column. */
  optionFor(column: string, type: 'text' | 'number'): string;
}

/** What the database has under a value of the file. */
interface Stored {
  text: string;
  kind: IdentityKind;
  /** For a record that has the integer id only because the database gave it one: its key, and undefined without one. */
  given?: { key: string | undefined };
}

/**
 * Finds out whether the database has the records of a file under another kind of identity, because one more value decides
 * whether a column has integer ids, UUIDs or keys: all records would be stored twice. Also finds out whether integer ids
 * of a file are those that the database gave to other records, which would be overwritten.
 */
export class OtherKind {
  readonly #calls: OtherKindCalls;
  readonly #checked = new Set<string>();
  /** Whether the database has a record by the identity of the file. */
  #isKnown = false;

  constructor(calls: OtherKindCalls) {
    this.#calls = calls;
  }

  /**
   * Checks the values that were not checked before.
   *
   * @throws {Error} when the database has some of them only under another kind, or gave them to other records.
   */
  async check(identity: InferredIdentity | undefined): Promise<void> {
    if (identity === undefined) return;
    const { column, kind, texts } = identity;
    const unchecked = texts.filter((text) => !this.#checked.has(text));
    let other: Stored | undefined;
    let keyed: Stored | undefined;
    // Integer ids are all looked up, because one record that has its id of the file says nothing about the others.
    for (let at = 0; at < unchecked.length && (kind === 'id' || !this.#isKnown); at += REQUESTS) {
      const found = unchecked.slice(at, at + REQUESTS).map((text) => this.#stored(text, kind));
      for (const stored of await Promise.all(found)) {
        if (stored === undefined) continue;
        if (stored.given?.key !== undefined) keyed ??= stored;
        else if (stored.kind !== kind || stored.given !== undefined) other ??= stored;
        // The database has this record as the file does: other records are the ones that only look alike.
        else this.#isKnown = true;
      }
    }
    for (const text of unchecked) this.#checked.add(text);
    const problem = keyed ?? (this.#isKnown ? undefined : other);
    if (problem !== undefined) throw new Error(this.#problem(column, kind, problem));
  }

  #problem(column: string, kind: IdentityKind, { text, kind: stored, given }: Stored): string {
    if (given !== undefined) {
      const [of, what] =
        given.key === undefined
          ? ['without an id of their own', '']
          : ['with keys', `, which the record with the key "${given.key}" has`];
      return (
        `the column "${column}" has integer ids, but the database gave such ids to records ${of}, such as ${text}${what}, ` +
        `and they would be overwritten: give ${this.#calls.optionFor(column, 'text')} to store records of their own by ` +
        `keys, or ${this.#calls.optionFor(column, 'number')} to overwrite them`
      );
    }
    return (
      `the column "${column}" has ${KIND_NAMES[kind]}, but the database has these records by ${KIND_NAMES[stored]}, ` +
      `such as "${text}", and they would be stored twice: ${this.#adviceFor(column, kind, stored)}`
    );
  }

  #adviceFor(column: string, kind: IdentityKind, stored: IdentityKind): string {
    const text = this.#calls.optionFor(column, 'text');
    if (kind === 'uuid') return `give ${text} to keep the keys`;
    const number = this.#calls.optionFor(column, 'number');
    if (kind === 'id') return `give ${text} to keep the keys, or ${number} to store records of their own`;
    const all = `${text} to store all of them again, by keys`;
    return stored === 'id'
      ? `give ${number} to keep the integer ids and to report the rows with other values, or ${all}`
      : `correct the values of the column that are no UUIDs, or give ${all}`;
  }

  /** Returns what the database has: the record under another kind, or that of the file; undefined if it has neither. */
  async #stored(text: string, kind: IdentityKind): Promise<Stored | undefined> {
    try {
      const other = kind === 'key' ? kindOf(text) : 'key';
      const forms = kind === 'uuid' ? formsOf(text) : [text];
      if ((await Promise.all(forms.map((form) => this.#has(form, other)))).includes(true)) {
        // Records without an id get one, but no record gets a key that was not given.
        return { text, kind: kind === 'key' && (await this.#has(text, kind)) ? kind : other };
      }
      return kind === 'id' ? await this.#storedById(text) : undefined;
    } catch (error) {
      // An API key may be allowed to write records, and not to read them.
      if ((error as { code?: unknown }).code === 'forbidden') return { text, kind };
      throw error;
    }
  }

  /** Returns whether there is a record whose identity is `text`. A record with a key has an id and a UUID, too. */
  async #has(text: string, kind: IdentityKind): Promise<boolean> {
    const id = kind === 'key' ? `key:${text}` : kind === 'id' ? Number(text) : text;
    const record = await this.#calls.get(id);
    return record !== undefined && (record.key === undefined || kind === 'key');
  }

  async #storedById(text: string): Promise<Stored | undefined> {
    const record = await this.#calls.get(Number(text));
    if (record === undefined) return undefined;
    const { key } = record;
    const isGiven = key !== undefined || (await this.#isOfContent(record));
    return { text, kind: 'id', ...(isGiven && { given: { key } }) };
  }

  /** Returns whether an import made the UUID of a record from its content, because its row had no identity. */
  async #isOfContent({ data }: { data: Data }): Promise<boolean> {
    const uuid = uuidOfContent(contentOf(Object.keys(data), Object.values(data).map(cellOf)));
    const record = await this.#calls.get(uuid);
    return record !== undefined && JSON.stringify(record.data) === JSON.stringify(data);
  }
}

/** Returns the cell that a value of a record was made from. */
function cellOf(value: Data[string]): Cell {
  return typeof value === 'object' && value !== null ? new Nested(JSON.stringify(value)) : value;
}

/** Returns the texts of a UUID, of which each is a key of its own. */
function formsOf(text: string): string[] {
  const forms = [text, text.toLowerCase(), text.toUpperCase()];
  return [...new Set([...forms, ...forms.map((form) => `{${form}}`)])];
}

/** Returns what a value is that is no key. */
function kindOf(text: string): IdentityKind {
  return isIntegerId(text) ? 'id' : 'uuid';
}
