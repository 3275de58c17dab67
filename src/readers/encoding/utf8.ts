import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);
const NEWLINE = 0x0a;

/** Returns whether {@link toUtf8} supports the encoding. */
export function isEncoding(name: string): boolean {
  return iconv.encodingExists(name);
}

export function isUtf8Name(encoding: string): boolean {
  return /^utf-?8$/i.test(encoding);
}

/**
 * Converts a text file to UTF-8 without a byte order mark.
 *
 * @throws {Error} with the line of the first invalid bytes. Invalid bytes are never replaced.
 */
export async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<Uint8Array> {
  yield* isUtf8Name(encoding) ? checkedUtf8(chunks) : converted(chunks, encoding);
}

/** Thrown for a file that is not UTF-8. */
export class NotUtf8 extends Error {}

async function* checkedUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const position = new Position();
  let rest: Uint8Array = new Uint8Array();
  let first = true;
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    // The end of a chunk may split a byte order mark.
    if (first && bytes.length < BOM.length) {
      rest = bytes;
      continue;
    }
    if (first) bytes = withoutBom(bytes);
    first = false;
    const complete = bytes.subarray(0, completeLength(bytes));
    if (!isUtf8(complete)) throw notUtf8(position, complete);
    position.advance(complete);
    rest = bytes.subarray(complete.length);
    yield complete;
  }
  // `rest` is a file of less than three bytes, or a character that the end of the file cuts off.
  if (!isUtf8(rest)) throw notUtf8(position, rest);
  if (rest.length > 0) yield rest;
}

export function withoutBom(bytes: Uint8Array): Uint8Array {
  return BOM.every((byte, at) => bytes[at] === byte) ? bytes.subarray(BOM.length) : bytes;
}

/** Returns the length without an incomplete character at the end. */
function completeLength(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at >= 0 && at >= bytes.length - 3; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return at + length > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

function notUtf8(position: Position, bytes: Uint8Array): NotUtf8 {
  // Binary search: the first `valid` bytes are UTF-8, the first `invalid` bytes are not.
  let [valid, invalid] = [0, bytes.length];
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isUtf8(bytes.subarray(0, completeLength(bytes.subarray(0, middle))))) valid = middle;
    else invalid = middle;
  }
  const start = completeLength(bytes.subarray(0, valid));
  position.advance(bytes.subarray(0, start));
  const hex = (bytes[start] ?? 0).toString(16).toUpperCase().padStart(2, '0');
  return new NotUtf8(
    `line ${position.line}, byte ${position.byte}: 0x${hex} is not UTF-8; ` +
      'if the file has another encoding, give --encoding latin1, windows-1252 or utf-16le',
  );
}

async function* converted(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = iconv.getDecoder(encoding);
  let line = 1;
  const utf8 = (text: string): Uint8Array => {
    const bad = text.search(/\ufffd|\p{Surrogate}/u);
    if (bad >= 0) {
      line += text.slice(0, bad).split('\n').length - 1;
      throw new Error(`line ${line}: is not ${encoding}; give the file's own encoding with --encoding`);
    }
    const bytes = Buffer.from(text);
    line += newlines(bytes);
    return bytes;
  };
  // A decoder may end a chunk between the two surrogates of a character.
  let surrogate = '';
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    const text = surrogate + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    surrogate = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    const complete = text.slice(0, text.length - surrogate.length);
    if (complete !== '') yield utf8(complete);
  }
  const end = surrogate + (decoder.end() ?? '');
  if (end !== '') yield utf8(end);
  // The decoder leaves out half a code unit.
  const isUtf16 = iconv.encode('a', encoding, { addBOM: false }).length === 2;
  if (isUtf16 && bytes % 2 !== 0)
    throw new Error(`line ${line}: the file ends within a character of ${encoding}`);
}

/** A line of a file and a byte within that line, both counted from 1. */
class Position {
  line = 1;
  byte = 1;

  advance(bytes: Uint8Array): void {
    this.line += newlines(bytes);
    const last = bytes.lastIndexOf(NEWLINE);
    this.byte = last < 0 ? this.byte + bytes.length : bytes.length - last;
  }
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
