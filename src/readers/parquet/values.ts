import { isUtf8 } from 'node:buffer';
import type { SchemaElement } from 'hyparquet';
import { type Cell, Numeral, numberCell } from '../cells.js';
import { skipAdvice } from './errors.js';
import type { Field } from './file.js';
import { clock, decimal, interval, TimeWriter, UNITS, type Unit } from './times.js';

/** Digits after the decimal point that a decimal number may have. */
const MAX_SCALE = 1_000;
const NANOS_PER_DAY = 86_400_000_000_000n;
const JULIAN_DAY_OF_1970 = 2_440_588n;

/** A value that no record can hold. */
export class Refused {
  /** Why, for the user. */
  readonly reason: string;
  /** The value in a form that is not JSON, so that a row with it is refused until the value is corrected. */
  readonly text: string;

  constructor(reason: string, text: string) {
    this.reason = reason;
    this.text = text;
  }
}

export type Value = Cell | Refused;

/** Converts the values of a field as a Parquet file stores them. Every digit is kept. */
export type Conversion =
  | { kind: 'boolean'; convert(value: boolean): Value }
  | { kind: 'int32'; convert(value: number): Value }
  /** `low` is unsigned. */
  | { kind: 'int64'; convert(low: number, high: number): Value }
  | { kind: 'float' | 'double'; convert(value: number): Value }
  /** `width` is the number of bytes of each value; undefined if each value has its length before it. */
  | { kind: 'bytes'; width: number | undefined; convert(bytes: Buffer, start: number, end: number): Value };

/** Whether the file says nothing about bytes but that they are bytes: Hive, Impala and Spark may store texts so. */
export function isUnannotated({ type, converted_type, logical_type }: SchemaElement): boolean {
  return type === 'BYTE_ARRAY' && converted_type === undefined && logical_type === undefined;
}

/** Whether bytes are text: UTF-8 without control characters except tabs and line ends. */
export function isText(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if ((byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) || byte === 0x7f) return false;
  }
  return isUtf8(bytes.subarray(start, end));
}

/**
 * Returns the conversion of a field without children. `column` is the name of its column. `isBinary` says that a field
 * without an annotation holds bytes that are no text.
 */
export function conversionOf({ element }: Field, column: string, isBinary: boolean): Conversion {
  const kind = kindOf(element);
  const refusal = unstorableType(element, kind, isBinary);
  if (refusal !== undefined) return refusedConversion(element, cannotStore(refusal, column), refusal);
  switch (element.type) {
    case 'BOOLEAN':
      return { kind: 'boolean', convert: (value) => value };
    case 'FLOAT':
      return { kind: 'float', convert: (value) => finite(value, column) };
    case 'DOUBLE':
      return { kind: 'double', convert: (value) => finite(value, column) };
    case 'INT32':
      return { kind: 'int32', convert: int32Conversion(element, kind) };
    case 'INT64':
      return { kind: 'int64', convert: int64Conversion(element, kind) };
    case 'INT96':
      return { kind: 'bytes', width: 12, convert: int96Conversion() };
    default:
      return {
        kind: 'bytes',
        width: element.type === 'FIXED_LEN_BYTE_ARRAY' ? widthOf(element) : undefined,
        convert: bytesConversion(element, kind, column),
      };
  }
}

/** The reason for a column of a type that records do not have. */
export function cannotStore(type: string, column: string): string {
  return `the type ${type} of Parquet cannot be stored${skipAdvice(column)}`;
}

type Kind = NonNullable<SchemaElement['logical_type']>['type'] | 'UNKNOWN ANNOTATION' | 'INT' | undefined;

/** Returns the annotation of a field; the older form of annotations has the same meaning. */
function kindOf({ logical_type: logical, converted_type: converted }: SchemaElement): Kind {
  if (logical?.type !== undefined) return logical.type;
  if (logical !== undefined && Object.keys(logical).length > 0) return 'UNKNOWN ANNOTATION';
  if (converted === undefined) return undefined;
  if (converted === 'UTF8') return 'STRING';
  if (converted.startsWith('TIMESTAMP')) return 'TIMESTAMP';
  if (converted.startsWith('TIME')) return 'TIME';
  if (converted.startsWith('INT_') || converted.startsWith('UINT_')) return 'INTEGER';
  return converted as Kind;
}

const READABLE_KINDS: Partial<Record<NonNullable<SchemaElement['type']>, readonly Kind[]>> = {
  BOOLEAN: [],
  INT32: ['INTEGER', 'DATE', 'TIME', 'DECIMAL', 'NULL'],
  INT64: ['INTEGER', 'TIME', 'TIMESTAMP', 'DECIMAL', 'NULL'],
  INT96: ['TIMESTAMP'],
  FLOAT: [],
  DOUBLE: [],
  BYTE_ARRAY: ['STRING', 'ENUM', 'JSON', 'DECIMAL'],
  FIXED_LEN_BYTE_ARRAY: ['DECIMAL', 'UUID', 'FLOAT16', 'INTERVAL'],
};

/** Names the type of a field that cannot be stored; undefined if its values can. */
function unstorableType(element: SchemaElement, kind: Kind, isBinary: boolean): string | undefined {
  const { type } = element;
  if (kind === 'NULL') return undefined;
  if (kind !== undefined && !READABLE_KINDS[type ?? 'BOOLEAN']?.includes(kind)) return kind;
  if (type === 'FIXED_LEN_BYTE_ARRAY' && kind === undefined) return 'FIXED_LEN_BYTE_ARRAY (binary data)';
  if (isBinary && isUnannotated(element)) return 'BYTE_ARRAY (binary data, not text)';
  if (kind === 'DECIMAL' && !(scaleOf(element) >= 0 && scaleOf(element) <= MAX_SCALE)) return 'DECIMAL';
  const width = { UUID: 16, FLOAT16: 2, INTERVAL: 12 }[kind as string];
  if (width !== undefined && element.type_length !== width) return kind;
  return undefined;
}

function refusedConversion(element: SchemaElement, reason: string, type: string): Conversion {
  const name = type.split(' ')[0];
  const refused = (text: string) => new Refused(reason, `${name}(${text})`);
  switch (element.type) {
    case 'BOOLEAN':
    case 'INT32':
    case 'FLOAT':
    case 'DOUBLE': {
      const kind = ({ BOOLEAN: 'boolean', INT32: 'int32', FLOAT: 'float', DOUBLE: 'double' } as const)[
        element.type
      ];
      return { kind, convert: (value: unknown) => refused(String(value)) } as Conversion;
    }
    case 'INT64':
      return { kind: 'int64', convert: (low, high) => refused(String(wide(low, high))) };
    default:
      return {
        kind: 'bytes',
        width:
          element.type === 'INT96'
            ? 12
            : element.type === 'FIXED_LEN_BYTE_ARRAY'
              ? widthOf(element)
              : undefined,
        convert: (bytes, start, end) => refused(bytes.toString('hex', start, end)),
      };
  }
}

function widthOf({ type_length: width = 0 }: SchemaElement): number {
  return width;
}

function finite(value: number, column: string): Value {
  // -0 is stored as 0.
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  return new Refused(
    `${value} is no number that a record can hold: null stands for no value${skipAdvice(column)}`,
    String(value),
  );
}

function int32Conversion(element: SchemaElement, kind: Kind): (value: number) => Value {
  if (kind === 'NULL') return () => null;
  if (kind === 'DECIMAL') {
    const scale = scaleOf(element);
    return (value) => numberCell(decimal(BigInt(value), scale));
  }
  if (kind === 'DATE') {
    const writer = new TimeWriter();
    return (value) => writer.date(value) ?? noDate('DATE', value);
  }
  if (kind === 'TIME') return (value) => clockOf(value, UNITS.MILLIS);
  return isUnsigned(element) ? (value) => value >>> 0 : (value) => value;
}

function int64Conversion(element: SchemaElement, kind: Kind): (low: number, high: number) => Value {
  if (kind === 'NULL') return () => null;
  if (kind === 'DECIMAL') {
    const scale = scaleOf(element);
    return (low, high) => numberCell(decimal(BigInt(wide(low, high)), scale));
  }
  const unit = unitOf(element);
  if (kind === 'TIMESTAMP') {
    const writer = new TimeWriter();
    const logical = element.logical_type;
    const zone = logical?.type === 'TIMESTAMP' && !logical.isAdjustedToUTC ? '' : 'Z';
    return (low, high) => {
      const value = wide(low, high);
      const text = writer.instant(value, unit);
      return text === undefined ? noDate('TIMESTAMP', value) : text + zone;
    };
  }
  if (kind === 'TIME') return (low, high) => clockOf(Number(wide(low, high)), unit);
  if (isUnsigned(element)) {
    return (low, high) => integer(high >= 0 ? wide(low, high) : BigInt.asUintN(64, BigInt(wide(low, high))));
  }
  return (low, high) => integer(wide(low, high));
}

function clockOf(value: number, unit: Unit): Value {
  if (value >= 0 && value <= 86_400 * unit.perSecond) return clock(value, unit);
  return new Refused('the time is not of one day', `TIME(${value})`);
}

function noDate(type: string, value: number | bigint): Refused {
  return new Refused('the date is outside of the years that can be written', `${type}(${value})`);
}

function integer(value: number | bigint): Cell {
  return typeof value === 'number' ? value : new Numeral(String(value));
}

/** Returns an integer of 64 bits; as a number if that is exact. */
function wide(low: number, high: number): number | bigint {
  const isSafe = high >= -0x20_0000 && high < 0x20_0000;
  return isSafe ? high * 0x1_0000_0000 + low : (BigInt(high) << 32n) | BigInt(low);
}

function int96Conversion(): (bytes: Buffer, start: number) => Value {
  const writer = new TimeWriter();
  return (bytes, start) => {
    const day = BigInt(bytes.readInt32LE(start + 8)) - JULIAN_DAY_OF_1970;
    const nanos = day * NANOS_PER_DAY + bytes.readBigInt64LE(start);
    return writer.instant(nanos, UNITS.NANOS) ?? noDate('INT96', nanos);
  };
}

function bytesConversion(
  element: SchemaElement,
  kind: Kind,
  column: string,
): (bytes: Buffer, start: number, end: number) => Value {
  switch (kind) {
    case 'DECIMAL': {
      const scale = scaleOf(element);
      return (bytes, start, end) => numberCell(decimal(bigEndian(bytes, start, end), scale));
    }
    case 'UUID':
      return (bytes, start) =>
        bytes.toString('hex', start, start + 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    case 'FLOAT16':
      return (bytes, start) => finite(half(bytes.readUInt16LE(start)), column);
    case 'INTERVAL':
      return (bytes, start) =>
        interval(bytes.readUInt32LE(start), bytes.readUInt32LE(start + 4), bytes.readUInt32LE(start + 8));
    default:
      return text;
  }
}

function text(bytes: Buffer, start: number, end: number): Value {
  const value = bytes.toString('utf8', start, end);
  // The decoder replaces what is not UTF-8 by this character.
  if (!value.includes('\ufffd') || isUtf8(bytes.subarray(start, end))) return value;
  return new Refused('the text is not valid UTF-8', `bytes(${bytes.toString('hex', start, end)})`);
}

function bigEndian(bytes: Buffer, start: number, end: number): bigint {
  if (end - start <= 6) return end === start ? 0n : BigInt(bytes.readIntBE(start, end - start));
  return BigInt.asIntN((end - start) * 8, BigInt(`0x${bytes.toString('hex', start, end)}`));
}

/** Returns the number that 16 bits represent: <https://en.wikipedia.org/wiki/Half-precision_floating-point_format>. */
function half(bits: number): number {
  const sign = bits >= 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function scaleOf({ scale, logical_type: logical }: SchemaElement): number {
  return scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0);
}

function unitOf({ logical_type: logical, converted_type: converted }: SchemaElement): Unit {
  if (logical?.type === 'TIMESTAMP' || logical?.type === 'TIME') return UNITS[logical.unit];
  return converted?.endsWith('MILLIS') ? UNITS.MILLIS : UNITS.MICROS;
}

function isUnsigned({ converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  return logical?.type === 'INTEGER' ? !logical.isSigned : converted?.startsWith('UINT') === true;
}
