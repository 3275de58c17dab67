import type { TableDefinition } from '../definition.js';
import { quoted } from './names.js';
import { type Relation, selected } from './relation.js';

/** Rows that are read at once. */
export const CHUNK = 1_000;

/** The statements that read a table or a query. */
export class Statements {
  readonly #relation: Relation;
  readonly #definition: TableDefinition;
  readonly #columns: string;
  readonly #key: string;

  constructor(relation: Relation, definition: TableDefinition) {
    this.#relation = relation;
    this.#definition = definition;
    this.#columns = selected(relation, definition);
    // Without the name of the table, ORDER BY would take the texts that are selected.
    this.#key = relation.key.map(({ name }) => `source.${quoted(name)}`).join(', ');
  }

  /** All rows in an order in which those whose keys have the same texts are neighbours. */
  ordered(): string {
    const texts = this.#relation.key.map(({ name }) => `source.${quoted(name)}::text COLLATE "C"`).join(', ');
    return `SELECT ${this.#columns} FROM ${this.#relation.from}${this.#where([])} ORDER BY ${texts}`;
  }

  /**
   * The rows with the first keys, or with the first after the key whose parts are the parameters. With `since`, the number
   * of a parameter, only rows that a transaction from this one on has written.
   */
  chunk({ isFirst, changed }: { isFirst: boolean; changed: boolean }): string {
    const { key, from } = this.#relation;
    const first = changed ? 2 : 1;
    const after = key.map(({ type }, at) => `$${first + at}::text::${type}`).join(', ');
    const conditions = [...(changed ? [CHANGED] : []), ...(isFirst ? [] : [`(${this.#key}) > (${after})`])];
    return `SELECT ${this.#columns} FROM ${from}${this.#where(conditions)} ORDER BY ${this.#key} LIMIT ${CHUNK}`;
  }

  /** The rows that transactions from the one of the parameter on have written. */
  changed(): string {
    return `SELECT ${this.#columns} FROM ${this.#relation.from}${this.#where([CHANGED])}`;
  }

  /** The rows with the given keys. Each parameter is the list of the texts of a column of the key. */
  ofKeys(): string {
    const values = this.#given((value) => value);
    return `SELECT ${this.#columns} FROM ${this.#relation.from}${this.#where([`(${this.#key}) IN (${values})`])}`;
  }

  /** The given keys as the rows have them: not all texts of a value are the same. */
  keyTexts(): string {
    return this.#given((value) => `${value}::text`);
  }

  #given(shown: (value: string) => string): string {
    const { key } = this.#relation;
    const values = key.map(({ type }, at) => shown(`k${at}::${type}`)).join(', ');
    const lists = key.map((_, at) => `$${at + 1}::text[]`).join(', ');
    return `SELECT ${values} FROM unnest(${lists}) AS given (${key.map((_, at) => `k${at}`).join(', ')})`;
  }

  /** The number of the rows that transactions from the one of the first parameter on have written, at most the second one. */
  changedCount(): string {
    return `SELECT count(*) FROM (SELECT FROM ${this.#relation.from}${this.#where([CHANGED])} LIMIT $2) AS changed`;
  }

  count(): string {
    return `SELECT count(*) FROM ${this.#relation.from}${this.#where([])}`;
  }

  /** A number and a sum that differ when the rows do. */
  digest(): string {
    return `SELECT count(*)::text || ' ' || coalesce(sum(hashtextextended(ROW(${this.#columns})::text, 0)), 0)
      FROM ${this.#relation.from}${this.#where([])}`;
  }

  /** The keys of all rows as `keyOf` writes them, in the order of their bytes. */
  keys(): string {
    const key = this.#relation.key.map(({ name, kind }) => encoded(`${quoted(name)}::text`, kind === 'text'));
    return `SELECT key FROM (SELECT ${key.join(` || '/' || `)} AS key FROM ${this.#relation.from}${this.#where([])}) AS keys
      ORDER BY key COLLATE "C"`;
  }

  #where(conditions: readonly string[]): string {
    const { where } = this.#definition;
    const all = [...conditions, ...(where === undefined ? [] : [`(${where}\n)`])];
    return all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`;
  }
}

/** Transactions that are not older than the given one wrote the row. Age counts the transactions since, across wraparounds. */
const CHANGED = 'age(xmin) <= age($1::xid)';

/** The part of a key that {@link keyOf} makes of a text. */
function encoded(text: string, isText: boolean): string {
  if (!isText) return text;
  const common = `replace(replace(${text}, '%', '%25'), '/', '%2F')`;
  const controls = [...range(0x01, 0x1f), ...range(0x7f, 0x9f)];
  const all = controls.reduce(
    (inner, code) => `replace(${inner}, chr(${code}), '${encodeURIComponent(String.fromCharCode(code))}')`,
    common,
  );
  return `CASE WHEN ${text} ~ '[\\u0001-\\u001f\\u007f-\\u009f]' THEN ${all} ELSE ${common} END`;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}
