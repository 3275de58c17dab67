import { CosiftError } from '../errors.js';

/** NDJSON in pieces of any size: bytes, or text that is sent as UTF-8. */
export type LineChunks = Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>;

/**
 * Returns the bytes of the chunks, as copies: a source may use its memory again once the next chunk is asked for. A
 * failure of the source is thrown as it is.
 *
 * @throws {CosiftError} `invalid_request` for what is not iterable, and when a chunk is neither bytes nor text, or is
 * text with half of a surrogate pair.
 */
export function bytesOf(chunks: LineChunks): AsyncGenerator<Uint8Array, void, undefined> {
  // A string is iterable by characters, so it counts as one chunk.
  if (typeof chunks === 'string') return encoded([chunks]);
  if (typeof chunks === 'object' && chunks !== null) {
    if (Array.isArray(chunks)) return encoded(chunks.slice());
    if (Symbol.iterator in chunks || Symbol.asyncIterator in chunks) return encoded(chunks);
  }
  throw refused('chunks', chunks, 'an iterable of Uint8Array or string');
}

async function* encoded(chunks: LineChunks): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  // A source may divide text between the two surrogates of a character.
  let surrogate = '';
  let at = 0;
  for await (const chunk of chunks) {
    if (typeof chunk === 'string') {
      const text = surrogate + chunk;
      surrogate = /[\ud800-\udbff]$/.exec(text)?.[0] ?? '';
      const complete = text.slice(0, text.length - surrogate.length);
      if (!complete.isWellFormed()) throw loneSurrogate(at);
      yield encoder.encode(complete);
    } else if (!(chunk instanceof Uint8Array)) {
      throw refused(`chunk ${at}`, chunk, 'a Uint8Array or a string');
    } else if (surrogate !== '') {
      throw loneSurrogate(at);
    } else {
      yield copyOf(chunk, at);
    }
    at += 1;
  }
  if (surrogate !== '') throw loneSurrogate(at - 1);
}

function copyOf(chunk: Uint8Array, at: number): Uint8Array {
  try {
    return new Uint8Array(chunk);
  } catch {
    throw new CosiftError('invalid_request', `chunk ${at}: its memory was transferred to another thread`);
  }
}

function refused(what: string, given: unknown, expected: string): CosiftError {
  const type = given === null ? 'null' : typeof given;
  return new CosiftError('invalid_request', `${what}: is ${type}, must be ${expected}`);
}

function loneSurrogate(at: number): CosiftError {
  return new CosiftError('invalid_request', `chunk ${at}: contains half of a surrogate pair`);
}
