import { setImmediate } from 'node:timers/promises';
import type { AsyncBuffer } from 'hyparquet';
import { type Cell, Nested, Numeral, textOf } from '../cells.js';
import type { ReadRow } from '../rows.js';
import { type ColumnReader, columnReader } from './columns.js';
import { ParquetError, readingAt, skipAdvice } from './errors.js';
import { type Field, openParquet, type ParquetFile, type RowGroup } from './file.js';
import { type ChunkSource, LeafReader } from './leaves.js';
import { PageMemory } from './pages.js';
import { conversionOf, isText, isUnannotated, Refused, type Value } from './values.js';

/** Rows whose values are decoded at once. */
const RANGE_ROWS = 1024;
/** Rows that are handed on at once, and the characters of their texts after which they are handed on. */
const BATCH_ROWS = 256;
const BATCH_CHARACTERS = 4 << 20;
/** Bytes that are read at once for all columns together, and for one. */
const READ_AHEAD = 32 << 20;
const MAX_READ_AHEAD = 1 << 20;
/** Characters of texts that are in memory at once for all columns together, and the least for one. */
const CHARACTERS = 64 << 20;
const MIN_CHARACTERS = 1 << 16;

/** Reads a Parquet file. */
export class ParquetRows {
  readonly #file: ParquetFile;
  readonly #columns: Columns;
  /** Fields without an annotation whose bytes are no text. */
  readonly #binary = new Set<Field>();

  private constructor(file: ParquetFile, skips: (name: string) => boolean) {
    this.#file = file;
    this.#columns = columnsOf(file.columns, skips);
  }

  /**
   * Opens a file, and reads its columns of bytes without an annotation, which may be text or not. `skips` returns whether a
   * column is left out. `onProgress` is called with the number of rows that were read, and the share that they are.
   *
   * @throws {Error} when the file is damaged, or has two columns of one name.
   */
  static async open(
    file: AsyncBuffer,
    skips: (name: string) => boolean,
    onProgress: (rows: number, share: number) => void = () => undefined,
  ): Promise<ParquetRows> {
    const rows = new ParquetRows(await openParquet(file), skips);
    await rows.#findBinary(onProgress);
    return rows;
  }

  get total(): number {
    return this.#file.groups.reduce((sum, group) => sum + rowsOf(group), 0);
  }

  /** The names of the columns that are read. */
  get names(): readonly string[] {
    return this.#columns.read.map(({ name }) => name);
  }

  /** Yields all rows, until `stop` is aborted. */
  async *read(stop: AbortSignal): AsyncGenerator<ReadRow[]> {
    let line = 1;
    for await (const { count, cells } of this.ranges()) {
      for (const rows of batchesOf(cells, count, line, this.#columns)) {
        stop.throwIfAborted();
        yield rows;
      }
      line += count;
    }
  }

  /** Yields the cells of all rows, those of some rows at a time, for each column that is read. */
  async *ranges(): AsyncGenerator<{ count: number; cells: readonly Value[][] }> {
    const columns = this.#columns;
    for (const [index, group] of this.#file.groups.entries()) {
      const source = this.#source(group);
      const readers: { column: Column; place: string; advice: string; reader: ColumnReader }[] = [];
      try {
        for (const column of columns.read) {
          const place = placeOf(column.name, index);
          const advice = skipAdvice(column.name);
          const reader = await readingAt(place, advice, () =>
            columnReader(source, column.field, (leaf) =>
              conversionOf(leaf, column.name, this.#binary.has(leaf)),
            ),
          );
          readers.push({ column, place, advice, reader });
        }
        for (let left = rowsOf(group); left > 0; ) {
          let count = Math.min(left, RANGE_ROWS);
          for (const { place, advice, reader } of readers) {
            const filled = await readingAt(place, advice, () => reader.fill(count));
            if (filled === 0) {
              throw new ParquetError(`${place} ends ${left} rows before the others${advice}`);
            }
            count = Math.min(count, filled);
          }
          const cells: Value[][] = Array.from({ length: columns.read.length });
          for (const { column, place, advice, reader } of readers) {
            cells[column.at] = await readingAt(place, advice, () => reader.take(count));
          }
          yield { count, cells };
          // Lets the process receive signals: a page may have many rows.
          await setImmediate();
          left -= count;
        }
      } finally {
        for (const { reader } of readers) reader.close();
      }
    }
  }

  #source(group: RowGroup): ChunkSource {
    const count = this.#columns.read.reduce((sum, { field }) => sum + Math.max(1, field.chunks.length), 1);
    return {
      file: this.#file.file,
      group,
      memory: new PageMemory(),
      readAhead: Math.min(MAX_READ_AHEAD, Math.floor(READ_AHEAD / count)),
      maxCharacters: Math.max(MIN_CHARACTERS, Math.floor(CHARACTERS / count)),
    };
  }

  /** Reads the fields of which the file does not say whether they are text. One value that is no text decides. */
  async #findBinary(onProgress: (rows: number, share: number) => void): Promise<void> {
    const texts = this.#columns.read.flatMap(({ name, field }) =>
      leavesOf(field).flatMap((leaf) => (isUnannotated(leaf.element) ? [{ name, leaf }] : [])),
    );
    const conversion = {
      kind: 'bytes',
      width: undefined,
      convert: (bytes: Buffer, start: number, end: number) => isText(bytes, start, end),
    } as const;
    let rows = 0;
    for (const [index, group] of this.#file.groups.entries()) {
      for (const [at, { name, leaf }] of texts.entries()) {
        if (this.#binary.has(leaf)) continue;
        await readingAt(placeOf(name, index), skipAdvice(name), async () => {
          const reader = new LeafReader(this.#source(group), leaf, conversion);
          for (let block = await reader.next(); block !== undefined; block = await reader.next()) {
            if (block.values.includes(false)) this.#binary.add(leaf);
            if (this.#binary.has(leaf)) break;
          }
          reader.close();
        });
        onProgress(rows, (rows + (rowsOf(group) * (at + 1)) / texts.length) / this.total);
        // Lets the process receive signals.
        await setImmediate();
      }
      rows += rowsOf(group);
    }
  }
}

function rowsOf({ num_rows }: RowGroup): number {
  const rows = Number(num_rows);
  if (!Number.isSafeInteger(rows) || rows < 0) {
    throw new ParquetError('the Parquet file is damaged: a row group has no valid number of rows');
  }
  return rows;
}

function placeOf(column: string, group: number): string {
  return `column "${column}" in row group ${group + 1}`;
}

function leavesOf(field: Field): Field[] {
  return field.children.length === 0 ? [field] : field.children.flatMap(leavesOf);
}

interface Column {
  name: string;
  field: Field;
  /** The place among the columns that are read. */
  at: number;
}

interface Columns {
  read: readonly Column[];
  data: readonly Column[];
  names: readonly string[];
  /** The column `vector` if it is a list. */
  vector: Column | undefined;
  /** The column that says which model made the vectors. */
  embeddedBy: Column | undefined;
  skipped: readonly string[];
}

function columnsOf(fields: readonly Field[], skips: (name: string) => boolean): Columns {
  const read = fields
    .filter(({ name }) => !skips(name))
    .map((field, at) => ({ at, name: field.name, field }));
  const names = new Set<string>();
  for (const { name } of read) {
    if (names.has(name)) {
      throw new ParquetError(
        `two columns of the Parquet file are named "${name}": rename one in the file${skipAdvice(name).replace('the column', 'both')}`,
      );
    }
    names.add(name);
  }
  const vector = read.find(({ name, field }) => name === 'vector' && isNested(field));
  const embeddedBy = vector && read.find(({ name }) => name === 'embedded_by');
  const data = read.filter((column) => column !== vector && column !== embeddedBy);
  const skipped = fields.flatMap(({ name }) => (skips(name) ? [name] : []));
  return { read, data, names: data.map(({ name }) => name), vector, embeddedBy, skipped };
}

function isNested({ element, isRepeated }: Field): boolean {
  return element.type === undefined || isRepeated;
}

/** Makes rows of the cells of columns. `first` is the number of the first row. */
function* batchesOf(
  cells: readonly Value[][],
  count: number,
  first: number,
  columns: Columns,
): Generator<ReadRow[]> {
  const data = columns.data.map(({ at }) => cells[at] as Value[]);
  const { vector, embeddedBy } = columns;
  const others = {
    vectors: vector && cells[vector.at],
    embeddedBy: embeddedBy && cells[embeddedBy.at],
  };
  let rows: ReadRow[] = [];
  let characters = 0;
  for (let index = 0; index < count; index++) {
    const values: Value[] = [];
    for (const column of data) {
      const value = column[index] as Value;
      values.push(value);
      if (typeof value === 'string') characters += value.length;
      else if (value instanceof Nested) characters += value.json.length;
    }
    const vector = others.vectors?.[index] ?? null;
    const embeddedBy = others.embeddedBy?.[index] ?? null;
    rows.push(rowOf({ values, vector, embeddedBy }, first + index, columns));
    if (rows.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
    yield rows;
    rows = [];
    characters = 0;
  }
  if (rows.length > 0) yield rows;
}

interface RowValues {
  values: Value[];
  vector: Value;
  embeddedBy: Value;
}

function rowOf(row: RowValues, line: number, columns: Columns): ReadRow {
  const { values, vector, embeddedBy } = row;
  const { names } = columns;
  const raw = () => rawOf(row, columns);
  if (values.some(isRefused) || isRefused(vector) || isRefused(embeddedBy)) {
    const cells = values.map((value) => (isRefused(value) ? null : value));
    return { line, raw, reason: reasonOf(row, columns), names, cells };
  }
  const cells = values as Cell[];
  if (!(vector instanceof Nested)) return { line, raw, names, cells };
  const members = {
    vector: vector.json,
    ...(embeddedBy !== null && { embeddedBy: textOf(embeddedBy as Cell) }),
  };
  return { line, raw, names, cells, ...members };
}

function isRefused(value: Value): value is Refused {
  return value instanceof Refused;
}

function reasonOf({ values, vector, embeddedBy }: RowValues, { names }: Columns): string {
  const named: [string, Value][] = values.map((value, at) => [names[at] as string, value]);
  named.push(['vector', vector], ['embedded_by', embeddedBy]);
  return named
    .flatMap(([name, value]) => (value instanceof Refused ? [`column "${name}": ${value.reason}`] : []))
    .join('; ');
}

function rawOf({ values, vector, embeddedBy }: RowValues, { names, skipped }: Columns): string {
  const members = values.map((value, at) => memberOf(names[at] as string, value));
  if (vector !== null) members.push(memberOf('vector', vector));
  if (embeddedBy !== null) members.push(memberOf('embedded_by', embeddedBy));
  // The options of the import name these columns, and must find them.
  for (const name of skipped) members.push(memberOf(name, null));
  return `{${members.join(',')}}`;
}

/** Returns a member of the row as JSON. A refused value is no JSON, so that the row is refused again until it is corrected. */
function memberOf(name: string, value: Value): string {
  return `${JSON.stringify(name)}:${jsonOf(value)}`;
}

function jsonOf(value: Value): string {
  if (value instanceof Refused || value instanceof Numeral) return value.text;
  return value instanceof Nested ? value.json : JSON.stringify(value);
}
