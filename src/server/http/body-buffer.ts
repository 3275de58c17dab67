import type { Readable } from 'node:stream';
import { CosiftError } from '../../errors.js';
import { sendContinue } from './expect-continue.js';
import { refusalOf } from './small-chunks.js';

/** Initial size, in bytes, of the buffer for a body whose length is not declared. */
const MIN_SIZE = 16_384;
/** How many bytes of a declared length are allocated before they arrive: many of them may never do. */
const MAX_AHEAD = 4 * 1024 * 1024;

/** The bytes of a body that have arrived so far. They are reserved before they are stored. */
export class BodyBuffer {
  readonly #maxBytes: number;
  readonly #reserve: (bytes: number) => void;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #reserved = 0;

  /**
   * `declared` is the length of the body if that is declared, otherwise 0. `reserve` reserves `bytes` more bytes; it throws
   * when that exceeds a limit.
   */
  constructor(maxBytes: number, declared: number, reserve: (bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#reserve = reserve;
    if (declared > 0) this.#reserveTotal(declared);
  }

  #reserveTotal(size: number): void {
    this.#reserve(size - this.#reserved);
    this.#reserved = size;
  }

  /** Makes room for `length` bytes in total. */
  #grow(length: number): void {
    if (length > this.#reserved) {
      this.#reserveTotal(Math.min(this.#maxBytes, Math.max(2 * length, MIN_SIZE)));
    }
    const larger = Buffer.allocUnsafeSlow(Math.min(this.#reserved, Math.max(2 * length, MAX_AHEAD)));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) throw tooLarge(this.#maxBytes);
    if (length > this.#buffer.length) this.#grow(length);
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** Takes a body of which all bytes have arrived. */
export function takeBody(payload: Readable, reserve: (bytes: number) => void): Buffer {
  reserve(payload.readableLength);
  const body = payload.read() as Buffer;
  // Lets the stream emit `end`: Node has not reported the end of the message yet, and the request closes only after `end`.
  payload.resume();
  return body;
}

/**
 * Reads a body to its end into `buffer`. A refused body is not destroyed, so that the response can still be sent.
 *
 * @throws {CosiftError} `request_timeout` after `timeoutMs`; `stopped` when the connection closes before the end of the
 * body; what `buffer` throws.
 */
export function collectBody(payload: Readable, buffer: BodyBuffer, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const finish = (error?: CosiftError) => {
      clearTimeout(timer);
      payload.off('data', store).off('end', finish).off('close', fail).off('error', fail);
      if (error === undefined) return resolve(buffer.bytes());
      // The rest of the body is read and dropped. An error of the stream must not end the process.
      payload.on('error', () => undefined).resume();
      return reject(error);
    };
    const store = (chunk: Buffer) => {
      try {
        buffer.add(chunk);
      } catch (error) {
        finish(error as CosiftError);
      }
    };
    const fail = () => finish(refusalOf(payload) ?? endedEarly());
    const expire = () =>
      finish(new CosiftError('request_timeout', `the body did not arrive within ${timeoutMs} ms`));
    const timer = setTimeout(expire, timeoutMs);
    if (refusalOf(payload) !== undefined) return fail();
    sendContinue(payload);
    payload.on('data', store).on('end', finish).on('close', fail).on('error', fail);
  });
}

/** The caller has disconnected, so nobody reads this error. */
export function endedEarly(): CosiftError {
  return new CosiftError('stopped', 'the body ended early');
}

export function tooLarge(maxBytes: number): CosiftError {
  return new CosiftError('too_large', `the body is larger than ${maxBytes} bytes`, {
    fields: { max: maxBytes },
  });
}
