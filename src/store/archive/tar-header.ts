import { CosiftError } from '../../errors.js';

// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06 (ustar). Only regular files are
// written and read, so a package for all kinds of entries is not needed.

/** Bytes of a header. The content of a file is padded to a multiple of it. */
export const BLOCK = 512;

/** The end of an archive. */
export const END = new Uint8Array(2 * BLOCK);

const NAME = { at: 0, bytes: 100 };
const MODE = { at: 100, bytes: 8 };
const SIZE = { at: 124, bytes: 12 };
const MODIFIED = { at: 136, bytes: 12 };
const CHECKSUM = { at: 148, bytes: 8 };
const TYPE = { at: 156, bytes: 1 };
const MAGIC = { at: 257, bytes: 8 };
/** Prefix of the name, which no name here is long enough to have. */
const PREFIX = { at: 345, bytes: 155 };

const USTAR = 'ustar\x0000';
const REGULAR = '0';
/** Sizes from 8 GiB are binary, after a byte 0x80, as GNU and BSD tar write them. */
const MAX_OCTAL = 8 ** 11 - 1;

/** Bytes after a content of `size` bytes. */
export function paddingOf(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

/** Returns the header of a regular file that only its owner can read. */
export function tarHeader(name: string, size: number, modified: Date): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const octal = (number: number, digits: number) => number.toString(8).padStart(digits, '0');
  header.write(name, NAME.at, NAME.bytes, 'latin1');
  header.write(octal(0o600, 7), MODE.at, 'latin1');
  // User and group.
  header.write(`${octal(0, 7)}\0${octal(0, 7)}`, 108, 'latin1');
  if (size <= MAX_OCTAL) header.write(octal(size, 11), SIZE.at, 'latin1');
  else {
    header[SIZE.at] = 0x80;
    header.writeBigUInt64BE(BigInt(size), SIZE.at + 4);
  }
  header.write(octal(Math.floor(modified.getTime() / 1000), 11), MODIFIED.at, 'latin1');
  header.write(REGULAR, TYPE.at, 'latin1');
  header.write(USTAR, MAGIC.at, 'latin1');
  header.write(`${octal(checksumOf(header), 6)}\0 `, CHECKSUM.at, 'latin1');
  return header;
}

/**
 * Reads a header; undefined for the first block of the end.
 *
 * @throws {CosiftError} `damaged` for anything but a regular file with a short name.
 */
export function parseTarHeader(block: Uint8Array): { name: string; size: number } | undefined {
  const header = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  if (header.every((byte) => byte === 0)) return undefined;
  const text = ({ at, bytes }: typeof NAME) => {
    const field = header.toString('latin1', at, at + bytes);
    const end = field.indexOf('\0');
    return end < 0 ? field : field.slice(0, end);
  };
  const number = (field: typeof NAME) => {
    const digits = text(field).trim();
    return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
  };
  if (number(CHECKSUM) !== checksumOf(header)) {
    const isGzip = header[0] === 0x1f && header[1] === 0x8b;
    const reason = isGzip ? 'it is compressed: decompress it first, with gunzip' : 'it is not a tar archive';
    throw new CosiftError('damaged', reason);
  }
  const name = text(NAME);
  const isLarge = header[SIZE.at] === 0x80;
  const size = isLarge ? Number(header.readBigUInt64BE(SIZE.at + 4)) : number(SIZE);
  const isUstar = header.toString('latin1', MAGIC.at, MAGIC.at + MAGIC.bytes) === USTAR;
  if (!isUstar || text(PREFIX) !== '' || text(TYPE) !== REGULAR || !Number.isSafeInteger(size)) {
    throw new CosiftError('damaged', `${JSON.stringify(name)} is not an entry that a backup has`);
  }
  return { name, size };
}

/** The sum of all bytes, in which the field of the sum itself counts as spaces. */
function checksumOf(header: Uint8Array): number {
  let sum = CHECKSUM.bytes * 0x20;
  for (const [at, byte] of header.entries()) {
    if (at < CHECKSUM.at || at >= CHECKSUM.at + CHECKSUM.bytes) sum += byte;
  }
  return sum;
}
