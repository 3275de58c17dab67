import { LIMITS } from '../../schema/limits.js';
import { newRecord } from '../../schema/records.js';
import { type Cell, Nested } from '../cells.js';
import { BadRow, type ReadRow, type RowPosition } from '../rows.js';
import { cellOf, checkText, compactJson, listOf, type Member, membersOf } from './object.js';

const RECORD_MEMBERS: readonly string[] = Object.keys(newRecord.properties);

/**
 * Reads a row from the JSON of an object. It is a record if it has an object `data`, and only members of a record.
 * Otherwise its members are the columns; `vector` is none if it is a list. An object with a member `idColumn` is a row, too.
 */
export function rowOfJson(json: string, position: RowPosition, idColumn?: string): ReadRow {
  const raw = () => oneLine(json);
  try {
    const members = membersOf(json);
    const data = members.find(({ name, json }) => name === 'data' && json.startsWith('{'));
    const isNamed = members.some(({ name }) => name === idColumn);
    const unknownMembers =
      data === undefined || isNamed
        ? undefined
        : members.map(({ name }) => name).filter((name) => !RECORD_MEMBERS.includes(name));
    if (data !== undefined && unknownMembers?.length === 0) {
      const others = members.filter((member) => member !== data);
      return { ...position, raw, ...columnsOf(membersOf(data.json)), members: textsOf(others) };
    }
    if (members.length === 0) throw new BadRow('the object is empty');
    const vector = members.find(({ name, json }) => name === 'vector' && json.startsWith('['));
    const columns = columnsOf(members.filter((member) => member !== vector));
    return { ...position, raw, ...columns, vector: vector && compactJson(vector.json), unknownMembers };
  } catch (error) {
    if (!(error instanceof BadRow)) throw error;
    return { ...position, raw, reason: error.message };
  }
}

function columnsOf(members: readonly Member[]): { names: readonly string[]; cells: Cell[] } {
  const names = sharedNames(members.map(({ name }) => name));
  return { names, cells: members.map(({ json }) => cellOf(json)) };
}

/** Lists of names by their text. Most rows have one of a few lists. */
const lists = new Map<string, readonly string[]>();
const MAX_LISTS = 1_000;
const MAX_LIST_TEXT = 1 << 16;

/** Returns the same list for rows with the same columns, so that what is found out about it holds for all of them. */
function sharedNames(names: readonly string[]): readonly string[] {
  const text = names.join('\n');
  const list = lists.get(text);
  if (list?.length === names.length && names.every((name, at) => name === list[at])) return list;
  if (list === undefined && lists.size < MAX_LISTS && text.length <= MAX_LIST_TEXT) lists.set(text, names);
  return names;
}

function textsOf(members: readonly Member[]): Map<string, string> {
  return new Map(members.map(({ name, json }) => [name, oneLine(json)]));
}

/** Removes the line ends between the values of JSON: a string has none. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}

/** Names of members in the name of a column at most: an object that is nested deeper is its JSON text. */
const MAX_PATH_NAMES = 16;

/** No column has a longer name. */
const MAX_NAME = 256;

/**
 * Makes of a row what the setting `flatten` of a database makes of a record, so that types, identities and options are
 * those of columns: an object becomes columns such as `address.city`, and a list with an object, a list or null in it its
 * JSON text without white space.
 */
export function flattenedRow(row: ReadRow): ReadRow {
  if (!row.cells?.some((cell) => cell instanceof Nested && !isList(cell))) return row;
  const [names, cells]: [string[], Cell[]] = [[], []];
  const add = (name: string, cell: Cell, pathNames: number) => {
    if (cell instanceof Nested && cell.json.startsWith('{') && pathNames < MAX_PATH_NAMES) {
      // Every member repeats it.
      if (name.length > MAX_NAME) {
        throw new BadRow(`the members of "${name.slice(0, 40)}…" are columns of more than ${MAX_NAME} bytes`);
      }
      for (const member of membersOf(cell.json)) {
        add(`${name}.${member.name}`, cellOf(member.json), pathNames + 1);
      }
    } else {
      names.push(name);
      if (names.length > LIMITS.database_columns)
        throw new BadRow(`its members are more than ${LIMITS.database_columns} columns`);
      cells.push(cell instanceof Nested && !isList(cell) ? textOfJson(cell.json) : cell);
    }
  };
  try {
    for (const [at, name] of (row.names ?? []).entries()) add(name, row.cells[at] ?? null, 1);
    return { ...row, names: sharedNames(names), cells };
  } catch (error) {
    if (!(error instanceof BadRow)) throw error;
    const { line, record, raw, names } = row;
    return { line, record, raw, ...(names && { names }), reason: error.message };
  }
}

function textOfJson(json: string): string {
  checkText(json);
  return compactJson(json);
}

/** Whether a value is a list that a record can have. */
function isList({ json }: Nested): boolean {
  return listOf(json)?.every((element) => element !== null && !(element instanceof Nested)) ?? false;
}
