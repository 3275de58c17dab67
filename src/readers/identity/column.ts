import { UUID } from '../../schema/ids.js';
import { type Cell, numberCell, textOf } from '../cells.js';
import { type ColumnType, exactNumber, usualText } from '../column-types.js';
import type { SourceRow } from '../rows.js';
import { isIntegerId, uuidOfKey } from './identities.js';

/** What the values of an identity column are. */
export type IdentityKind = 'id' | 'uuid' | 'key';

export const KIND_NAMES = { id: 'integer ids', uuid: 'UUIDs', key: 'keys' } as const;

/** The columns that identify the rows of a file. */
export interface IdentityColumns {
  /** The column of `--id-column`, otherwise `id` or `uuid` if the file has it. */
  column: string | undefined;
  kind: IdentityKind;
  /** Whether a column `uuid` gives the UUIDs, in addition to the integer ids of `column`. */
  uuids: boolean;
  /**
   * Whether a column `key` gives the keys, in addition to the UUIDs. An export has the keys before the UUIDs. A column
   * `key` after them is data, and may have the same values.
   */
  keys: 'none' | 'only' | 'also-data';
}

/** Decides from all values of the identity column what they are. */
export class IdentityValues {
  #values = 0;
  #integers = 0;
  #uuids = 0;
  /** Numbers that are no integer ids, such as `007` and `1.5`. */
  #otherNumbers = 0;
  /** The first value that is neither. */
  #other: string | undefined;
  /** Values that are integer ids or UUIDs: the others can only be keys. */
  readonly sample = new Sample();

  observe(text: string): void {
    if (text === '') return;
    this.#values += 1;
    if (isIntegerId(text)) this.#integers += 1;
    else if (UUID.test(text)) this.#uuids += 1;
    else {
      if (exactNumber(text) !== undefined) this.#otherNumbers += 1;
      this.#other ??= text;
      return;
    }
    this.sample.add(text);
  }

  /** A value that makes keys of values that are mostly integer ids or UUIDs. */
  get exception(): string | undefined {
    return (this.#integers + this.#uuids) * 2 > this.#values ? this.#other : undefined;
  }

  /** Number of rows that have a value. */
  get values(): number {
    return this.#values;
  }

  /** `declared` is the type of the column if an option gives it. A value that is no number of a column of numbers is a bad row. */
  kind(declared: ColumnType | undefined): IdentityKind {
    if (declared === 'text') return 'key';
    if (declared === 'number') return this.#otherNumbers === 0 ? 'id' : 'key';
    if (this.#integers === this.#values) return 'id';
    return this.#uuids === this.#values ? 'uuid' : 'key';
  }
}

/** Some of many texts, at equal distances. */
class Sample {
  static readonly #MAX = 64;
  #texts: string[] = [];
  #added = 0;
  #distance = 1;

  add(text: string): void {
    if (this.#added % this.#distance === 0) this.#texts.push(text);
    this.#added += 1;
    if (this.#texts.length <= Sample.#MAX) return;
    this.#texts = this.#texts.filter((_, at) => at % 2 === 0);
    this.#distance *= 2;
  }

  get texts(): readonly string[] {
    return this.#texts;
  }
}

/** Decides from all values of a column `uuid` whether it is data: when no value is a UUID in any form. */
export class UuidValues {
  #values = 0;
  #uuids = 0;

  observe(text: string): void {
    if (text === '') return;
    this.#values += 1;
    if (uuidOf(text) !== undefined) this.#uuids += 1;
  }

  get isData(): boolean {
    return this.#values > 0 && this.#uuids === 0;
  }
}

/** Returns the UUID that a text has in any form, such as 32 digits or `{…}`, as records have it; undefined when it has none. */
export function uuidOf(text: string): string | undefined {
  const digits = text.replaceAll(/^urn:uuid:|[{}-]/gi, '').toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(digits)) return undefined;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Decides from all values of a column `key` beside a column `uuid` whether they are the keys of the records. */
export class KeyValues {
  #keys = 0;
  #others = 0;

  observe(row: SourceRow): void {
    const key = columnText(row, 'key');
    if (key === '') return;
    if (columnText(row, 'uuid').toLowerCase() === uuidOfKey(key)) this.#keys += 1;
    else this.#others += 1;
  }

  /** `isSample` says that more rows follow: then a column without a value may have keys. */
  kind(names: readonly string[], isSample: boolean): IdentityColumns['keys'] {
    const [key, uuid] = [names.indexOf('key'), names.indexOf('uuid')];
    if (key < 0 || uuid < 0 || this.#others > 0) return 'none';
    if (key < uuid) return this.#keys > 0 || isSample ? 'only' : 'none';
    return this.#keys > 0 ? 'also-data' : 'none';
  }
}

/**
 * Finds the identity columns of rows without `members`. `named` is the column of `--id-column`: with it, other columns
 * `id` and `uuid` are data. A column `id` that holds no integers is data if there is a column `uuid`. `keys` says
 * what a column `key` is if the column `uuid` gives the UUIDs. A column `uuid` without UUIDs is data.
 */
export function identityColumns(
  named: string | undefined,
  columns: { has(name: string): boolean; hasUuids: boolean },
  kind: IdentityKind,
  keys: IdentityColumns['keys'],
): IdentityColumns {
  if (named !== undefined) {
    const isUuid = named === 'uuid' && kind === 'uuid';
    return { column: named, kind, uuids: false, keys: isUuid ? keys : 'none' };
  }
  const uuids = columns.hasUuids;
  if (columns.has('id') && (kind === 'id' || !uuids)) {
    return { column: 'id', kind, uuids, keys: uuids ? keys : 'none' };
  }
  return { column: uuids ? 'uuid' : undefined, kind: 'uuid', uuids: false, keys };
}

/** Returns whether a column has only an identity and is no data. A column with keys is data too, because filters do not see keys. */
export function isIdentityOnly(name: string, { column, kind, uuids, keys }: IdentityColumns): boolean {
  if (name === column) return kind !== 'key';
  return (name === 'uuid' && uuids) || (name === 'key' && keys === 'only');
}

/** Returns the text of a column of a row; '' when it has none. */
export function columnText(row: SourceRow, column: string | undefined): string {
  return textOf(cellOf(row, column));
}

/** Returns the text of a column of a row, with a number in its usual form. */
export function idOfColumn(row: SourceRow, column: string | undefined): string {
  return usualText(cellOf(row, column));
}

function cellOf({ names, cells }: SourceRow, column: string | undefined): Cell {
  return (column === undefined ? undefined : cells[names.indexOf(column)]) ?? null;
}

export function hasId(row: SourceRow, identity: IdentityColumns, named: boolean): boolean {
  return idText(row, identity, named) !== '';
}

/** Returns the member `id` of a record, from its JSON, with a number in its usual form. */
export function idOfMember(json: string): string {
  return /^[\d+.-]/.test(json) ? usualText(numberCell(json)) : json;
}

/** Returns the value of the identity column; '' for a record whose members identify it, and without a value. */
export function identityText(row: SourceRow, column: string | undefined, named: boolean): string {
  return row.members === undefined || named ? idOfColumn(row, column) : '';
}

/** Returns the id of a row; '' when it has none. */
export function idText(row: SourceRow, { column, kind }: IdentityColumns, named: boolean): string {
  const member = row.members?.get('id');
  if (member !== undefined && member !== 'null') return idOfMember(member);
  return kind === 'id' ? identityText(row, column, named) : '';
}
