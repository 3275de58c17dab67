// Writes Parquet files byte by byte, as other writers make them and no library of this project does.

/** A number of the types i32 and i64 of Thrift. */
const I32 = 5;
const I64 = 6;

/** A value in the compact protocol of Thrift: its type and its bytes. */
interface Thrift {
  type: number;
  bytes: Buffer;
}

export function i32(value: number): Thrift {
  return { type: I32, bytes: zigzag(BigInt(value)) };
}

export function i64(value: number): Thrift {
  return { type: I64, bytes: zigzag(BigInt(value)) };
}

export function bool(value: boolean): Thrift {
  return { type: value ? 1 : 2, bytes: Buffer.alloc(0) };
}

export function text(value: string): Thrift {
  const bytes = Buffer.from(value);
  return { type: 8, bytes: Buffer.concat([varint(BigInt(bytes.length)), bytes]) };
}

export function list(values: readonly Thrift[]): Thrift {
  const type = values[0]?.type ?? 12;
  const head = Buffer.concat([Buffer.from([0xf0 | type]), varint(BigInt(values.length))]);
  return { type: 9, bytes: Buffer.concat([head, ...values.map(({ bytes }) => bytes)]) };
}

export function struct(fields: Readonly<Record<number, Thrift | undefined>>): Thrift {
  const parts: Buffer[] = [];
  for (const [id, field] of Object.entries(fields)) {
    if (field === undefined) continue;
    parts.push(Buffer.from([field.type]), zigzag(BigInt(id)), field.bytes);
  }
  return { type: 12, bytes: Buffer.concat([...parts, Buffer.from([0])]) };
}

export const TYPES = {
  BOOLEAN: 0,
  INT32: 1,
  INT64: 2,
  INT96: 3,
  FLOAT: 4,
  DOUBLE: 5,
  BYTE_ARRAY: 6,
  FIXED: 7,
};
export const CONVERTED = { UTF8: 0, MAP: 1, LIST: 3, DECIMAL: 5, TIMESTAMP_MICROS: 10, INTERVAL: 21 };
export const CODECS = { UNCOMPRESSED: 0, SNAPPY: 1, LZ4: 5 };
export const ENCODINGS = { PLAIN: 0, RLE: 3, RLE_DICTIONARY: 8 };

/** An element of a schema. */
export interface Element {
  name: string;
  type?: keyof typeof TYPES;
  width?: number;
  repetition?: 'required' | 'optional' | 'repeated';
  children?: number;
  converted?: keyof typeof CONVERTED;
  scale?: number;
  /** The number of a logical type and its members. */
  logical?: readonly [number, Thrift];
}

/** The pages of a column in a row group. */
export interface Chunk {
  type: keyof typeof TYPES;
  path: readonly string[];
  pages: readonly Buffer[];
  values: number;
  codec?: keyof typeof CODECS;
  hasDictionary?: boolean;
}

export interface PageOptions {
  count: number;
  repetitions?: readonly number[];
  definitions?: readonly number[];
  encoding?: keyof typeof ENCODINGS;
  version?: 1 | 2;
  /** The bytes as they are stored; by default, they are not compressed. */
  compress?(bytes: Buffer): Buffer;
}

/** Writes a page of values that are encoded already. */
export function page(values: Buffer, options: PageOptions): Buffer {
  const { count, repetitions, definitions, encoding = 'PLAIN', version = 1, compress } = options;
  const levels = [repetitions, definitions].map((list) =>
    list === undefined ? Buffer.alloc(0) : runs(list),
  );
  const [first, second] = levels as [Buffer, Buffer];
  const stored = (bytes: Buffer) => compress?.(bytes) ?? bytes;
  if (version === 2) {
    const body = Buffer.concat([first, second, stored(values)]);
    const header = struct({
      1: i32(count),
      2: i32(0),
      3: i32(count),
      4: i32(ENCODINGS[encoding]),
      5: i32(second.length),
      6: i32(first.length),
    });
    const full = first.length + second.length + values.length;
    const { bytes } = struct({ 1: i32(3), 2: i32(full), 3: i32(body.length), 8: header });
    return Buffer.concat([bytes, body]);
  }
  const sized = levels.map((bytes) =>
    bytes.length === 0 ? bytes : Buffer.concat([uint32(bytes.length), bytes]),
  );
  const full = Buffer.concat([...sized, values]);
  const body = stored(full);
  const header = struct({ 1: i32(count), 2: i32(ENCODINGS[encoding]), 3: i32(3), 4: i32(3) });
  const { bytes } = struct({ 1: i32(0), 2: i32(full.length), 3: i32(body.length), 5: header });
  return Buffer.concat([bytes, body]);
}

export function dictionaryPage(values: Buffer, count: number): Buffer {
  const header = struct({ 1: i32(count), 2: i32(0) });
  const { bytes } = struct({ 1: i32(2), 2: i32(values.length), 3: i32(values.length), 7: header });
  return Buffer.concat([bytes, values]);
}

/** Writes a file of one row group. The first element of the schema is the root. */
export function parquetFile(schema: readonly Element[], chunks: readonly Chunk[], rows: number): Buffer {
  const parts: Buffer[] = [Buffer.from('PAR1')];
  let at = 4;
  const columns = chunks.map(
    ({ type, path, pages, values, codec = 'UNCOMPRESSED', hasDictionary = false }) => {
      const start = at;
      const size = pages.reduce((sum, { length }) => sum + length, 0);
      parts.push(...pages);
      at += size;
      const data = start + (hasDictionary ? (pages[0]?.length ?? 0) : 0);
      const metadata = struct({
        1: i32(TYPES[type]),
        2: list([i32(0)]),
        3: list(path.map(text)),
        4: i32(CODECS[codec]),
        5: i64(values),
        6: i64(size),
        7: i64(size),
        9: i64(data),
        11: hasDictionary ? i64(start) : undefined,
      });
      return struct({ 2: i64(start), 3: metadata });
    },
  );
  const group = struct({ 1: list(columns), 2: i64(at), 3: i64(rows) });
  const { bytes } = struct({ 1: i32(1), 2: list(schema.map(elementOf)), 3: i64(rows), 4: list([group]) });
  return Buffer.concat([...parts, bytes, uint32(bytes.length), Buffer.from('PAR1')]);
}

function elementOf({ name, type, width, repetition, children, converted, scale, logical }: Element): Thrift {
  return struct({
    1: type === undefined ? undefined : i32(TYPES[type]),
    2: width === undefined ? undefined : i32(width),
    3: repetition === undefined ? undefined : i32(['required', 'optional', 'repeated'].indexOf(repetition)),
    4: text(name),
    5: children === undefined ? undefined : i32(children),
    6: converted === undefined ? undefined : i32(CONVERTED[converted]),
    7: scale === undefined ? undefined : i32(scale),
    10: logical === undefined ? undefined : struct({ [logical[0]]: logical[1] }),
  });
}

/** Encodes numbers below 256 as runs of one number. */
export function runs(numbers: readonly number[]): Buffer {
  return Buffer.from(numbers.flatMap((number) => [1 << 1, number]));
}

/** Encodes a run of one number below 256. */
export function run(number: number, times: number): Buffer {
  return Buffer.concat([varint(BigInt(times) << 1n), Buffer.from([number])]);
}

/** Encodes texts or bytes as PLAIN does. */
export function byteArrays(values: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    values.flatMap((value) => {
      const bytes = Buffer.from(value as string);
      return [uint32(bytes.length), bytes];
    }),
  );
}

export function int32s(values: readonly number[]): Buffer {
  return Buffer.from(Int32Array.from(values).buffer);
}

export function int64s(values: readonly (number | bigint)[]): Buffer {
  return Buffer.from(BigInt64Array.from(values, BigInt).buffer);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function zigzag(value: bigint): Buffer {
  return varint(value < 0n ? -value * 2n - 1n : value * 2n);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? byte : byte | 0x80);
  } while (rest !== 0n);
  return Buffer.from(bytes);
}
