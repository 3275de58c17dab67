import type { ColumnType } from '../../../readers/column-types.js';
import { type ColumnReader, columnReader, type ScalarKind, type SourceType } from '../column-readers.js';
import type { Field } from './connection.js';
import { quoted } from './quoted.js';

/** A type of MySQL. */
export interface MysqlType extends SourceType {
  field: Field;
}

const INTEGER = 'integer';
type Kind = ScalarKind | typeof INTEGER | 'float' | undefined;

/** The types of the protocol: their names, and what their values are. */
const TYPES: Readonly<Record<number, readonly [string, Kind]>> = {
  0: ['decimal', 'number'],
  1: ['tinyint', INTEGER],
  2: ['smallint', INTEGER],
  3: ['int', INTEGER],
  4: ['float', 'float'],
  5: ['double', 'float'],
  6: ['null', 'text'],
  7: ['timestamp', 'time'],
  8: ['bigint', INTEGER],
  9: ['mediumint', INTEGER],
  10: ['date', 'time'],
  11: ['time', 'text'],
  12: ['datetime', 'time'],
  13: ['year', INTEGER],
  15: ['varchar', 'text'],
  16: ['bit', INTEGER],
  242: ['vector', undefined],
  245: ['json', 'json'],
  246: ['decimal', 'number'],
  247: ['enum', 'text'],
  248: ['set', 'text'],
  249: ['text', 'text'],
  250: ['text', 'text'],
  251: ['text', 'text'],
  252: ['text', 'text'],
  253: ['varchar', 'text'],
  254: ['char', 'text'],
  255: ['geometry', undefined],
};

const FLOAT = 4;
const TIMESTAMP = 7;
const TINYINT = 1;
const YEAR = 13;
const BIT = 16;
const JSON_TYPE = 245;
const GEOMETRY = 255;
/** From here on, types are bytes or characters in a collation. */
const STRINGS = 247;

const UNSIGNED = 1 << 5;
const ZEROFILL = 1 << 6;
const ENUM = 1 << 8;
const SET = 1 << 11;

/** The collation of bytes. */
const BINARY = 63;
const BINARY_NAMES: Readonly<Record<string, string>> = { char: 'binary', varchar: 'varbinary', text: 'blob' };

/** Types that MariaDB sends as texts. */
const EXTENDED: Readonly<Record<string, ScalarKind>> = {
  json: 'json',
  uuid: 'text',
  inet4: 'text',
  inet6: 'text',
};

/** The type of a field of a result. */
export function typeOfField(field: Field): MysqlType {
  const { type, flags, collation, length, extended } = field;
  const [name, kind] = TYPES[type] ?? [`type ${type}`, undefined];
  const known = extended === undefined ? undefined : EXTENDED[extended];
  if (extended !== undefined && known !== undefined) return { name: extended, kind: known, field };
  if (flags & SET) return { name: 'set', kind: undefined, element: { name: 'text', kind: 'text' }, field };
  if (flags & ENUM) return { name: 'enum', kind: 'text', field };
  if (type >= STRINGS && type !== GEOMETRY && collation === BINARY)
    return { name: BINARY_NAMES[name] ?? name, kind: undefined, field };
  // As MySQL has it, which keeps no other width.
  const isBoolean = length === 1 && (type === BIT || (type === TINYINT && !(flags & UNSIGNED)));
  if (isBoolean) return { name: `${name}(1)`, kind: 'boolean', field };
  const isInteger = kind === INTEGER && type !== BIT && type !== YEAR;
  const isNumber = kind === INTEGER || kind === 'float';
  return {
    name: isInteger && flags & UNSIGNED ? `${name} unsigned` : name,
    kind: isNumber ? 'number' : kind,
    field,
  };
}

/** Whether values are bytes. They are read as hexadecimal digits. */
export function isBinary({ kind, element, field }: MysqlType): boolean {
  return kind === undefined && element === undefined && field.type !== GEOMETRY;
}

/** How a column is read. `given` is its type in the definition. */
export function fieldReader(name: string, type: MysqlType, given: ColumnType | undefined): ColumnReader {
  const text = textOf(name, type);
  const isBoolean = given === undefined && type.kind === 'boolean';
  const scalar = isBoolean ? `CASE ${text} WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE ${text} END` : text;
  const json = `REPLACE(JSON_QUOTE(CONVERT(${text} USING utf8mb4)), ',', '","')`;
  const list = `IF(${text} = '', '[]', CONCAT('[', ${json}, ']'))`;
  const reader = columnReader(name, type, given, { scalar, list });
  if (type.field.type !== FLOAT) return reader;
  return { ...reader, read: (value) => reader.read(value === null ? null : single(value)) };
}

/** What gives the exact text of a value, whose bytes are those of UTF-8. */
export function textOf(name: string, type: MysqlType): string {
  const column = `source.${quoted(name)}`;
  const { type: number, flags } = type.field;
  if (isBinary(type)) return `LOWER(HEX(${column}))`;
  if (number === GEOMETRY) return `ST_AsText(${column})`;
  if (number === TIMESTAMP) return `CONCAT(${column}, '+00')`;
  // A float alone would be rounded, a number filled with zeros, and bits are bytes.
  if (TYPES[number]?.[1] === 'float') return `(${column} + 0e0)`;
  if (number === BIT || flags & ZEROFILL) return `(${column} + 0)`;
  if (number === JSON_TYPE) return `CAST(${column} AS CHAR)`;
  return column;
}

/** The shortest text of a number of single precision whose exact value is given. */
function single(exact: string): string {
  const value = Number(exact);
  for (let digits = 1; digits < 9; digits += 1) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === value) return text;
  }
  return String(value);
}
