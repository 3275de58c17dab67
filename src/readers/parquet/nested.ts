import { count } from '../../schema/plain.js';
import { Nested, Numeral } from '../cells.js';
import { DamagedParquet } from './errors.js';
import type { Field } from './file.js';
import { type ChunkSource, LeafReader } from './leaves.js';
import { type Conversion, cannotStore, Refused, type Value } from './values.js';

/** Values of one row of a column. A record with more is larger than a service accepts. */
const MAX_ROW_VALUES = 2_000_000;
/** Characters of one value as JSON. */
const MAX_JSON = 64 << 20;
/** Values of a field that are in memory at once, unless one row has more. */
const MAX_VALUES = 1 << 16;

/** Reads a column that has parts or several values in a row. A cell is the JSON of its value. */
export class NestedReader {
  readonly #field: Field;
  readonly #leaves = new Map<number, LeafQueue>();
  /** Why the current value cannot be stored. */
  #reason: string | undefined;
  #length = 0;

  constructor(source: ChunkSource, field: Field, conversionOf: (leaf: Field) => Conversion) {
    this.#field = field;
    const add = (part: Field) => {
      const [chunk] = part.chunks;
      if (part.element.type !== undefined && chunk !== undefined) {
        this.#leaves.set(chunk, new LeafQueue(new LeafReader(source, part, conversionOf(part)), source));
      }
      part.children.forEach(add);
    };
    add(field);
  }

  async fill(rows: number): Promise<number> {
    let available = rows;
    for (const leaf of this.#leaves.values()) available = Math.min(available, await leaf.fill(rows));
    return available;
  }

  take(rows: number): Value[] {
    const cells = Array.from({ length: rows }, () => this.#cell());
    for (const leaf of this.#leaves.values()) leaf.removeRead();
    return cells;
  }

  close(): void {
    for (const leaf of this.#leaves.values()) leaf.close();
  }

  #cell(): Value {
    const leaves = [...this.#leaves.values()];
    const isTooLong = leaves.some((leaf) => leaf.isCut);
    this.#reason = undefined;
    this.#length = 0;
    const json = isTooLong ? 'list(…)' : this.#json(this.#field);
    for (const leaf of leaves) leaf.endRow(isTooLong);
    if (isTooLong) {
      return new Refused(`a list with more than ${count(MAX_ROW_VALUES)} values cannot be stored`, json);
    }
    if (this.#length > MAX_JSON) return new Refused('the value is longer than a record may be', 'value(…)');
    if (this.#reason !== undefined) return new Refused(this.#reason, json);
    return json === 'null' ? null : new Nested(json);
  }

  /** Returns a field in one of the values of its parent. */
  #json(field: Field): string {
    return field.isRepeated ? this.#list(field, () => this.#single(field)) : this.#single(field);
  }

  #list(repeated: Field, item: () => string): string {
    const leaf = this.#leaf(repeated);
    if (leaf.definition < repeated.definition) {
      this.#skip(repeated);
      return '[]';
    }
    const items: string[] = [];
    do items.push(item());
    while (leaf.repetition === repeated.repetition);
    return `[${items.join(',')}]`;
  }

  /** Returns one value of a field, which may be repeated. */
  #single(field: Field): string {
    if (field.element.type !== undefined) return this.#literal(this.#leaf(field).next());
    if (this.#leaf(field).definition < field.definition) {
      this.#skip(field);
      return 'null';
    }
    const [child] = field.children as [Field];
    if (isAnnotated(field, 'LIST') && field.children.length === 1 && child.isRepeated) {
      const element = elementOf(child);
      return this.#list(child, () => (element === child ? this.#single(child) : this.#json(element)));
    }
    const members = field.children.map((part) => `${JSON.stringify(part.name)}:${this.#json(part)}`);
    const json = `{${members.join(',')}}`;
    const type = ['MAP', 'VARIANT'].find((annotation) => isAnnotated(field, annotation));
    if (type === undefined) return json;
    this.#reason ??= cannotStore(type, this.#field.name);
    return `${type}(${json})`;
  }

  #literal(value: Value): string {
    const text = this.#textOf(value);
    this.#length += text.length;
    return this.#length > MAX_JSON ? '' : text;
  }

  #textOf(value: Value): string {
    if (value === null) return 'null';
    if (typeof value === 'string') return JSON.stringify(value);
    if (value instanceof Numeral) return value.text;
    if (value instanceof Nested) return value.json;
    if (!(value instanceof Refused)) return String(value);
    this.#reason ??= value.reason;
    return value.text;
  }

  /** Passes over a field that has no value. */
  #skip(field: Field): void {
    for (const chunk of field.chunks) this.#leaves.get(chunk)?.next();
  }

  /** Returns the first of the leaves below a field: all have the same levels at its beginning. */
  #leaf(field: Field): LeafQueue {
    const leaf = this.#leaves.get(field.chunks[0] ?? -1);
    if (leaf === undefined) throw new DamagedParquet();
    return leaf;
  }
}

/** Whether a group is a list or a map, by the new or the old form of annotations. */
function isAnnotated({ element }: Field, annotation: string): boolean {
  const { logical_type: logical, converted_type: converted } = element;
  if (logical?.type !== undefined) return logical.type === annotation;
  return converted === annotation || (annotation === 'MAP' && converted === 'MAP_KEY_VALUE');
}

/**
 * Returns the elements of a list, which are the repeated field itself or its only child:
 * <https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists>.
 */
function elementOf(repeated: Field): Field {
  const [child] = repeated.children;
  const isElement =
    child === undefined ||
    repeated.children.length > 1 ||
    repeated.name === 'array' ||
    repeated.name.endsWith('_tuple') ||
    isAnnotated(repeated, 'LIST') ||
    isAnnotated(repeated, 'MAP') ||
    child.isRepeated;
  return isElement ? repeated : child;
}

/** The values of a leaf that are read and not yet part of a cell. */
class LeafQueue {
  readonly #reader: LeafReader;
  readonly #maxCharacters: number;
  readonly #repetitions: number[] = [];
  readonly #definitions: number[] = [];
  readonly #values: Value[] = [];
  #at = 0;
  /** Rows that begin in the queue. */
  #rows = 0;
  #isEnd = false;
  /** Values of the last row. */
  #ofLast = 0;
  /** For each row in the queue that has too many values, the number of rows that began before it. */
  readonly #cut = new Set<number>();
  #row = 0;
  #begun = 0;

  constructor(reader: LeafReader, { maxCharacters }: ChunkSource) {
    this.#reader = reader;
    this.#maxCharacters = maxCharacters;
  }

  /** Reads on until there are `rows` complete rows, or some and many values. Returns the number of complete rows. */
  async fill(rows: number): Promise<number> {
    let characters = 0;
    while (!this.#isEnd && this.#complete < rows) {
      const isFull = this.#values.length > MAX_VALUES || characters > this.#maxCharacters;
      if (isFull && this.#complete > 0) break;
      const block = await this.#reader.next();
      if (block === undefined) {
        this.#isEnd = true;
        break;
      }
      characters += block.characters;
      for (const [index, value] of block.values.entries()) {
        this.#add(block.repetitions?.[index] ?? 0, block.definitions?.[index] ?? 0, value);
      }
    }
    return this.#complete;
  }

  get #complete(): number {
    return this.#isEnd ? this.#rows : Math.max(0, this.#rows - 1);
  }

  #add(repetition: number, definition: number, value: Value): void {
    if (repetition === 0) {
      this.#rows += 1;
      this.#begun += 1;
      this.#ofLast = 0;
    } else if (this.#begun === 0) throw new DamagedParquet();
    this.#ofLast += 1;
    if (this.#ofLast > MAX_ROW_VALUES) {
      this.#cut.add(this.#begun - 1);
      return;
    }
    this.#repetitions.push(repetition);
    this.#definitions.push(definition);
    this.#values.push(value);
  }

  /** Whether the next row has too many values. */
  get isCut(): boolean {
    return this.#cut.has(this.#row);
  }

  /** The levels of the next value. */
  get repetition(): number {
    return this.#repetitions[this.#at] ?? 0;
  }

  get definition(): number {
    const definition = this.#definitions[this.#at];
    if (definition === undefined) throw new DamagedParquet();
    return definition;
  }

  next(): Value {
    const value = this.#values[this.#at++];
    if (value === undefined) throw new DamagedParquet();
    return value;
  }

  /** Ends a row. With `isSkipped`, its values are passed over. */
  endRow(isSkipped: boolean): void {
    if (isSkipped) {
      do this.#at += 1;
      while (this.repetition !== 0);
    } else if (this.repetition !== 0) throw new DamagedParquet();
    this.#cut.delete(this.#row);
    this.#row += 1;
    this.#rows -= 1;
  }

  /** Frees the values that are part of a cell. */
  removeRead(): void {
    for (const list of [this.#repetitions, this.#definitions, this.#values]) list.splice(0, this.#at);
    this.#at = 0;
  }

  close(): void {
    this.#reader.close();
  }
}
