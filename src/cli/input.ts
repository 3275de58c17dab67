import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { inspectCsv, recordsOfCsv } from './csv.js';
import type { CsvColumns } from './csv-columns.js';
import { toUtf8 } from './encoding.js';
import { Identities } from './identities.js';
import { LineNumbers } from './line-numbers.js';
import { linesOfNdjson } from './ndjson.js';
import { type ColumnOptions, type OnBadLine, PARTS, type Part, type Row } from './rows.js';

export interface InputOptions extends ColumnOptions {
  encoding?: string;
}

/** The records of a file as NDJSON. */
export interface Input {
  chunks: AsyncIterable<Uint8Array>;
  /** Estimates the number of records from the mean length of those read so far; undefined for a pipe. */
  estimate(): number | undefined;
  lines: LineNumbers;
  /** The columns of a CSV file. */
  columns?: CsvColumns;
  /**
   * After all chunks are read: yields the rows without an id again when the file also has rows with an id. Not for a
   * pipe. Bad rows are not reported a second time.
   */
  withoutId?: () => AsyncIterable<Row>;
  /** Returns the line of the row that has this id; 0 when there is none. */
  lineOfId: (id: number) => number;
}

/**
 * Opens `file`, or standard input for `-`, as CSV when its name ends with `.csv` and as NDJSON otherwise. When `stop` is
 * aborted, the chunks end with an error, even while a pipe is silent.
 */
export async function openInput(
  file: string,
  options: InputOptions,
  onBad: OnBadLine,
  stop: AbortSignal,
): Promise<Input> {
  if (file === '-') return openPipe(options, onBad, stop);
  const source = await FileSource.open(file, stop);
  return /\.csv$/i.test(file) ? openCsv(source, options, onBad) : openNdjson(source, options, onBad);
}

function openPipe(options: InputOptions, onBad: OnBadLine, stop: AbortSignal): Input {
  const lines = new LineNumbers();
  const identities = new Identities();
  const stream = addAbortSignal(stop, process.stdin);
  const text = options.encoding === undefined ? stream : toUtf8(stream, options.encoding);
  const rows = linesOfNdjson(text, undefined, options, identities, onBad);
  return {
    chunks: numbered(rows, lines),
    lines,
    estimate: () => undefined,
    lineOfId: (id) => identities.lineOfId(id),
  };
}

function openNdjson(source: FileSource, options: InputOptions, onBad: OnBadLine): Input {
  const { idColumn, separator, types, encoding } = options;
  if (idColumn !== undefined) throw new Error('--id-column is for CSV; NDJSON has the member "id"');
  if (separator !== undefined) throw new Error('--separator is for CSV');
  if (types !== undefined) throw new Error('--types is for CSV; NDJSON has types of its own');
  return inputOf(source, PARTS, onBad, (part, identities, onBad) => {
    const bytes = source.read();
    const text = encoding === undefined ? bytes : toUtf8(bytes, encoding);
    return linesOfNdjson(text, part, options, identities, onBad);
  });
}

async function openCsv(source: FileSource, options: InputOptions, onBad: OnBadLine): Promise<Input> {
  const read = () => toUtf8(source.read(), options.encoding ?? 'utf-8');
  const columns = await inspectCsv(read(), options);
  const input = inputOf(source, columns.parts, onBad, (part, identities, onBad) =>
    recordsOfCsv(read(), columns, part, identities, onBad),
  );
  return { ...input, columns };
}

/** Returns the input of a file. `rowsOf` reads the rows of one part. */
function inputOf(
  source: FileSource,
  parts: readonly Part[],
  onBad: OnBadLine,
  rowsOf: (part: Part, identities: Identities, onBad: OnBadLine) => AsyncIterable<Row>,
): Input {
  const lines = new LineNumbers();
  const identities = new Identities();
  const rows = source.parts(parts, (part) => rowsOf(part, identities, onBad));
  return {
    chunks: numbered(rows, lines),
    lines,
    estimate: () => source.estimate(),
    withoutId: () => source.ifMixed(() => rowsOf('without-id', new Identities(), () => undefined)),
    lineOfId: (id) => identities.lineOfId(id),
  };
}

/** A file that is read several times. */
class FileSource {
  readonly #file: string;
  readonly #stop: AbortSignal;
  readonly #before: Stats;
  #bytes = 0;
  #records = 0;
  #earlierRecords = 0;
  /** Number of parts that have rows. */
  #partsWithRows = 0;

  private constructor(file: string, stop: AbortSignal, before: Stats) {
    this.#file = file;
    this.#stop = stop;
    this.#before = before;
  }

  static async open(file: string, stop: AbortSignal): Promise<FileSource> {
    const before = await stat(file);
    if (!before.isFile()) {
      throw new Error(
        `${file} is not a regular file, which can be read twice; give - for NDJSON from a pipe`,
      );
    }
    return new FileSource(file, stop, before);
  }

  async *read(): AsyncGenerator<Uint8Array> {
    this.#bytes = 0;
    const stream = createReadStream(this.#file, { highWaterMark: 1 << 18 });
    for await (const chunk of addAbortSignal(this.#stop, stream) as AsyncIterable<Uint8Array>) {
      this.#bytes += chunk.length;
      yield chunk;
    }
  }

  /**
   * Yields the rows of each part, one part after the other.
   *
   * @throws {Error} when the file has changed since it was opened: rows could be missing.
   */
  async *parts(parts: readonly Part[], read: (part: Part) => AsyncIterable<Row>): AsyncGenerator<Row> {
    for (const part of parts) {
      this.#earlierRecords += this.#records;
      this.#records = 0;
      for await (const row of read(part)) {
        this.#records += 1;
        yield row;
      }
      if (this.#records > 0) this.#partsWithRows += 1;
    }
    await this.#checkUnchanged();
  }

  /** Yields the rows of `read` if more than one part had rows. Fails as {@link parts} does. */
  async *ifMixed(read: () => AsyncIterable<Row>): AsyncGenerator<Row> {
    if (this.#partsWithRows < 2) return;
    yield* read();
    await this.#checkUnchanged();
  }

  async #checkUnchanged(): Promise<void> {
    const { size, mtimeMs } = await stat(this.#file);
    if (size !== this.#before.size || mtimeMs !== this.#before.mtimeMs) {
      throw new Error(`${this.#file} changed while it was read; import it again`);
    }
  }

  estimate(): number | undefined {
    if (this.#bytes === 0) return undefined;
    return this.#earlierRecords + Math.round((this.#records * this.#before.size) / this.#bytes);
  }
}

async function* numbered(rows: AsyncIterable<Row>, lines: LineNumbers): AsyncGenerator<Uint8Array> {
  for await (const { json, line } of rows) {
    lines.push(line);
    yield json;
  }
}
