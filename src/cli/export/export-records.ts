import type { Database } from '../../api/index.js';
import { isCode } from '../../errors.js';
import type { Filter, ValueFormats } from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import { columnsOf, unknownColumns } from '../../where/unknown-columns.js';
import { abortOnSignal, endStopped } from '../abort-on-signal.js';
import { warn } from '../failure.js';
import { OutputFile } from '../output-file.js';
import { duration, ProgressBar, plural } from '../progress-bar.js';
import { withDatabase } from '../records/near-names.js';
import { openTarget, type TargetOptions } from '../target.js';
import { Columns } from './columns.js';
import { csvOf } from './csv.js';
import { type FormatName, formatOf } from './format.js';
import { forTerminal, writeOutput } from './output.js';
import { parquetOf } from './parquet.js';
import { recordsOf } from './records.js';

export interface ExportOptions extends TargetOptions {
  database: string;
  format?: FormatName;
  output?: string;
  where?: Filter;
  vectors?: true;
}

/** Writes the records of a database to a file or to standard output. Sets the exit code. */
export async function exportRecords(options: ExportOptions): Promise<void> {
  const { database: id, output, vectors = false } = options;
  const file = output === undefined ? undefined : await OutputFile.at(output);
  const { format, gzip } = formatOf(options.format, output);
  if (vectors && format === 'csv') throw new Error('--vectors: CSV has no vectors; use NDJSON or Parquet');
  if (format === 'parquet' && output === undefined && process.stdout.isTTY) {
    throw new Error('Parquet is not for a terminal: give --output, or pipe the output to a program');
  }
  const stop = abortOnSignal();
  const bar = new ProgressBar();
  const started = Date.now();
  await using databases = await openTarget(options);
  try {
    const exported = new Export(databases.database(id), options, stop, bar);
    const bytes = exported.bytes(format, vectors);
    const isShown = file === undefined && process.stdout.isTTY && format !== 'parquet';
    const shown = isShown ? forTerminal(bytes, format) : bytes;
    await withDatabase(databases, id, () => writeOutput(shown, { file, gzip, signal: stop }));
    bar.clear();
    const named = exported.written === 0 ? columnsOf(options.where) : [];
    for (const problem of await unknownColumns(databases, id, named)) warn(problem);
    const ms = Date.now() - started;
    const rate = count(Math.round((exported.written * 1000) / Math.max(1, ms)));
    process.stderr.write(`${plural(exported.written, 'record')} in ${duration(ms)} (${rate}/s)\n`);
  } catch (error) {
    bar.clear();
    const unchanged = output === undefined ? '' : `, and ${output} is as it was`;
    endStopped(stop, error, `the export is not complete${unchanged}`);
  }
}

/** One run of the command. */
class Export {
  readonly #database: Database;
  readonly #where: Filter | undefined;
  readonly #signal: AbortSignal;
  readonly #bar: ProgressBar;
  written = 0;

  constructor(database: Database, { where }: ExportOptions, signal: AbortSignal, bar: ProgressBar) {
    this.#database = database;
    this.#where = where;
    this.#signal = signal;
    this.#bar = bar;
  }

  /** Yields the bytes of the output. */
  async *bytes(format: FormatName, vectors: boolean): AsyncGenerator<Uint8Array, void, undefined> {
    if (format === 'ndjson') {
      yield* this.#counted(this.#lines(vectors), undefined);
      return;
    }
    // CSV and Parquet name all columns and types before the first record.
    const columns = new Columns(format === 'csv' ? await this.#formats() : undefined);
    for await (const records of recordsOf(this.#lines(false))) {
      for (const record of records) columns.add(record);
      this.#bar.update('read', columns.records, undefined);
    }
    for (const warning of columns.warnings(format)) {
      this.#bar.clear();
      warn(warning);
    }
    const records = recordsOf(this.#counted(this.#lines(vectors), columns.records));
    yield* format === 'csv' ? csvOf(records, columns) : parquetOf(records, columns, vectors);
  }

  async #formats(): Promise<ValueFormats | undefined> {
    try {
      return (await this.#database.describe({ signal: this.#signal })).formats;
    } catch (error) {
      if (!isCode(error, 'forbidden')) throw error;
      this.#bar.clear();
      warn('the key may not describe the database, so numbers are written as JavaScript writes them');
      return undefined;
    }
  }

  #lines(vectors: boolean): AsyncIterable<Uint8Array> {
    return this.#database.exportLines({ filter: this.#where, vectors, signal: this.#signal });
  }

  /** Counts the lines that pass. */
  async *#counted(
    chunks: AsyncIterable<Uint8Array>,
    total: number | undefined,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) this.written += 1;
      this.#bar.update('exported', this.written, total);
      yield chunk;
    }
  }
}
