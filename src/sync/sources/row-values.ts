import { type Cell, Nested, Numeral, type Scalar, textOf, type Value } from '../../readers/cells.js';
import { type ColumnType, convert, exactNumber } from '../../readers/column-types.js';
import { listOf } from '../../readers/json/object.js';
import { flattenedRow } from '../../readers/json/row.js';
import { isBroken } from '../../readers/rows.js';
import type { Data } from '../../schema/public-types.js';
import { keyOf, type RefusedRow, type SourceBatch, type SourceRow } from '../source.js';

/** Characters of a number that an error shows, so that its remedy is not cut off. */
const SHOWN_DIGITS = 40;

/** A value of a row that cannot be stored. The message names the column and is for the user. */
export class BadValue extends Error {}

/**
 * Makes rows of what a source gives. One with a value that cannot be stored is refused. `partsOf` returns the values of its key;
 * with null among them, its number stands for the key.
 */
export async function* batchesOf<Given>(
  given: AsyncIterable<readonly Given[]>,
  partsOf: (row: Given) => readonly (string | null)[],
  read: (row: Given, key: string) => SourceRow,
): AsyncGenerator<SourceBatch> {
  let number = 0;
  for await (const batch of given) {
    const rows: SourceRow[] = [];
    const refused: RefusedRow[] = [];
    for (const row of batch) {
      number += 1;
      const parts = partsOf(row);
      const key = hasNoNull(parts) ? keyOf(parts) : `row ${number}`;
      try {
        rows.push(read(row, key));
      } catch (error) {
        if (!(error instanceof BadValue)) throw error;
        refused.push({ key, reason: error.message });
      }
    }
    yield { rows, refused };
  }
}

function hasNoNull(parts: readonly (string | null)[]): parts is readonly string[] {
  return !parts.includes(null);
}

/**
 * Returns the data of a record. Objects of JSON become columns as in an import with --flatten, and so do other values that
 * a record does not have.
 */
export function dataOf(
  columns: readonly { name: string }[],
  values: readonly (Cell | readonly Cell[])[],
): Data {
  const data: Record<string, Value> = Object.create(null);
  const add = (name: string, value: Cell | readonly Cell[]) => {
    if (name in data) throw new BadValue(`column "${name}" occurs twice, as a column and within JSON`);
    const list = value instanceof Nested ? listOf(value.json) : value;
    data[name] = Array.isArray(list)
      ? list.map((cell: Cell) => elementOf(name, cell))
      : scalarOf(name, list as Exclude<Cell, Nested>);
  };
  for (const [at, { name }] of columns.entries()) {
    const value = values[at] ?? null;
    if (value instanceof Nested) for (const [column, cell] of columnsOf(name, value)) add(column, cell);
    else add(name, value);
  }
  return data as Data;
}

function columnsOf(name: string, cell: Nested): [string, Cell][] {
  const row = flattenedRow({ line: 1, raw: () => cell.json, names: [name], cells: [cell] });
  if (isBroken(row)) throw new BadValue(`column "${name}": ${row.reason}`);
  return row.names.map((column, at) => [column, row.cells[at] ?? null]);
}

/** Returns the value of a cell whose column has a type in the definition. */
export function convertedCell(name: string, cell: Cell, type: ColumnType): Cell | readonly Cell[] {
  if (type === 'number') return numberOf(name, textOf(cell));
  try {
    return convert(cell, type) as Cell | readonly Cell[];
  } catch (error) {
    throw new BadValue(`column "${name}": ${(error as Error).message}`);
  }
}

/** Returns a number whose text is exact as a double. */
export function numberOf(name: string, text: string): number {
  const number = exactNumber(text);
  if (number !== undefined) return number;
  const shown = text.length > SHOWN_DIGITS ? `${text.slice(0, SHOWN_DIGITS)}…` : text;
  throw new BadValue(
    `column "${name}": ${shown} cannot be stored as a number without changing it; the type text of the column in \`types\` stores it as text`,
  );
}

function elementOf(name: string, cell: Cell): Scalar {
  if (cell instanceof Nested || cell === null) {
    const what = cell === null ? 'null' : 'a list';
    throw new BadValue(
      `column "${name}": the list has ${what} in it, which a record cannot have; the type text of the column in \`types\` stores it as text`,
    );
  }
  return scalarOf(name, cell) as Scalar;
}

function scalarOf(name: string, cell: Exclude<Cell, Nested>): Scalar | null {
  return cell instanceof Numeral ? numberOf(name, cell.text) : cell;
}
