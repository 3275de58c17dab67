import type { ParquetType } from 'hyparquet';
import { alpDecode } from 'hyparquet/src/alp.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readVarInt } from 'hyparquet/src/thrift.js';
import { DamagedParquet, UnreadableColumn } from './errors.js';
import { RunLengthReader } from './levels.js';
import type { Page } from './pages.js';
import type { Conversion, Value } from './values.js';

/** Indexes of a dictionary that are decoded at once. */
const INDEXES = 1024;
const MAX_DELTA_BLOCK = 1 << 20;

export type NextValue = () => Value;

/**
 * Returns the values of a page, one for each call. `take` is called with the bytes of memory that are needed in addition
 * to the page.
 *
 * @throws {DamagedParquet} also when more values are read than the page has.
 */
export function valuesOf(
  { encoding, bytes, count }: Pick<Page, 'encoding' | 'bytes' | 'count'>,
  conversion: Conversion,
  dictionary: readonly Value[] | undefined,
  take: (bytes: number) => void,
): NextValue {
  switch (encoding) {
    case 'PLAIN':
      return plainValues(bytes, conversion);
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return dictionaryValues(bytes, dictionary);
    case 'RLE':
      return runLengthBooleans(bytes, conversion);
    case 'DELTA_BINARY_PACKED': {
      const type = conversion.kind === 'int32' ? 'INT32' : 'INT64';
      return plainValues(bufferOf(deltaNumbers(readerOf(bytes), type, count, take)), conversion);
    }
    case 'DELTA_LENGTH_BYTE_ARRAY': {
      const reader = readerOf(bytes);
      const lengths = deltaNumbers(reader, 'INT32', count, take) as Int32Array;
      return sizedValues(bytes.subarray(reader.offset), lengths, conversion);
    }
    case 'DELTA_BYTE_ARRAY': {
      const reader = readerOf(bytes);
      const prefixes = deltaNumbers(reader, 'INT32', count, take) as Int32Array;
      const lengths = deltaNumbers(reader, 'INT32', count, take) as Int32Array;
      return prefixedValues(bytes.subarray(reader.offset), prefixes, lengths, conversion);
    }
    case 'BYTE_STREAM_SPLIT':
      take(bytes.length);
      return plainValues(joined(bytes, byteWidth(conversion)), conversion);
    case 'ALP': {
      const type = conversion.kind === 'float' ? 'FLOAT' : 'DOUBLE';
      const numbers = bytes.length < 7 ? 0 : bytes.readInt32LE(3);
      if (numbers < 0 || numbers > count) throw new DamagedParquet();
      take(numbers * 8);
      return plainValues(bufferOf(alpDecode(readerOf(bytes), numbers, type) as Float64Array), conversion);
    }
    default:
      throw new UnreadableColumn(
        `has values in ${encoding === undefined ? 'an unknown encoding' : `the encoding ${encoding}`}, which is not ` +
          'read; write the file with another program, such as pyarrow',
      );
  }
}

/** Converts the values of a dictionary. */
export function dictionaryOf(bytes: Buffer, count: number, conversion: Conversion): Value[] {
  const isPossible = count >= 0 && count <= bytes.length * 8;
  // A dictionary of texts without a character has no bytes but their lengths.
  if (!isPossible) throw new DamagedParquet();
  const next = plainValues(bytes, conversion);
  return Array.from({ length: count }, next);
}

function plainValues(bytes: Buffer, conversion: Conversion): NextValue {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  switch (conversion.kind) {
    case 'boolean': {
      const { convert } = conversion;
      return () => {
        const bit = at++;
        return convert((view.getUint8(bit >>> 3) & (1 << (bit & 7))) !== 0);
      };
    }
    case 'int32': {
      const { convert } = conversion;
      return () => {
        at += 4;
        return convert(view.getInt32(at - 4, true));
      };
    }
    case 'int64': {
      const { convert } = conversion;
      return () => {
        at += 8;
        return convert(view.getUint32(at - 8, true), view.getInt32(at - 4, true));
      };
    }
    case 'float': {
      const { convert } = conversion;
      return () => {
        at += 4;
        return convert(view.getFloat32(at - 4, true));
      };
    }
    case 'double': {
      const { convert } = conversion;
      return () => {
        at += 8;
        return convert(view.getFloat64(at - 8, true));
      };
    }
    case 'bytes': {
      const { convert, width } = conversion;
      return () => {
        let length = width;
        if (length === undefined) {
          length = view.getUint32(at, true);
          at += 4;
        }
        const start = at;
        at += length;
        if (at > bytes.length) throw new DamagedParquet();
        return convert(bytes, start, at);
      };
    }
  }
}

function dictionaryValues(bytes: Buffer, dictionary: readonly Value[] | undefined): NextValue {
  // A page without values need not have the width of its indexes.
  const indexes = new RunLengthReader(bytes.subarray(1), bytes[0] ?? 0);
  const block = new Int32Array(INDEXES);
  let at = 0;
  let filled = 0;
  return () => {
    if (at === filled) {
      filled = indexes.readUpTo(block);
      at = 0;
    }
    const value = dictionary?.[block[at++] as number];
    if (value === undefined) throw new DamagedParquet();
    return value;
  };
}

function runLengthBooleans(bytes: Buffer, conversion: Conversion): NextValue {
  if (conversion.kind !== 'boolean') throw new DamagedParquet();
  if (bytes.length === 0) return plainValues(bytes, conversion);
  const bits = new RunLengthReader(bytes.subarray(4), 1);
  const bit = new Int32Array(1);
  return () => {
    bits.read(bit, 1);
    return conversion.convert(bit[0] === 1);
  };
}

interface Reader {
  view: DataView;
  offset: number;
}

function readerOf(bytes: Buffer): Reader {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
}

/** Decodes a sequence of at most `max` numbers that are stored as differences. */
function deltaNumbers(
  reader: Reader,
  type: ParquetType,
  max: number,
  take: (bytes: number) => void,
): Int32Array | BigInt64Array {
  if (reader.view.byteLength === 0) return new Int32Array();
  const header = { ...reader };
  const [block, miniblocks, count] = [readVarInt(header), readVarInt(header), readVarInt(header)];
  const isValid = block > 0 && block <= MAX_DELTA_BLOCK && miniblocks > 0 && block % miniblocks === 0;
  if (!isValid || count < 0 || count > max) throw new DamagedParquet();
  take(count * (type === 'INT32' ? 4 : 8));
  const numbers = type === 'INT32' ? new Int32Array(count) : new BigInt64Array(count);
  deltaBinaryUnpack(reader, count, numbers);
  return numbers;
}

function bufferOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function convertBytes(conversion: Conversion) {
  if (conversion.kind !== 'bytes') throw new DamagedParquet();
  return conversion.convert;
}

function sizedValues(bytes: Buffer, lengths: Int32Array, conversion: Conversion): NextValue {
  const convert = convertBytes(conversion);
  let index = 0;
  let at = 0;
  return () => {
    const length = lengths[index++] ?? -1;
    const start = at;
    at += length;
    if (length < 0 || at > bytes.length) throw new DamagedParquet();
    return convert(bytes, start, at);
  };
}

/** Each value begins with a part of the value before it. */
function prefixedValues(
  bytes: Buffer,
  prefixes: Int32Array,
  lengths: Int32Array,
  conversion: Conversion,
): NextValue {
  const convert = convertBytes(conversion);
  let index = 0;
  let at = 0;
  let value = Buffer.alloc(0);
  return () => {
    const prefix = prefixes[index] ?? -1;
    const length = lengths[index++] ?? -1;
    const start = at;
    at += length;
    if (prefix < 0 || prefix > value.length || length < 0 || at > bytes.length) throw new DamagedParquet();
    value = Buffer.concat([value.subarray(0, prefix), bytes.subarray(start, at)]);
    return convert(value, 0, value.length);
  };
}

function byteWidth(conversion: Conversion): number {
  if (conversion.kind === 'int32' || conversion.kind === 'float') return 4;
  if (conversion.kind === 'int64' || conversion.kind === 'double') return 8;
  if (conversion.kind === 'bytes' && conversion.width !== undefined) return conversion.width;
  throw new DamagedParquet();
}

/** Joins the bytes of each number, of which the first bytes of all numbers come first, then their second bytes. */
function joined(bytes: Buffer, width: number): Buffer {
  const count = Math.floor(bytes.length / width);
  const result = Buffer.alloc(count * width);
  for (let byte = 0; byte < width; byte++) {
    for (let index = 0; index < count; index++) {
      result[index * width + byte] = bytes[byte * count + index] as number;
    }
  }
  return result;
}
