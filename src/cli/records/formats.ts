import { csvRow } from '../csv-row.js';
import { printableLines } from '../failure.js';
import { type OrderedObject, writeOrdered } from '../ordered-json.js';
import { note, outputWidth } from '../output.js';
import type { TableLayout } from '../table.js';

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

/** A table whose columns are as wide as the first batch needs. In a terminal, words that are highlighted are bold. */
export async function tableLines(row: Row): Promise<RecordFormat> {
  const { TableLayout } = await import('../table.js');
  let layout: TableLayout | undefined;
  return (records) => {
    const areMarked = process.stdout.isTTY && records.some((record) => record.has('highlights'));
    const rows = records.map((record) => cellsOf(record, row, areMarked));
    const lines = ({ line }: TableLayout) => (areMarked ? rows.map(line).map(withBold) : rows.map(line));
    if (layout !== undefined) return lines(layout);
    const header = [...row.members.map((name) => HEADERS[name] ?? name), ...row.columns];
    layout = new TableLayout(header, rows, outputWidth());
    const { hidden } = layout;
    if (hidden > 0) note(`${hidden} more columns do not fit; --columns chooses the columns to show`);
    return [layout.line(header), ...lines(layout)];
  };
}

export const SCORE = 'relevance_score';
const HEADERS: Readonly<Record<string, string>> = { [SCORE]: 'score' };

function cellsOf(record: OrderedObject, row: Row, areMarked: boolean): string[] {
  const highlights = record.get('highlights') as OrderedObject | undefined;
  return valuesOf(record, row).map((value, at) => {
    if (row.members[at] === SCORE) return (value as number).toFixed(4);
    // The text of a list is that in which its words are highlighted.
    const text = [value ?? ''].flat().join(', ');
    if (!areMarked) return text;
    const column = row.columns[at - row.members.length] ?? '';
    return marked(text, (highlights?.get(column) ?? []) as [number, number][]);
  });
}

/** Invisible characters of no width before and after what is bold, so that a line is as wide as it looks. */
const BOLD = ['\u2063', '\u2064'] as const;

function marked(text: string, places: readonly (readonly [number, number])[]): string {
  const plain = (start: number, end?: number) => text.slice(start, end).replaceAll(/[\u2063\u2064]/g, '');
  let [shown, at] = ['', 0];
  for (const [start, end] of places) {
    shown += `${plain(at, start)}${BOLD[0]}${plain(start, end)}${BOLD[1]}`;
    at = end;
  }
  return shown + plain(at);
}

/** The line as a terminal shows it. Where a cell is cut, an ellipsis ends what is bold. */
function withBold(line: string): string {
  return line.replaceAll(/\u2063([^\u2064…]*)\u2064?/g, '\x1b[1m$1\x1b[22m');
}
