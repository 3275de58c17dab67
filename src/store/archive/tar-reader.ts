import { CosiftError } from '../../errors.js';
import { BLOCK, paddingOf, parseTarHeader } from './tar-header.js';

/** Reads the entries of a tar archive one after the other, from chunks of any size. */
export class TarReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();
  /** Bytes until the next header. */
  #padding = 0;
  #isBegun = false;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /**
   * Reads the next header; undefined at the end of the archive, which is also the end of the source. The content of the entry before must have been read.
   *
   * @throws {CosiftError} `damaged`
   */
  async next(): Promise<{ name: string; size: number } | undefined> {
    await this.#read(this.#padding);
    const header = parseTarHeader(await this.#read(BLOCK));
    this.#isBegun = true;
    this.#padding = paddingOf(header?.size ?? 0);
    if (header !== undefined) return header;
    const second = parseTarHeader(await this.#read(BLOCK));
    if (second !== undefined) throw continued();
    await this.#readZeros();
    return undefined;
  }

  /** Yields the next `size` bytes. */
  async *content(size: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = size; left > 0; ) {
      const part = await this.#some(left);
      left -= part.length;
      yield part;
    }
  }

  /** Ends the source of the chunks. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async #read(bytes: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of this.content(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** Reads to the end of the source: a tar archive may be padded with zeros. */
  async #readZeros(): Promise<void> {
    for (let done: boolean | undefined = false; !done; ) {
      if (this.#rest.some((byte) => byte !== 0)) throw continued();
      const next = await this.#chunks.next();
      done = next.done;
      this.#rest = next.value ?? new Uint8Array();
    }
  }

  /** The next bytes: at least one, at most `max`. */
  async #some(max: number): Promise<Uint8Array> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) {
        const reason = this.#isBegun
          ? 'it ends early: the archive is not complete'
          : 'it is not a tar archive';
        throw new CosiftError('damaged', reason);
      }
      this.#rest = value;
    }
    const part = this.#rest.subarray(0, max);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }
}

function continued(): CosiftError {
  return new CosiftError('damaged', 'it continues after its end');
}
