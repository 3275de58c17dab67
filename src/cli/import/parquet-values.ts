import type { SchemaElement, SchemaTree } from 'hyparquet';
import { type Cell, Nested, Numeral, numberCell } from './cells.js';
import { BadRow } from './rows.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const NANOS_PER_DAY = 86_400_000_000_000n;
const JULIAN_DAY_OF_1970 = 2_440_588n;
const NANOS = { MILLIS: 1_000_000n, MICROS: 1_000n, NANOS: 1n } as const;

/** Converts a value as Parquet stores it. Throws {@link BadRow} for a value that no record can hold. */
export type ToCell = (value: unknown) => Cell;

/** Returns the conversion of a column. Every digit is kept: the library would round decimals and times. */
export function conversionOf({ element }: SchemaTree): ToCell {
  const convert = leafConversion(element);
  return (value) => (value === null || value === undefined ? null : convert(value as never));
}

function leafConversion(element: SchemaElement): (value: never) => Cell {
  const { type, converted_type: converted, logical_type: logical } = element;
  const kind = logical?.type;
  if (converted === 'DECIMAL' || kind === 'DECIMAL') {
    const scale = element.scale ?? (logical?.type === 'DECIMAL' ? logical.scale : 0);
    return (value: unknown) => numberCell(decimalText(unscaled(value), scale));
  }
  if (converted === 'DATE' || kind === 'DATE')
    return (days: number) => dateText(BigInt(days) * NANOS_PER_DAY);
  if (logical?.type === 'TIMESTAMP') {
    const { unit, isAdjustedToUTC } = logical;
    return (value: bigint) => timeText(BigInt(value) * NANOS[unit]) + (isAdjustedToUTC ? 'Z' : '');
  }
  if (converted === 'TIMESTAMP_MILLIS')
    return (value: bigint) => `${timeText(BigInt(value) * NANOS.MILLIS)}Z`;
  if (converted === 'TIMESTAMP_MICROS')
    return (value: bigint) => `${timeText(BigInt(value) * NANOS.MICROS)}Z`;
  if (logical?.type === 'TIME') {
    const { unit } = logical;
    return (value: number | bigint) => clockText(BigInt(value) * NANOS[unit]);
  }
  if (converted === 'TIME_MILLIS') return (value: number) => clockText(BigInt(value) * NANOS.MILLIS);
  if (converted === 'TIME_MICROS') return (value: bigint) => clockText(value * NANOS.MICROS);
  if (type === 'INT96') {
    return (value: bigint) =>
      timeText(((value >> 64n) - JULIAN_DAY_OF_1970) * NANOS_PER_DAY + (value & 0xffff_ffff_ffff_ffffn));
  }
  if (kind === 'UUID') return (bytes: Uint8Array) => uuidText(bytes);
  if (type === 'BOOLEAN') return (value: boolean) => Boolean(value);
  if (type === 'INT32' || type === 'INT64') {
    const unsigned = converted?.startsWith('UINT') || (logical?.type === 'INTEGER' && !logical.isSigned);
    const bits = type === 'INT32' ? 32 : 64;
    return (value: number | bigint) =>
      numberCell(String(unsigned ? BigInt.asUintN(bits, BigInt(value)) : value));
  }
  if (type === 'FLOAT' || type === 'DOUBLE') return finite;
  const isText = converted === 'UTF8' || converted === 'ENUM' || kind === 'STRING' || kind === 'ENUM';
  if (isText || (type === 'BYTE_ARRAY' && converted === undefined && kind === undefined)) return text;
  if (converted === 'JSON' || kind === 'JSON') return text;
  const named = kind ?? converted ?? type ?? 'unknown';
  return () => {
    throw new BadRow(`the type ${named} of Parquet cannot be stored`);
  };
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value === 0 ? 0 : value;
  throw new BadRow(`${value} is no number that a record can hold`);
}

function text(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new BadRow('the value is binary data, not text');
  }
}

/** Writes an assembled value as JSON, with numbers as they are written. */
export function jsonOf(value: unknown): string {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return `[${Array.from(value as ArrayLike<unknown>, jsonOf).join(',')}]`;
  }
  if (value === null || value === undefined) return 'null';
  if (value instanceof Nested) return value.json;
  if (value instanceof Numeral) return value.text;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${jsonOf(member)}`);
  return `{${members.join(',')}}`;
}

/** Applies the conversions of the leaves below a column to an assembled value. */
export function convertNested(value: unknown, tree: SchemaTree): unknown {
  if (value === null || value === undefined) return null;
  if (tree.children.length === 0) {
    const convert = conversionOf(tree);
    if (tree.element.repetition_type !== 'REPEATED' || !Array.isArray(value)) return convert(value);
    return value.map(convert);
  }
  const isList = tree.element.converted_type === 'LIST' || tree.element.logical_type?.type === 'LIST';
  if (isList && (Array.isArray(value) || ArrayBuffer.isView(value))) {
    const repeated = tree.children[0];
    const element = repeated?.children.length === 1 ? repeated.children[0] : repeated;
    return Array.from(value as ArrayLike<unknown>, (item) =>
      element === undefined || element.children.length === 0
        ? item === null || item === undefined
          ? null
          : leafConversion((element as SchemaTree).element)(item as never)
        : convertNested(item, element),
    );
  }
  const isMap = tree.element.converted_type === 'MAP' || tree.element.logical_type?.type === 'MAP';
  if (isMap || Array.isArray(value))
    throw new BadRow('a map or a repeated group of Parquet cannot be stored');
  const members = tree.children.map((child) => {
    const name = child.element.name;
    return [name, convertNested((value as Record<string, unknown>)[name], child)];
  });
  return Object.fromEntries(members);
}

function unscaled(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(value as number | bigint);
  let number = 0n;
  for (const byte of value) number = (number << 8n) | BigInt(byte);
  return BigInt.asIntN(value.length * 8, number);
}

function decimalText(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const sign = value < 0n ? '-' : '';
  return scale === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-scale)}`;
}

function dateText(nanos: bigint): string {
  const date = new Date(Number(floorDivide(nanos, 1_000_000n)));
  if (Number.isNaN(date.getTime())) throw new BadRow('the date is outside of the years that can be written');
  return date.toISOString().split('T')[0] as string;
}

/** Returns an ISO 8601 time without a zone, with the digits of a second that are not 0. */
function timeText(nanos: bigint): string {
  const day = floorDivide(nanos, NANOS_PER_DAY) * NANOS_PER_DAY;
  return `${dateText(day)}T${clockText(nanos - day)}`;
}

function clockText(nanos: bigint): string {
  const seconds = nanos / 1_000_000_000n;
  const parts = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n];
  const clock = parts.map((part) => String(part).padStart(2, '0')).join(':');
  const fraction = String(nanos % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return fraction === '' ? clock : `${clock}.${fraction}`;
}

function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient;
}
