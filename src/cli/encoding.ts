import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';

const BOM = Uint8Array.of(0xef, 0xbb, 0xbf);
const NEWLINE = 0x0a;

/** Whether `toUtf8` can read the encoding of this name. */
export function isEncoding(name: string): boolean {
  return iconv.encodingExists(name);
}

/**
 * Converts a text file to UTF-8 without a byte order mark.
 *
 * @throws {Error} with the line of the first bytes that the encoding does not allow; no byte is ever replaced.
 */
export async function* toUtf8(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<Uint8Array> {
  yield* /^utf-?8$/i.test(encoding) ? checkedUtf8(chunks) : converted(chunks, encoding);
}

async function* checkedUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const place = new Place();
  let rest: Uint8Array = new Uint8Array();
  let first = true;
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    // A byte order mark may be cut by the end of a chunk.
    if (first && bytes.length < BOM.length) {
      rest = bytes;
      continue;
    }
    if (first) bytes = withoutBom(bytes);
    first = false;
    const whole = bytes.subarray(0, wholeLength(bytes));
    if (!isUtf8(whole)) throw notUtf8(place, whole);
    place.pass(whole);
    rest = bytes.subarray(whole.length);
    yield whole;
  }
  // What is left is a file of less than three bytes, or a character cut off by the end of the file.
  if (!isUtf8(rest)) throw notUtf8(place, rest);
  if (rest.length > 0) yield rest;
}

export function withoutBom(bytes: Uint8Array): Uint8Array {
  return BOM.every((byte, at) => bytes[at] === byte) ? bytes.subarray(BOM.length) : bytes;
}

/** Length without a character at the end that may go on in the next chunk. */
function wholeLength(bytes: Uint8Array): number {
  for (let at = bytes.length - 1; at >= 0 && at >= bytes.length - 3; at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return at + length > bytes.length ? at : bytes.length;
  }
  return bytes.length;
}

function notUtf8(place: Place, bytes: Uint8Array): Error {
  // `valid` bytes are UTF-8, `invalid` bytes are not: halve the gap.
  let [valid, invalid] = [0, bytes.length];
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isUtf8(bytes.subarray(0, wholeLength(bytes.subarray(0, middle))))) valid = middle;
    else invalid = middle;
  }
  const start = wholeLength(bytes.subarray(0, valid));
  place.pass(bytes.subarray(0, start));
  const hex = (bytes[start] ?? 0).toString(16).toUpperCase().padStart(2, '0');
  return new Error(
    `line ${place.line}, byte ${place.byte}: 0x${hex} is not UTF-8; ` +
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
  // A decoder may end a chunk between the halves of a character outside the basic plane.
  let half = '';
  for await (const chunk of chunks) {
    const text = half + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
    const whole = text.slice(0, text.length - half.length);
    if (whole !== '') yield utf8(whole);
  }
  const end = half + (decoder.end() ?? '');
  if (end !== '') yield utf8(end);
}

/** Line of a file, and byte within the line, both from 1. */
class Place {
  line = 1;
  byte = 1;

  pass(bytes: Uint8Array): void {
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
