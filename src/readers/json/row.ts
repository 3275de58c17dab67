import { newRecord } from '../../schema/records.js';
import { type Cell, Nested } from '../cells.js';
import { BadRow, type BrokenRow, type ReadRow, type RowPosition } from '../rows.js';
import { cellOf, compactJson, type Member, membersOf } from './object.js';

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

/** Returns the same list for rows with the same columns, so that what is found out about it holds for all of them. */
function sharedNames(names: readonly string[]): readonly string[] {
  const text = names.join('\n');
  const list = lists.get(text);
  if (list?.length === names.length && names.every((name, at) => name === list[at])) return list;
  if (list === undefined && lists.size < MAX_LISTS) lists.set(text, names);
  return names;
}

function textsOf(members: readonly Member[]): Map<string, string> {
  return new Map(members.map(({ name, json }) => [name, oneLine(json)]));
}

/** Removes the line ends between the values of JSON: a string has none. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}

/**
 * Replaces each object of the rows by columns such as `address.city`, and each list and each empty object by its JSON text
 * without white space.
 */
export async function* flattenedRows(batches: AsyncIterable<ReadRow[]>): AsyncGenerator<ReadRow[]> {
  for await (const rows of batches) yield rows.map(flattened);
}

function flattened<T extends ReadRow>(row: T): T | BrokenRow {
  if (row.names === undefined || !row.cells?.some((cell) => cell instanceof Nested)) return row;
  const [names, cells]: [string[], Cell[]] = [[], []];
  const add = (name: string, cell: Cell) => {
    if (!(cell instanceof Nested)) {
      names.push(name);
      cells.push(cell);
    } else if (cell.json.startsWith('[')) {
      names.push(name);
      cells.push(compactJson(cell.json));
    } else {
      const members = membersOf(cell.json);
      if (members.length === 0) {
        names.push(name);
        cells.push('{}');
      }
      for (const member of members) add(`${name}.${member.name}`, cellOf(member.json));
    }
  };
  for (const [at, name] of row.names.entries()) add(name, row.cells[at] ?? null);
  const twice = new Set(names).size < names.length && names.find((name, at) => names.indexOf(name) !== at);
  if (twice) {
    const { line, record, raw } = row;
    return { line, record, raw, names: row.names, reason: `column "${twice}" occurs twice after --flatten` };
  }
  return { ...row, names: sharedNames(names), cells };
}
