import { didYouMean } from '../schema/index.js';
import type { ColumnType, ColumnTypes } from './column-types.js';
import { type ColumnOptions, PARTS, type Part } from './rows.js';

/** The character between fields unless an option gives another. */
export const COMMA = ',';

/** The columns of a CSV file, from its header and all its values. */
export class CsvColumns {
  readonly names: readonly string[];
  readonly types: readonly ColumnType[];
  /** The character between fields. */
  readonly separator: string;
  /** Indexes of the columns that hold identities; -1 when there is no such column. */
  readonly id: number;
  readonly uuid: number;
  readonly key: number;

  /** @throws {Error} when the options name a column that the header lacks. */
  constructor(names: readonly string[], found: ColumnTypes, options: ColumnOptions) {
    const { idColumn, keyColumn, types, separator } = options;
    this.names = names;
    this.separator = separator ?? COMMA;
    this.key = keyColumn === undefined ? -1 : this.#find(keyColumn, '--key-column');
    const id = idColumn === undefined ? names.indexOf('id') : this.#find(idColumn, '--id-column');
    if (idColumn !== undefined && idColumn === keyColumn) {
      throw new Error(`--id-column and --key-column both name "${idColumn}"`);
    }
    // `--key-column id` makes the column a key and leaves the integer to the service.
    this.id = id === this.key ? -1 : id;
    const uuid = names.indexOf('uuid');
    this.uuid = uuid === this.key ? -1 : uuid;
    if (this.uuid >= 0 && this.key >= 0) {
      throw new Error('the column "uuid" and --key-column both give the identity: leave one out');
    }
    for (const column of Object.keys(types ?? {})) this.#find(column, '--types');
    this.types = names.map((name, at) => types?.[name] ?? found.of(at));
  }

  /** The parts that the file can have. */
  get parts(): readonly Part[] {
    return this.id < 0 ? ['without-id'] : PARTS;
  }

  /** Returns whether the column is data. The key column is data: its UUID does not contain its text. */
  isData = (at: number): boolean => at !== this.id && at !== this.uuid;

  #find(name: string, option: string): number {
    const at = this.names.indexOf(name);
    if (at >= 0) return at;
    throw new Error(`${option}: the CSV header has no column "${name}"${didYouMean(name, this.names)}`);
  }
}
