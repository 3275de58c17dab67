import type { Match } from './match-order.js';
import { type PageContent, pageRow, pageRows } from './page-rows.js';
import type { RecordRow, RowVectors } from './rows.js';
import { arrayOf, type Sql } from './sql.js';
import type { SizedRow } from './whole-rows.js';

export class MatchRows {
  readonly #sql: Sql;
  readonly #table: string;
  readonly #content: PageContent;
  /** The rows that are being read before all matches are known. */
  #likely: Promise<SizedRow[]> | undefined;

  constructor(sql: Sql, table: string, content: PageContent) {
    this.#sql = sql;
    this.#table = table;
    this.#content = content;
  }

  /** Begins to read the rows of likely matches, while the matches are found. Only the first call has an effect. */
  begin(ids: readonly number[]): void {
    if (this.#likely !== undefined || ids.length === 0) return;
    this.#likely = this.#read(ids);
    // The search may fail before it asks for the rows.
    this.#likely.catch(() => undefined);
  }

  async of(matches: readonly Match[]): Promise<(RecordRow & RowVectors)[]> {
    if (matches.length === 0) return [];
    const byId = new Map<number, SizedRow>();
    const add = (rows: readonly SizedRow[]) => {
      for (const row of rows) byId.set(row.id, row);
    };
    if (this.#likely !== undefined) add(await this.#likely);
    const missing = matches.flatMap(({ id }) => (byId.has(id) ? [] : id));
    if (missing.length > 0) add(await this.#read(missing));
    const rows = matches.map(({ id }) => byId.get(id) as SizedRow);
    return await pageRows(this.#sql, this.#table, rows, this.#content);
  }

  async #read(ids: readonly number[]): Promise<SizedRow[]> {
    return await this.#sql.run<SizedRow>(
      `SELECT ${pageRow(this.#content)} FROM ${this.#table} WHERE id = ANY($1::bigint[])`,
      [arrayOf(ids)],
    );
  }
}
