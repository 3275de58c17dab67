import type { TableDefinition } from '../definition.js';
import type { Relation } from './relation.js';

/** The statements that read a table or a query. */
export class Statements {
  readonly #source: string;
  readonly #columns: readonly string[];
  readonly #hash: string;
  readonly #order: string;

  constructor({ from, key, columns, times, isUnique }: Relation, { where }: TableDefinition) {
    this.#source = `FROM ${from}${where === undefined ? '' : ` WHERE (${where}\n)`}`;
    const keys = key.map(({ expression }) => expression);
    this.#columns = [...keys, ...columns.map(({ expression }) => expression), ...times];
    const parts = this.#columns.map((text) => `COALESCE(SHA2(${text}, 256), '-')`);
    this.#hash = `CONV(LEFT(SHA2(CONCAT(${parts.join(', ')}), 256), 16), 16, 10)`;
    // In this order, rows whose keys have the same texts are neighbours.
    const texts = keys.map((text) => `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`);
    this.#order = isUnique ? '' : ` ORDER BY ${texts.join(', ')}`;
  }

  /** All rows, each with its hash. */
  rows(): string {
    return `SELECT ${[...this.#columns, this.#hash].join(', ')} ${this.#source}${this.#order}`;
  }

  count(): string {
    return `SELECT COUNT(*) ${this.#source}`;
  }

  /** The number of rows and the sum of their hashes, which differ when the rows do. */
  digest(): string {
    return `SELECT COUNT(*), COALESCE(SUM(CAST(${this.#hash} AS UNSIGNED)), 0) ${this.#source}`;
  }
}
