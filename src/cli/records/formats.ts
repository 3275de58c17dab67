import { csvRow } from '../csv-row.js';
import { printableLines } from '../failure.js';
import { type OrderedObject, writeOrdered } from '../ordered-json.js';
import { note, outputWidth } from '../output.js';
import { TableLayout } from '../table.js';

/** Writes records as lines, batch by batch. */
export type RecordFormat = (records: readonly OrderedObject[]) => string[];

export const jsonLines: RecordFormat = (records) => records.map((record) => writeOrdered(record));

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
export function csvLines(row: Row): RecordFormat {
  let header = [csvRow([...row.members, ...row.columns])];
  return (records) => {
    const lines = [...header, ...records.map((record) => csvRow(valuesOf(record, row)))];
    header = [];
    // A cell must not control the terminal. In a pipe it stays as it is.
    return process.stdout.isTTY ? lines.map(printableLines) : lines;
  };
}

/** A table whose columns are as wide as the first batch needs. */
export function tableLines(row: Row): RecordFormat {
  const scores = row.members.indexOf(SCORE);
  let layout: TableLayout | undefined;
  return (records) => {
    const rows = records.map((record) =>
      valuesOf(record, row).map((value, at) =>
        at === scores ? (value as number).toFixed(4) : cellOf(value),
      ),
    );
    if (layout !== undefined) return rows.map(layout.line);
    const header = [...row.members.map((name) => HEADERS[name] ?? name), ...row.columns];
    layout = new TableLayout(header, rows, outputWidth());
    const { hidden } = layout;
    if (hidden > 0) note(`${hidden} more columns do not fit; --columns chooses the columns to show`);
    return [header, ...rows].map(layout.line);
  };
}

export const SCORE = 'relevance_score';
const HEADERS: Readonly<Record<string, string>> = { [SCORE]: 'score' };

function cellOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}
