import { valueText } from '../../readers/value-text.js';
import type { Data, ValueFormats } from '../../schema/index.js';
import type { FormatName } from './format.js';
import type { ExportedRecord } from './records.js';

export type ColumnType = 'text' | 'number' | 'boolean';
/** An import takes a column `key` for keys if it comes before the column `uuid`. */
export const IDENTITIES = ['id', 'key', 'uuid'] as const;
export type IdentityName = (typeof IDENTITIES)[number];

/** The columns of the exported records, in the order in which they first appear. */
export class Columns {
  readonly #types = new Map<string, Set<ColumnType>>();
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
      const type = typeOf(data[name]);
      if (type !== undefined) types.add(type);
      if (this.#formats.has(name) && this.#textOf(name, data[name]) === undefined) this.#formats.delete(name);
    }
  }

  /** The text of a value in CSV; undefined for a missing value. */
  textOf(name: string, data: Data): string | undefined {
    const value = Object.hasOwn(data, name) ? data[name] : undefined;
    // The value may be newer than its format.
    return value === undefined || value === null ? undefined : (this.#textOf(name, value) ?? String(value));
  }

  #textOf(name: string, value: Data[string] | undefined): string | undefined {
    return valueText(value ?? '', this.#formats.get(name));
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

  /** The type of all values of a column; text when they have several types. */
  typeOf(name: string): ColumnType {
    const [type = 'text', ...others] = this.#types.get(name) ?? [];
    return others.length === 0 ? type : 'text';
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
    const mixed = [...this.#types].filter(([, types]) => types.size > 1);
    return [
      ...warnings,
      ...mixed.map(([name, types]) => {
        return `column "${name}" has values of the types ${[...types].join(' and ')}: Parquet has all of them as text`;
      }),
    ];
  }
}

export function changedMeanwhile(what: string): Error {
  return new Error(`${what} was written while the file was made: run the command again`);
}

/** Returns the type of a value; undefined for null. */
export function typeOf(value: unknown): ColumnType | undefined {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : undefined;
}
