import { crc32 } from 'node:zlib';
import { decompress } from 'fzstd';
import type { AsyncBuffer, ColumnMetaData, PageHeader } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { compressors, decompressLz4Raw } from 'hyparquet-compressors';
import { DamagedParquet, UnreadableColumn } from './errors.js';
import { BitPackedReader, type NumberReader, RunLengthReader, widthOf } from './levels.js';

/** Bytes of all pages and dictionaries that are in memory at once. */
const MAX_MEMORY = 512 << 20;
/** A header with long minima and maxima. */
const MAX_HEADER = 16 << 20;
const MIN_READ = 4 << 10;
/** Bytes at the beginning of a file, before the first page. */
const MAGIC_BYTES = 4;

/** Counts the bytes that the pages of a file take. */
export class PageMemory {
  #bytes = 0;

  /** @throws {UnreadableColumn} when there is not enough memory for `bytes` more. */
  take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MAX_MEMORY) throw new UnreadableColumn(TOO_LARGE);
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

const TOO_LARGE =
  `cannot be read: the pages that must be in memory at once are larger than ${MAX_MEMORY >> 20} MiB; write the file ` +
  'with smaller row groups, such as pyarrow.parquet.write_table(table, file, row_group_size=10_000)';

export interface Page {
  /** Number of values, including nulls. */
  count: number;
  /** Undefined if all levels are 0. */
  repetitions: NumberReader | undefined;
  definitions: NumberReader | undefined;
  encoding: string;
  bytes: Buffer;
}

export interface Levels {
  repetition: number;
  definition: number;
}

/** Reads the pages of one column of one row group in their order, one at a time. */
export class PageReader {
  readonly #file: AsyncBuffer;
  readonly #chunk: ColumnMetaData;
  readonly #levels: Levels;
  readonly #memory: PageMemory;
  readonly #readAhead: number;
  #at: number;
  #left: number;
  #window = { start: 0, bytes: new Uint8Array() };
  #pageBytes = 0;
  #dictionaryBytes = 0;

  /** `readAhead` is the number of bytes that are read at once. */
  constructor(
    file: AsyncBuffer,
    chunk: ColumnMetaData,
    levels: Levels,
    memory: PageMemory,
    readAhead: number,
  ) {
    this.#file = file;
    this.#chunk = chunk;
    this.#levels = levels;
    this.#memory = memory;
    this.#readAhead = Math.max(MIN_READ, readAhead);
    const dictionary = Number(chunk.dictionary_page_offset ?? 0);
    const data = Number(chunk.data_page_offset);
    this.#at = dictionary >= MAGIC_BYTES && dictionary < data ? dictionary : data;
    this.#left = Number(chunk.num_values);
    const isInFile = this.#at >= MAGIC_BYTES && this.#at <= file.byteLength;
    if (this.#left !== 0 && !isInFile) throw new DamagedParquet();
  }

  /** Returns the next page; undefined at the end. `onDictionary` gets the dictionary of the pages after it. */
  async next(onDictionary: (bytes: Buffer, count: number) => void): Promise<Page | undefined> {
    this.#memory.release(this.#pageBytes);
    this.#pageBytes = 0;
    while (this.#left > 0) {
      const header = await this.#header();
      const { compressed_page_size: size, uncompressed_page_size: full } = header;
      if (!(size >= 0) || !(full >= 0) || this.#at + size > this.#file.byteLength) throw new DamagedParquet();
      if (header.type === 'INDEX_PAGE') {
        this.#at += size;
        continue;
      }
      this.#pageBytes = size + full;
      this.#memory.take(this.#pageBytes);
      const body = await this.#bytes(this.#at, size);
      this.#at += size;
      if (header.crc !== undefined && crc32(body) !== header.crc >>> 0) {
        throw new DamagedParquet('the checksum of a page is wrong');
      }
      if (header.type === 'DICTIONARY_PAGE') {
        this.#memory.release(this.#pageBytes + this.#dictionaryBytes);
        this.#pageBytes = 0;
        // The values of the dictionary take the room of its bytes.
        this.#dictionaryBytes = full;
        this.#memory.take(full);
        onDictionary(this.#decompressed(body, full), header.dictionary_page_header?.num_values ?? -1);
        continue;
      }
      const page = this.#page(header, body, full);
      if (page.count < 0 || page.count > this.#left) throw new DamagedParquet();
      this.#left -= page.count;
      if (page.count > 0) return page;
    }
    this.#memory.release(this.#dictionaryBytes);
    this.#dictionaryBytes = 0;
    return undefined;
  }

  /** Counts further bytes that the current page takes. */
  take(bytes: number): void {
    this.#pageBytes += bytes;
    this.#memory.take(bytes);
  }

  /** Frees the memory of a column that is not read to its end. */
  close(): void {
    this.#memory.release(this.#pageBytes + this.#dictionaryBytes);
    this.#pageBytes = 0;
    this.#dictionaryBytes = 0;
  }

  #page(header: PageHeader, body: Buffer, full: number): Page {
    const { repetition, definition } = this.#levels;
    if (header.type === 'DATA_PAGE' && header.data_page_header !== undefined) {
      const page = header.data_page_header;
      const bytes = this.#decompressed(body, full);
      const count = page.num_values;
      let at = 0;
      const levelsOf = (max: number, encoding: string): NumberReader | undefined => {
        if (max === 0) return undefined;
        const width = widthOf(max);
        if (encoding === 'BIT_PACKED') {
          const length = Math.ceil((count * width) / 8);
          at += length;
          return new BitPackedReader(bytes.subarray(at - length, at), width);
        }
        const length = bytes.readUInt32LE(at);
        at += 4 + length;
        if (at > bytes.length) throw new DamagedParquet();
        return new RunLengthReader(bytes.subarray(at - length, at), width);
      };
      const repetitions = levelsOf(repetition, page.repetition_level_encoding);
      const definitions = levelsOf(definition, page.definition_level_encoding);
      return { count, repetitions, definitions, encoding: page.encoding, bytes: bytes.subarray(at) };
    }
    if (header.type === 'DATA_PAGE_V2' && header.data_page_header_v2 !== undefined) {
      const page = header.data_page_header_v2;
      const first = page.repetition_levels_byte_length;
      const second = first + page.definition_levels_byte_length;
      if (!(first >= 0) || !(second >= first) || second > body.length) throw new DamagedParquet();
      const rest = body.subarray(second);
      const isCompressed = page.is_compressed !== false;
      return {
        count: page.num_values,
        repetitions:
          repetition === 0 ? undefined : new RunLengthReader(body.subarray(0, first), widthOf(repetition)),
        definitions:
          definition === 0
            ? undefined
            : new RunLengthReader(body.subarray(first, second), widthOf(definition)),
        encoding: page.encoding,
        bytes: isCompressed ? this.#decompressed(rest, full - second) : rest,
      };
    }
    throw new DamagedParquet();
  }

  async #header(): Promise<PageHeader> {
    for (let size = this.#readAhead; ; size *= 4) {
      const bytes = await this.#bytes(this.#at, Math.min(size, this.#file.byteLength - this.#at), MIN_READ);
      const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
      try {
        const header = parquetHeader(reader);
        this.#at += reader.offset;
        return header;
      } catch (error) {
        // The header may go on after these bytes.
        if (size > MAX_HEADER || this.#at + bytes.length >= this.#file.byteLength) throw error;
      }
    }
  }

  /** Returns bytes of the file: `length`, or at least `enough` of them if those are in memory. */
  async #bytes(start: number, length: number, enough = length): Promise<Buffer> {
    let { start: from, bytes } = this.#window;
    const available = from + bytes.length - start;
    if (start < from || available < Math.min(length, enough)) {
      const end = Math.min(this.#file.byteLength, start + Math.max(length, this.#readAhead));
      from = start;
      bytes = new Uint8Array(await this.#file.slice(start, end));
      // A large page is not kept beside what it is decompressed to.
      this.#window = length > this.#readAhead ? { start: 0, bytes: new Uint8Array() } : { start, bytes };
    }
    const at = start - from;
    return Buffer.from(bytes.buffer, bytes.byteOffset + at, Math.min(length, bytes.length - at));
  }

  #decompressed(bytes: Buffer, length: number): Buffer {
    const { codec } = this.#chunk;
    if (codec === 'UNCOMPRESSED') {
      if (bytes.length !== length) throw new DamagedParquet();
      return bytes;
    }
    // Some writers store no byte for a page without values, which no codec reads.
    if (length === 0) return Buffer.alloc(0);
    const output = outputOf(codec, bytes, length);
    if (output.length !== length) throw new DamagedParquet('a page has another length than its header says');
    return Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  }
}

function outputOf(codec: ColumnMetaData['codec'], bytes: Uint8Array, length: number): Uint8Array {
  if (codec === 'ZSTD') return decompress(bytes, new Uint8Array(length));
  if (codec === 'LZ4') return decompressLz4(bytes, length);
  const decompressor = compressors[codec];
  if (decompressor === undefined) {
    const name = codec ?? 'an unknown codec';
    throw new UnreadableColumn(
      `is compressed by ${name}, which is not read; write the file with zstd or snappy`,
    );
  }
  return decompressor(bytes, length);
}

/** Decompresses the codec LZ4: blocks with their lengths, as Hadoop writes them, or one block. */
function decompressLz4(bytes: Uint8Array, length: number): Uint8Array {
  const blocks = blocksOfHadoop(bytes, length);
  if (blocks === undefined) return decompressLz4Raw(bytes, length);
  const output = new Uint8Array(length);
  let at = 0;
  for (const { block, length } of blocks) {
    output.set(decompressLz4Raw(block, length), at);
    at += length;
  }
  return output;
}

function blocksOfHadoop(
  bytes: Uint8Array,
  length: number,
): { block: Uint8Array; length: number }[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocks: { block: Uint8Array; length: number }[] = [];
  let at = 0;
  let total = 0;
  while (at + 8 <= bytes.length) {
    const full = view.getUint32(at);
    const size = view.getUint32(at + 4);
    at += 8;
    if (at + size > bytes.length || total + full > length) return undefined;
    blocks.push({ block: bytes.subarray(at, at + size), length: full });
    at += size;
    total += full;
  }
  return at === bytes.length && total === length ? blocks : undefined;
}
