import { DamagedParquet } from './errors.js';

/** A sequence of small numbers that is read a part at a time. */
export interface NumberReader {
  /** Reads the next `count` numbers to the beginning of `into`. */
  read(into: Int32Array, count: number): void;
}

/** Reads the hybrid of run lengths and bit packing: <https://parquet.apache.org/docs/file-format/data-pages/encodings/>. */
export class RunLengthReader implements NumberReader {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  readonly #mask: number;
  #at = 0;
  /** Numbers that are left of the run. */
  #left = 0;
  /** The number of a run of equal numbers; undefined in a run of packed numbers. */
  #value: number | undefined;
  /** The next bit of a run of packed numbers, counted from its first byte. */
  #bit = 0;
  #runStart = 0;

  /** `width` is the number of bits of a packed number. */
  constructor(bytes: Uint8Array, width: number) {
    if (width > 32) throw new DamagedParquet();
    this.#bytes = bytes;
    this.#width = width;
    this.#mask = width === 32 ? -1 : (1 << width) - 1;
  }

  read(into: Int32Array, count: number): void {
    for (let done = 0; done < count; ) {
      if (this.#left === 0) this.#nextRun();
      const part = Math.min(this.#left, count - done);
      if (this.#value === undefined) this.#unpack(into, done, part);
      else into.fill(this.#value, done, done + part);
      this.#left -= part;
      done += part;
    }
  }

  /** Reads the next numbers of one run to the beginning of `into`, and returns how many. */
  readUpTo(into: Int32Array): number {
    while (this.#left === 0) this.#nextRun();
    let count = Math.min(this.#left, into.length);
    // A writer may leave out bytes at the end of the last run that have no number.
    if (this.#value === undefined && this.#width > 0) {
      const bits = (this.#bytes.length - this.#runStart) * 8 - this.#bit;
      count = Math.max(1, Math.min(count, Math.floor(bits / this.#width)));
    }
    this.read(into, count);
    return count;
  }

  #nextRun(): void {
    const header = this.#varint();
    if (header % 2 === 1) {
      const groups = Math.floor(header / 2);
      this.#value = undefined;
      this.#left = groups * 8;
      this.#runStart = this.#at;
      this.#bit = 0;
      this.#at += groups * this.#width;
      return;
    }
    this.#left = header / 2;
    let value = 0;
    for (let shift = 0; shift < this.#width; shift += 8) value |= this.#byte() << shift;
    this.#value = value;
  }

  #unpack(into: Int32Array, from: number, count: number): void {
    const [bytes, width, mask] = [this.#bytes, this.#width, this.#mask];
    let bit = this.#bit;
    if (this.#runStart + Math.ceil((bit + count * width) / 8) > bytes.length) throw new DamagedParquet();
    for (let index = from; index < from + count; index++) {
      const at = this.#runStart + Math.floor(bit / 8);
      const shift = bit % 8;
      let value = bytes[at] as number;
      if (shift + width > 8) {
        value |= ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
      }
      value >>>= shift;
      if (shift + width > 32) value |= (bytes[at + 4] ?? 0) << (32 - shift);
      into[index] = value & mask;
      bit += width;
    }
    this.#bit = bit;
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 42; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new DamagedParquet();
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new DamagedParquet();
    return byte;
  }
}

/** Reads levels of the old encoding BIT_PACKED, which begins with the highest bit. */
export class BitPackedReader implements NumberReader {
  readonly #bytes: Uint8Array;
  readonly #width: number;
  #bit = 0;

  constructor(bytes: Uint8Array, width: number) {
    this.#bytes = bytes;
    this.#width = width;
  }

  read(into: Int32Array, count: number): void {
    for (let index = 0; index < count; index++) {
      let value = 0;
      for (let end = this.#bit + this.#width; this.#bit < end; this.#bit++) {
        const byte = this.#bytes[this.#bit >>> 3];
        if (byte === undefined) throw new DamagedParquet();
        value = (value << 1) | ((byte >> (7 - (this.#bit & 7))) & 1);
      }
      into[index] = value;
    }
  }
}

/** Returns the number of bits of the levels from 0 to `max`. */
export function widthOf(max: number): number {
  return 32 - Math.clz32(max);
}
