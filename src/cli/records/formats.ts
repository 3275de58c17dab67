import { csvRow } from '../csv-row.js';
import { printableLines } from '../failure.js';
import { type OrderedObject, writeOrdered } from '../ordered-json.js';
import { note, outputWidth } from '../output.js';
import { TableLayout } from '../table.js';

/** Writes records as lines, batch by batch. */
export interface RecordFormat {
  lines(records: readonly OrderedObject[]): string[];
}

export class JsonLines implements RecordFormat {
  lines(records: readonly OrderedObject[]): string[] {
    return records.map((record) => writeOrdered(record));
  }
}

/** What a row shows of a record. */
export interface Row {
  /** Members of the record besides its data, such as `id`. */
  members: readonly string[];
  columns: readonly string[];
}

function valuesOf(record: OrderedObject, { members, columns }: Row): unknown[] {
  const data = record.get('data') as OrderedObject;
  return [...members.map((name) => record.get(name)), ...columns.map((name) => data.get(name))];
}

/** CSV with a header. The cells are those of an export. */
export class Csv implements RecordFormat {
  readonly #row: Row;
  #isBegun = false;

  constructor(row: Row) {
    this.#row = row;
  }

  lines(records: readonly OrderedObject[]): string[] {
    const header = this.#isBegun ? [] : [csvRow([...this.#row.members, ...this.#row.columns])];
    this.#isBegun = true;
    const lines = [...header, ...records.map((record) => csvRow(valuesOf(record, this.#row)))];
    // A cell must not control the terminal. In a pipe it stays as it is.
    return process.stdout.isTTY ? lines.map(printableLines) : lines;
  }
}

/** A table whose columns are as wide as the first batch needs. */
export class Table implements RecordFormat {
  readonly #row: Row;
  #layout: TableLayout | undefined;

  constructor(row: Row) {
    this.#row = row;
  }

  lines(records: readonly OrderedObject[]): string[] {
    const scores = this.#row.members.indexOf(SCORE);
    const rows = records.map((record) =>
      valuesOf(record, this.#row).map((value, at) =>
        at === scores ? (value as number).toFixed(4) : cellOf(value),
      ),
    );
    if (this.#layout !== undefined) return rows.map(this.#layout.line);
    const header = [...this.#row.members.map((name) => HEADERS[name] ?? name), ...this.#row.columns];
    this.#layout = new TableLayout(header, rows, outputWidth());
    const { hidden } = this.#layout;
    if (hidden > 0) note(`${hidden} more columns do not fit; --columns chooses the columns to show`);
    return [header, ...rows].map(this.#layout.line);
  }
}

export const SCORE = 'relevance_score';
const HEADERS: Readonly<Record<string, string>> = { [SCORE]: 'score' };

function cellOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}
