import { isIntegerId } from './identities.js';
import type { IdentityKind } from './identity-column.js';

/** Records that are requested at once. */
const REQUESTS = 8;

const KINDS = { id: 'integer ids', uuid: 'UUIDs', key: 'keys' } as const;

/** Values of an identity column of which no option says what they are. */
export interface InferredIdentity {
  column: string;
  kind: IdentityKind;
  /** Some of the values so far that are integers or UUIDs, and may therefore be of another kind. */
  texts: readonly string[];
}

export interface OtherKindCalls {
  get(id: number | string): Promise<{ key?: string | undefined } | undefined>;
  /** Names what the user gives to declare the type of a column. */
  optionFor(column: string, type: 'text' | 'number'): string;
}

/**
 * Finds out whether the database has the records of a file under another kind of identity, because one more value decides
 * whether a column has integer ids, UUIDs or keys. All records would be stored twice.
 */
export class OtherKind {
  readonly #calls: OtherKindCalls;
  readonly #checked = new Set<string>();
  #isDone = false;

  constructor(calls: OtherKindCalls) {
    this.#calls = calls;
  }

  /**
   * Checks the values that were not checked before.
   *
   * @throws {Error} when the database has some of them only under another kind.
   */
  async check(identity: InferredIdentity | undefined): Promise<void> {
    if (identity === undefined || this.#isDone) return;
    const { column, kind, texts } = identity;
    const unchecked = texts.filter((text) => !this.#checked.has(text));
    let found: { text: string; stored: IdentityKind } | undefined;
    for (let at = 0; at < unchecked.length && !this.#isDone; at += REQUESTS) {
      const kinds = unchecked.slice(at, at + REQUESTS).map((text) => this.#storedKind(text, kind));
      for (const [index, stored] of (await Promise.all(kinds)).entries()) {
        // The database has this record as the file does: other records are the ones that only look alike.
        if (stored === kind) this.#isDone = true;
        else if (stored !== undefined) found ??= { text: unchecked[at + index] as string, stored };
      }
    }
    for (const text of unchecked) this.#checked.add(text);
    if (found === undefined || this.#isDone) return;
    throw new Error(
      `the column "${column}" has ${KINDS[kind]}, but the database has these records by ${KINDS[found.stored]}, ` +
        `such as "${found.text}", and they would be stored twice: ${this.#adviceFor(column, kind, found.stored)}`,
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

  /** Returns the kind under which the database has a value: another one, or that of the file; undefined if it has neither. */
  async #storedKind(text: string, kind: IdentityKind): Promise<IdentityKind | undefined> {
    try {
      const other = kind === 'key' ? kindOf(text) : 'key';
      if (!(await this.#has(text, other))) return undefined;
      // Records without an id get one, but no record gets a key that was not given.
      return kind === 'key' && (await this.#has(text, kind)) ? kind : other;
    } catch (error) {
      // An API key may be allowed to write records, and not to read them.
      if ((error as { code?: unknown }).code === 'forbidden') return kind;
      throw error;
    }
  }

  /** Returns whether there is a record whose identity is `text`. A record with a key has an id and a UUID, too. */
  async #has(text: string, kind: IdentityKind): Promise<boolean> {
    const id = kind === 'key' ? `key:${text}` : kind === 'id' ? Number(text) : text;
    const record = await this.#calls.get(id);
    return record !== undefined && (record.key === undefined || kind === 'key');
  }
}

/** Returns what a value is that is no key. */
function kindOf(text: string): IdentityKind {
  return isIntegerId(text) ? 'id' : 'uuid';
}
