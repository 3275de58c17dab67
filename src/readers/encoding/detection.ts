import { isUtf8 } from 'node:buffer';

/** Bytes that Windows-1252 does not define. */
const UNDEFINED_BYTES = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/**
 * Maximum share of bytes above 0x7F that follow another one. In western languages, letters outside of ASCII stand alone;
 * in text of other alphabets and their encodings, nearly all follow each other.
 */
const MAX_NEIGHBOURS = 0.3;

/** Returns the encoding that the first bytes of a file name. */
export function encodingOfMark(head: Uint8Array): string | undefined {
  const [first, second] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return undefined;
}

/**
 * Detects whether a text that is not UTF-8 is Windows-1252, which contains Latin-1. Undefined: no encoding is likely, or
 * the text is UTF-8 with a few damaged bytes.
 */
export class LegacyDetector {
  #high = 0;
  #neighbours = 0;
  #utf8 = 0;
  #impossible = false;
  #lastWasHigh = false;

  observe(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (byte < 0x80) {
        if (byte === 0) this.#impossible = true;
        this.#lastWasHigh = false;
        continue;
      }
      if (UNDEFINED_BYTES.has(byte)) this.#impossible = true;
      this.#high += 1;
      if (this.#lastWasHigh) this.#neighbours += 1;
      else if (byte >= 0xc3 && isUtf8(chunk.subarray(at, at + (byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4)))) {
        this.#utf8 += 1;
      }
      this.#lastWasHigh = true;
    }
  }

  get encoding(): 'windows-1252' | undefined {
    if (this.#impossible || this.#high === 0 || this.#utf8 > this.#high * 0.1) return undefined;
    return this.#neighbours <= this.#high * MAX_NEIGHBOURS ? 'windows-1252' : undefined;
  }
}
