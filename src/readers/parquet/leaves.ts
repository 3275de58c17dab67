import type { AsyncBuffer } from 'hyparquet';
import { dictionaryOf, type NextValue, valuesOf } from './encodings.js';
import { DamagedParquet, UnreadableColumn } from './errors.js';
import type { Field, RowGroup } from './file.js';
import { type Page, type PageMemory, PageReader } from './pages.js';
import type { Conversion, Value } from './values.js';

/** Levels that are decoded at once. */
const BLOCK_VALUES = 1024;

/** A part of the values of a field. The levels are overwritten by the next block. */
export interface Block {
  /** Undefined if all levels are 0. */
  repetitions: Int32Array | undefined;
  definitions: Int32Array | undefined;
  /** Null where the definition level says that there is no value. */
  values: Value[];
  /** Characters of the texts among the values. */
  characters: number;
}

export interface ChunkSource {
  file: AsyncBuffer;
  group: RowGroup;
  memory: PageMemory;
  /** Bytes that are read at once for each column. */
  readAhead: number;
  /** Characters of the texts of a column that are in memory at once, unless one text has more. */
  maxCharacters: number;
}

/** Reads the values of a field without children in one row group. */
export class LeafReader {
  readonly #field: Field;
  readonly #conversion: Conversion;
  readonly #maxCharacters: number;
  readonly #pages: PageReader;
  readonly #repetitions: Int32Array | undefined;
  readonly #definitions: Int32Array | undefined;
  #dictionary: readonly Value[] | undefined;
  #page: Page | undefined;
  /** Values of the page that are not read yet. */
  #left = 0;
  /** The next level, and the number of levels that were read. */
  #at = 0;
  #filled = 0;
  #next: NextValue = () => {
    throw new DamagedParquet();
  };

  constructor(
    { file, group, memory, readAhead, maxCharacters }: ChunkSource,
    field: Field,
    conversion: Conversion,
  ) {
    const chunk = group.columns[field.chunks[0] ?? -1];
    if (chunk?.crypto_metadata !== undefined || chunk?.encrypted_column_metadata !== undefined) {
      throw new UnreadableColumn('is encrypted; decrypt the file before the import');
    }
    if (chunk?.file_path) throw new UnreadableColumn(`has its values in another file, ${chunk.file_path}`);
    if (chunk?.meta_data === undefined) throw new DamagedParquet();
    this.#field = field;
    this.#maxCharacters = maxCharacters;
    this.#conversion = conversion;
    this.#pages = new PageReader(file, chunk.meta_data, field, memory, readAhead);
    this.#repetitions = field.repetition === 0 ? undefined : new Int32Array(BLOCK_VALUES);
    this.#definitions = field.definition === 0 ? undefined : new Int32Array(BLOCK_VALUES);
  }

  /** Returns the next values; undefined at the end. */
  async next(): Promise<Block | undefined> {
    while (this.#left === 0) {
      const page = await this.#pages.next((bytes, count) => {
        this.#dictionary = dictionaryOf(bytes, count, this.#conversion);
      });
      if (page === undefined) return undefined;
      this.#page = page;
      this.#left = page.count;
      this.#next = valuesOf(page, this.#conversion, this.#dictionary, (bytes) => this.#pages.take(bytes));
    }
    return this.#block(this.#page as Page);
  }

  close(): void {
    this.#pages.close();
  }

  #block(page: Page): Block {
    const { definition } = this.#field;
    const [repetitions, definitions, next] = [this.#repetitions, this.#definitions, this.#next];
    if (this.#at === this.#filled) {
      this.#at = 0;
      this.#filled = Math.min(this.#left, BLOCK_VALUES);
      if (repetitions !== undefined) page.repetitions?.read(repetitions, this.#filled);
      if (definitions !== undefined) page.definitions?.read(definitions, this.#filled);
    }
    const start = this.#at;
    const values: Value[] = [];
    let characters = 0;
    for (; this.#at < this.#filled && characters < this.#maxCharacters; this.#at++) {
      const value = definitions === undefined || definitions[this.#at] === definition ? next() : null;
      if (typeof value === 'string') characters += value.length;
      values.push(value);
    }
    this.#left -= values.length;
    return {
      values,
      characters,
      repetitions: repetitions?.subarray(start, this.#at),
      definitions: definitions?.subarray(start, this.#at),
    };
  }
}
