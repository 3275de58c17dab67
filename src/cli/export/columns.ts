import { valueText } from '../../readers/value-text.js';
import type { ColumnValue, Data, ValueFormats } from '../../schema/index.js';
import type { FormatName } from './format.js';
import type { ExportedRecord } from './records.js';

export type ColumnType = 'text' | 'number' | 'boolean';

/** What a column of a typed file has. */
export interface Column {
  /** The type of all values and elements of lists; text when they have several types. */
  type: ColumnType;
  /** Whether all values are lists. */
  isList: boolean;
}
/** An import takes a column `key` for keys if it comes before the column `uuid`. */
export const IDENTITIES = ['id', 'key', 'uuid'] as const;
export type IdentityName = (typeof IDENTITIES)[number];

/** The columns of the exported records, in the order in which they first appear. */
export class Columns {
  readonly #types = new Map<string, Set<ColumnType>>();
  /** Whether the values of a column are lists; undefined for a column with lists and other values. */
  readonly #areLists = new Map<string, boolean | undefined>();
  /** The formats of columns in CSV, without those that change a value. */
  readonly #formats: Map<string, string>;
  #records = 0;
  #hasKeys = false;
  /** Whether a column `key` of the data has the key of every record. */
  #keyIsData = true;

  constructor(formats: ValueFormats = {}) {
    this.#formats = new Map(Object.entries(formats));
  }

  add({ data, key, names }: ExportedRecord): void {
    this.#records += 1;
    this.#hasKeys ||= key !== undefined;
    this.#keyIsData &&= (Object.hasOwn(data, 'key') ? data.key : null) === (key ?? null);
    for (const name of names) {
      let types = this.#types.get(name);
      if (types === undefined) {
        types = new Set();
        this.#types.set(name, types);
      }
      this.#addTypes(name, types, data[name] ?? null);
      if (this.#formats.has(name) && this.#textOf(name, data[name]) === undefined) this.#formats.delete(name);
    }
  }

  #addTypes(name: string, types: Set<ColumnType>, value: ColumnValue): void {
    if (value === null) return;
    const isList = isArray(value);
    const before = this.#areLists.has(name) ? this.#areLists.get(name) : isList;
    this.#areLists.set(name, before === isList ? isList : undefined);
    for (const element of [value].flat()) types.add(typeOf(element));
  }

  /** The text of a value in CSV; undefined for a missing value. */
  textOf(name: string, data: Data): string | undefined {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    // The value may be newer than its format.
    return value === undefined || value === null
      ? undefined
      : (this.#textOf(name, value) ?? plainText(value));
  }

  #textOf(name: string, value: ColumnValue | undefined): string | undefined {
    return isArray(value) ? plainText(value) : valueText(value ?? '', this.#formats.get(name));
  }

  get records(): number {
    return this.#records;
  }

  get names(): string[] {
    return [...this.#types.keys()];
  }

  /** The columns with the identity. A column of the data that has the name of one takes its place. */
  get identities(): IdentityName[] {
    return IDENTITIES.filter((name) => !this.#types.has(name) && (name !== 'key' || this.#hasKeys));
  }

  of(name: string): Column {
    const isList = this.#areLists.get(name) ?? false;
    const [type = 'text', ...others] = this.#types.get(name) ?? [];
    return { type: others.length === 0 && !this.#isMixed(name) ? type : 'text', isList };
  }

  /** Whether a column has lists and other values. */
  #isMixed(name: string): boolean {
    return this.#areLists.has(name) && this.#areLists.get(name) === undefined;
  }

  /**
   * Checks that a record has no other columns.
   *
   * @throws {Error} for a column that did not exist when the columns were collected.
   */
  check({ names }: ExportedRecord): void {
    for (const name of names) {
      if (!this.#types.has(name)) throw changedMeanwhile(`the new column "${name}"`);
    }
  }

  /** Returns what an import of the file would find to be different. */
  warnings(format: FormatName): string[] {
    const has = (name: string) => this.#types.has(name);
    const warnings: string[] = [];
    for (const [name, other] of [
      ['id', 'uuid'],
      ['uuid', 'id'],
    ] as const) {
      if (!has(name)) continue;
      const advice = has(other) ? '' : `; import the file with --id-column ${other}`;
      warnings.push(`the data has a column "${name}", so the file lacks the ${name} of the records${advice}`);
    }
    if (this.#hasKeys && has('uuid')) {
      warnings.push('without the uuid of the records, an import takes their keys for data');
    } else if (this.#hasKeys && has('key') && !this.#keyIsData) {
      warnings.push('the data has a column "key", so the file lacks the key of the records');
    }
    if (format === 'csv') return warnings;
    for (const [name, types] of this.#types) {
      const mixed = this.#isMixed(name) ? [...types, 'list'] : [...types];
      if (mixed.length < 2) continue;
      warnings.push(
        `column "${name}" has values of the types ${mixed.join(' and ')}: Parquet has all of them as text`,
      );
    }
    return warnings;
  }
}

export function changedMeanwhile(what: string): Error {
  return new Error(`${what} was written while the file was made: run the command again`);
}

/** Returns the type of a value that is no list. */
export function typeOf(value: unknown): ColumnType {
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'text';
}

/** Returns the text of a value; of a list, its JSON. */
export function plainText(value: ColumnValue): string {
  return isArray(value) ? JSON.stringify(value) : String(value);
}

/** `Array.isArray`, which does not know arrays that are only read. */
export function isArray(value: ColumnValue | undefined): value is Extract<ColumnValue, readonly unknown[]> {
  return Array.isArray(value);
}
