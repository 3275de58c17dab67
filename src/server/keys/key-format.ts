import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const ID_LENGTH = 12;
// 43 letters from an alphabet of 62 have 256 bits.
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^cosift_([0-9a-z]{${ID_LENGTH}})_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Generates a key `cosift_<id>_<secret><checksum>`. Secret scanners find the prefix; the checksum reveals typing errors.
 */
export function generateKey(): { keyId: string; key: string } {
  const keyId = randomLetters(ID_LENGTH, 36);
  const unchecked = `cosift_${keyId}_${randomLetters(SECRET_LENGTH, 62)}`;
  return { keyId, key: unchecked + checksum(unchecked) };
}

/** Returns the key id in `key`; undefined when no service can have issued such a key. */
export function keyIdOf(key: string): string | undefined {
  const keyId = SHAPE.exec(key)?.[1];
  if (keyId === undefined) return undefined;
  const end = key.length - CHECKSUM_LENGTH;
  return checksum(key.slice(0, end)) === key.slice(end) ? keyId : undefined;
}

export function hashKey(key: string): Buffer {
  // As a string first: the buffers that Node makes of hashes are expensive to make.
  return Buffer.from(hash('sha256', key, 'binary'), 'binary');
}

/** Compares hashes in constant time. */
export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function randomLetters(length: number, alphabetSize: number): string {
  // Bytes at or above the largest multiple of `alphabetSize` are skipped, so that every letter is equally likely.
  const end = 256 - (256 % alphabetSize);
  let letters = '';
  while (letters.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < end && letters.length < length) letters += ALPHABET[byte % alphabetSize];
    }
  }
  return letters;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let letters = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    letters = ALPHABET[rest % 62] + letters;
    rest = Math.floor(rest / 62);
  }
  return letters;
}
