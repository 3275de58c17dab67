const FRAME = 0xfd2fb528;
/** The last four bits are free. */
const SKIPPABLE_FRAME = 0x184d2a50;
const DICTIONARY_BYTES = [0, 1, 2, 4];
const CONTENT_SIZE_BYTES = [0, 2, 4, 8];
const RLE_BLOCK = 1;

/**
 * Finds the headers of the frames of a zstd stream, to learn how much memory each frame needs before it is decompressed.
 *
 * Source: RFC 8878, section 3.1.
 */
export class ZstdFrames {
  /** The bytes of the current header. */
  #header: number[] = [];
  /** Bytes of content before the next header. */
  #skip = 0;
  #next: 'frame' | 'block' | 'nothing' = 'frame';
  #checksumBytes = 0;

  /** Returns the largest window, in bytes, of the frames whose header ends in this chunk. Chunks follow each other. */
  largestWindow(chunk: Uint8Array): number {
    let largest = 0;
    for (let at = 0; at < chunk.length && this.#next !== 'nothing'; ) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      this.#header.push(chunk[at] as number);
      at += 1;
      if (this.#next === 'frame') largest = Math.max(largest, this.#readFrame());
      else this.#readBlock();
    }
    return largest;
  }

  /** Returns the window of the frame once its header is complete, otherwise 0. */
  #readFrame(): number {
    const length = this.#header.length;
    if (length < 4) return 0;
    const magic = this.#number(0, 4);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_FRAME) {
      if (length === 8) this.#expect('frame', this.#number(4, 4));
      return 0;
    }
    if (magic !== FRAME) {
      // Not zstd: the decompressor reports it.
      this.#expect('nothing', 0);
      return 0;
    }
    const descriptor = this.#header[4];
    if (descriptor === undefined) return 0;
    const isSingleSegment = (descriptor & 0x20) !== 0;
    const sizeCode = descriptor >> 6;
    const sizeBytes = sizeCode === 0 && isSingleSegment ? 1 : (CONTENT_SIZE_BYTES[sizeCode] as number);
    const before = 5 + (isSingleSegment ? 0 : 1) + (DICTIONARY_BYTES[descriptor & 3] as number);
    if (length < before + sizeBytes) return 0;
    const exponentAndMantissa = this.#header[5] as number;
    const base = 2 ** (10 + (exponentAndMantissa >> 3));
    // The window of a single segment is its whole content.
    const window = isSingleSegment
      ? this.#number(before, sizeBytes) + (sizeBytes === 2 ? 256 : 0)
      : base + (base / 8) * (exponentAndMantissa & 7);
    this.#checksumBytes = (descriptor & 4) === 0 ? 0 : 4;
    this.#expect('block', 0);
    return window;
  }

  #readBlock(): void {
    if (this.#header.length < 3) return;
    const header = this.#number(0, 3);
    const isLast = (header & 1) === 1;
    const bytes = ((header >> 1) & 3) === RLE_BLOCK ? 1 : header >> 3;
    this.#expect(isLast ? 'frame' : 'block', bytes + (isLast ? this.#checksumBytes : 0));
  }

  #expect(next: 'frame' | 'block' | 'nothing', skip: number): void {
    this.#header = [];
    this.#next = next;
    this.#skip = skip;
  }

  /** The little-endian number of `bytes` bytes at `start` of the header. */
  #number(start: number, bytes: number): number {
    return this.#header.slice(start, start + bytes).reduceRight((number, byte) => number * 256 + byte, 0);
  }
}
