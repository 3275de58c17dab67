import type { Command } from 'commander';
import type { Database, Databases } from '../api/index.js';
import { isCode } from '../errors.js';
import type { DatabaseSettings, LineSummary } from '../schema/index.js';
import { abortOnSignal } from './abort-on-signal.js';
import { COLUMN_TYPES, type ColumnType } from './column-types.js';
import type { CsvColumns } from './csv-columns.js';
import { examples } from './examples.js';
import { printable } from './failure.js';
import { type Input, type InputOptions, openInput } from './input.js';
import { parseColumns, parseCount, parseEncoding, parseSeparator, parseTypes } from './option-values.js';
import { count, duration, ProgressBar } from './progress-bar.js';
import { reportTakenIds } from './taken-ids.js';
import { checkDatabase, openTarget, type TargetOptions, targetCommand } from './target.js';

interface ImportOptions extends TargetOptions, InputOptions {
  database: string;
  embed?: string[];
  dimensions?: number;
  approximate?: boolean;
}

export function importCommand(): Command {
  return targetCommand('import')
    .summary('store the records of a CSV or NDJSON file')
    .description(
      'Store the records of a file. Importing the same file again is idempotent: a record is identified by its ' +
        'id, uuid or key, otherwise by its values, so that a changed row without an identity is a new record. ' +
        'A row that cannot be stored is reported with its line, and the exit code is 1.',
    )
    .argument(
      '<file>',
      'NDJSON, one {"id"?, "uuid"?, "data", …} per line; or .csv with a header; or - for NDJSON from a pipe',
    )
    .requiredOption('--database <id>', 'database to store in, created if missing', checkDatabase)
    .option(
      '--embed <columns>',
      'columns to search by meaning, comma-separated (default: every text)',
      parseColumns,
    )
    .option('--dimensions <n>', 'for a database of your own vectors: numbers per vector', parseCount)
    .option('--approximate', 'create the database with an index for approximate searches')
    .option('--id-column <name>', 'CSV: column with the integer ids of the records (default: id)')
    .option('--key-column <name>', 'column whose text identifies a record: its UUID is made from it')
    .option(
      '--types <column=type>',
      `CSV: ${COLUMN_TYPES.join(', ')}, comma-separated; may be repeated (default: number for a column of ` +
        'plain numbers such as 12 or -0.5, boolean for a column of true and false, otherwise string)',
      parseTypes,
    )
    .option(
      '--separator <character>',
      'CSV: character between fields, or "tab" (default: a comma)',
      parseSeparator,
    )
    .option('--encoding <name>', 'such as latin1, windows-1252 or utf-16le (default: utf-8)', parseEncoding)
    .addHelpText(
      'after',
      examples(
        'cosift import facts.csv --database facts --embed name,description',
        'cosift import facts.csv --database facts --key-column slug --types zip=string --separator tab',
        'zcat facts.ndjson.gz | cosift import - --database facts',
      ),
    )
    .action(importFile);
}

/** Thrown when the user stops an import before the end of its file. */
class Interrupted extends Error {}

async function importFile(file: string, options: ImportOptions): Promise<void> {
  const bar = new ProgressBar();
  const badLines = new Set<number>();
  const report = (line: number, text: string) => {
    badLines.add(line);
    bar.clear();
    process.stderr.write(`line ${line}: ${printable(text)}\n`);
  };
  const stop = abortOnSignal();
  const started = Date.now();
  const progress = { committed: 0 };
  let databases: Databases | undefined;
  try {
    const input = await unlessStopped(stop, () => openInput(file, options, report, stop));
    databases = await openTarget(options);
    const database = await ensureDatabase(databases, options.database, settingsOf(options));
    const context = { stop, bar, progress, report };
    const summary = await unlessStopped(stop, () => send(input, database, context));
    await unlessStopped(stop, () => reportTakenIds(input, database, badLines, report));
    const bad = badLines.size;
    const seconds = (Date.now() - started) / 1000;
    const stored = summary.created + summary.changed + summary.unchanged;
    console.log(
      `${count(stored)} records in ${duration(seconds * 1000)} (${count(Math.round(stored / seconds))}/s): ` +
        `${count(summary.created)} created, ${count(summary.changed)} changed, ` +
        `${count(summary.unchanged)} unchanged, ${count(bad)} bad lines`,
    );
    if (summary.truncated > 0) {
      console.log(
        `${count(summary.truncated)} records are longer than the model takes: ` +
          'searches find them by the beginning of their text',
      );
    }
    if (input.columns !== undefined) console.log(typesOf(input.columns));
    if (bad > 0) process.exitCode = 1;
  } catch (error) {
    bar.clear();
    if (!(error instanceof Interrupted)) throw error;
    process.stderr.write(
      `stopped: ${count(progress.committed)} records are stored. ` +
        'Run the same command to go on: stored records are passed over quickly.\n',
    );
    process.exitCode = 130;
  } finally {
    await databases?.close();
  }
}

/** Opens a database, and creates it when it is missing. Settings that differ from those of the database are a failure. */
async function ensureDatabase(
  databases: Databases,
  id: string,
  settings: DatabaseSettings,
): Promise<Database> {
  if (Object.keys(settings).length === 0) {
    const database = databases.database(id);
    try {
      await database.describe();
      return database;
    } catch (error) {
      if (!isCode(error, 'database_not_found')) throw error;
    }
  }
  return databases.createDatabase(id, settings);
}

/** What an import uses while records are sent. */
interface ImportContext {
  stop: AbortSignal;
  bar: ProgressBar;
  progress: { committed: number };
  report: (line: number, text: string) => void;
}

async function unlessStopped<T>(stop: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw stop.aborted ? new Interrupted() : error;
  }
}

async function send(
  input: Input,
  database: Database,
  { stop, bar, progress, report }: ImportContext,
): Promise<LineSummary> {
  let summary: LineSummary | undefined;
  for await (const event of database.upsertLines(input.chunks, { signal: stop })) {
    if (event.type === 'problem') {
      const place = event.pointer === '' ? '' : `${event.pointer}: `;
      report(input.lines.of(event.line), `${place}${event.detail}`);
    } else if (event.type === 'progress') {
      progress.committed = event.committed;
      input.lines.forget(event.lines);
      bar.update(event.lines, input.estimate());
    } else {
      summary = event;
    }
  }
  if (stop.aborted) throw new Interrupted();
  if (summary === undefined) throw new Error('the import ended without a summary');
  bar.clear();
  return summary;
}

/** Names the columns that do not hold text: a filter compares only values of the same type. */
function typesOf({ names, types, isData }: CsvColumns): string {
  const named = (type: ColumnType) => names.filter((_, at) => types[at] === type && isData(at)).join(', ');
  const typed = (['number', 'boolean'] as const)
    .map((type) => [type, named(type)])
    .filter(([, columns]) => columns !== '')
    .map(([type, columns]) => `${type}: ${columns}`);
  return `columns by type: ${[...typed, 'string: all others'].join('; ')} (--types changes it)`;
}

function settingsOf({ embed, dimensions, approximate }: ImportOptions): DatabaseSettings {
  return {
    ...(embed !== undefined && { embed: { columns: embed } }),
    ...(dimensions !== undefined && { dimensions }),
    ...(approximate !== undefined && { approximate }),
  };
}
