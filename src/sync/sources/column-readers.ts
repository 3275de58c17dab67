import { CosiftError } from '../../errors.js';
import type { Cell } from '../../readers/cells.js';
import type { ColumnType } from '../../readers/column-types.js';
import { cellOf, listOf } from '../../readers/json/object.js';
import { BadValue, convertedCell, numberOf } from './row-values.js';

export type ScalarKind = 'number' | 'boolean' | 'text' | 'time' | 'json';

/** A type of a database, and what its values are; `kind` is undefined for a type that records do not have. */
export interface SourceType {
  /** As in CREATE TABLE. */
  name: string;
  kind: ScalarKind | undefined;
  /** The type of the elements of a list. */
  element?: SourceType | undefined;
}

/** What values of a type become. A change of it is a change of what records have. */
export type ValueKind = ScalarKind | `list of ${Exclude<ScalarKind, 'json'>}`;

/** How a column is read. */
export interface ColumnReader {
  name: string;
  kind: ValueKind;
  /** The text of the value in SQL. */
  expression: string;
  read(text: string | null): Cell | readonly Cell[];
}

/** What gives the text of a value in SQL, and that of a list as JSON. */
interface Expressions {
  scalar: string;
  list: string;
}

/** @throws {CosiftError} `source_failed` for a column of a type that is not supported. */
export function columnReader(
  name: string,
  type: SourceType,
  given: ColumnType | undefined,
  { scalar: expression, list }: Expressions,
): ColumnReader {
  if (given !== undefined) {
    const isJson = type.element === undefined && type.kind === 'json';
    const isParsed = given === 'list' && isJson;
    const read = (text: string) => convertedCell(name, isParsed ? cellOf(text.trim()) : text, given);
    return { name, kind: KIND_OF[given], expression, read: orNull(read) };
  }
  const kind = type.element?.kind ?? type.kind;
  if (kind === undefined || (type.element !== undefined && kind === 'json')) {
    throw new CosiftError(
      'source_failed',
      `column "${name}" has the type ${type.name}, which records do not have: leave it out, or store its text by the type text in \`types\``,
    );
  }
  const scalar = scalarReader(name, kind);
  if (type.element === undefined) return { name, kind, expression, read: orNull(scalar) };
  const element = (cell: Cell): Cell => (typeof cell === 'string' ? (scalar(cell) as Cell) : cell);
  return {
    name,
    kind: `list of ${kind as 'text'}`,
    expression: list,
    read: orNull((text) => (listOf(text) as Cell[]).map(element)),
  };
}

const KIND_OF = { text: 'text', number: 'number', boolean: 'boolean', list: 'list of text' } as const;

function orNull(read: (text: string) => Cell | readonly Cell[]): ColumnReader['read'] {
  return (text) => (text === null ? null : read(text));
}

function scalarReader(name: string, kind: ValueKind): (text: string) => Cell {
  switch (kind) {
    case 'number':
      return (text) => numberOf(name, text);
    case 'boolean':
      return (text) => booleanOf(name, text);
    case 'time':
      return (text) => isoTime(text) ?? text;
    case 'json':
      return (text) => jsonCell(name, text);
    default:
      return (text) => text;
  }
}

function booleanOf(name: string, text: string): boolean {
  if (text === 'true' || text === 't') return true;
  if (text === 'false' || text === 'f') return false;
  throw new BadValue(
    `column "${name}": ${text} is neither true nor false; the type number of the column in \`types\` stores it as a number`,
  );
}

function jsonCell(name: string, text: string): Cell {
  try {
    return cellOf(text.trim());
  } catch (error) {
    throw new BadValue(`column "${name}": ${(error as Error).message}`);
  }
}

const TIME = /^(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d+)?)(\+00)?)?$/;

/** The ISO 8601 of a date or a time as databases write it; undefined for infinity and for years of other lengths. */
function isoTime(text: string): string | undefined {
  const [, date, time, zone] = TIME.exec(text) ?? [];
  if (date === undefined) return undefined;
  return time === undefined ? date : `${date}T${time}${zone === undefined ? '' : 'Z'}`;
}

/** The instant of a column of times: one without a zone is in UTC. */
export function instantOfTime(name: string, text: string | null): string | undefined {
  if (text === null) return undefined;
  const iso = isoTime(text) ?? text;
  const instant = !iso.includes('T') ? `${iso}T00:00:00Z` : iso.endsWith('Z') ? iso : `${iso}Z`;
  // Infinity, or a day that MySQL has and no calendar.
  if (Number.isNaN(Date.parse(instant)))
    throw new BadValue(`column "${name}": ${text} is no time of a record`);
  return instant;
}
