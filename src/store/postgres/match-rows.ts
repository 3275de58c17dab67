import type { Match } from './match-order.js';
import { type RecordRow, ROW, VECTORS } from './rows.js';
import { arrayOf, type Sql } from './sql.js';

/** Reads the rows of matches. */
export class MatchRows {
  readonly #sql: Sql;
  readonly #table: string;
  readonly #columns: string;
  /** The rows that are being read before all matches are known. */
  #likely: Promise<RecordRow[]> | undefined;

  constructor(sql: Sql, table: string, withVectors: boolean) {
    this.#sql = sql;
    this.#table = table;
    this.#columns = withVectors ? `${ROW}, ${VECTORS}` : ROW;
  }

  /** Begins to read the rows of likely matches, while the matches are found. Only the first call has an effect. */
  begin(ids: readonly number[]): void {
    if (this.#likely !== undefined || ids.length === 0) return;
    this.#likely = this.#read(ids);
    // The search may fail before it asks for the rows.
    this.#likely.catch(() => undefined);
  }

  /** The rows of matches, in their order. */
  async of(matches: readonly Match[]): Promise<RecordRow[]> {
    if (matches.length === 0) return [];
    const byId = new Map<number, RecordRow>();
    const add = (rows: readonly RecordRow[]) => {
      for (const row of rows) byId.set(row.id, row);
    };
    if (this.#likely !== undefined) add(await this.#likely);
    const missing = matches.flatMap(({ id }) => (byId.has(id) ? [] : id));
    if (missing.length > 0) add(await this.#read(missing));
    return matches.map(({ id }) => byId.get(id) as RecordRow);
  }

  async #read(ids: readonly number[]): Promise<RecordRow[]> {
    return await this.#sql.run<RecordRow>(
      `SELECT ${this.#columns} FROM ${this.#table} WHERE id = ANY($1::bigint[])`,
      [arrayOf(ids)],
    );
  }
}
