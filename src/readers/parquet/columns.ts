import type { Field } from './file.js';
import { type ChunkSource, LeafReader } from './leaves.js';
import { NestedReader } from './nested.js';
import type { Conversion, Value } from './values.js';

/** Reads the cells of a column in one row group, in the order of the rows. */
export interface ColumnReader {
  /**
   * Reads on until there are cells of `rows` rows, or until many or large values are in memory. Returns the number of
   * cells that are there: 0 only at the end.
   */
  fill(rows: number): Promise<number>;
  /** Returns the next cells. */
  take(rows: number): Value[];
  close(): void;
}

export function columnReader(
  source: ChunkSource,
  field: Field,
  conversionOf: (leaf: Field) => Conversion,
): ColumnReader {
  if (field.children.length === 0 && !field.isRepeated) {
    return new FlatReader(new LeafReader(source, field, conversionOf(field)), source.maxCharacters);
  }
  return new NestedReader(source, field, conversionOf);
}

class FlatReader implements ColumnReader {
  readonly #leaf: LeafReader;
  readonly #maxCharacters: number;
  #cells: Value[] = [];

  constructor(leaf: LeafReader, maxCharacters: number) {
    this.#leaf = leaf;
    this.#maxCharacters = maxCharacters;
  }

  async fill(rows: number): Promise<number> {
    for (let characters = 0; this.#cells.length < rows && characters < this.#maxCharacters; ) {
      const block = await this.#leaf.next();
      if (block === undefined) break;
      characters += block.characters;
      if (this.#cells.length === 0) this.#cells = block.values;
      else for (const value of block.values) this.#cells.push(value);
    }
    return this.#cells.length;
  }

  take(rows: number): Value[] {
    if (rows < this.#cells.length) return this.#cells.splice(0, rows);
    const cells = this.#cells;
    this.#cells = [];
    return cells;
  }

  close(): void {
    this.#leaf.close();
  }
}
