import { type Command, InvalidArgumentError } from 'commander';
import type { DatabaseSettings, LineSummary } from '../schema/index.js';
import { type Input, openInput } from './input.js';
import { count, duration, ProgressBar } from './progress-bar.js';
import { stopOnSignals } from './stop.js';
import { checkDatabase, openTarget, type Target, type TargetOptions, targetCommand } from './target.js';

interface ImportOptions extends TargetOptions {
  database: string;
  embed?: string[];
  dimensions?: number;
  approximate?: boolean;
}

export function importCommand(): Command {
  return targetCommand('import')
    .description('store the records of a file; the same file again changes nothing')
    .argument(
      '<file>',
      'NDJSON, one {"id"?, "uuid"?, "data", …} a line; or .csv; or - for NDJSON from a pipe',
    )
    .requiredOption('--database <id>', 'database to store in, made when it is missing', checkDatabase)
    .option(
      '--embed <columns>',
      'columns to search by meaning, comma-separated (default: every text)',
      columns,
    )
    .option('--dimensions <n>', 'for a database of your own vectors: values a vector', wholeNumber)
    .option('--approximate', 'make the database with an index for approximate searches')
    .action(importFile);
}

/** What stopped an import before the end of its file. */
class Interrupted extends Error {}

async function importFile(file: string, options: ImportOptions): Promise<void> {
  const bar = new ProgressBar();
  let bad = 0;
  const report = (line: number, text: string) => {
    bad += 1;
    bar.clear();
    process.stderr.write(`line ${line}: ${text}\n`);
  };
  const stop = stopOnSignals();
  const input = await openInput(file, report, stop);
  const target = await openTarget(options);
  const started = Date.now();
  const progress = { committed: 0 };
  try {
    await target.ensureDatabase(options.database, settingsOf(options));
    const summary = await send(input, target, options.database, { stop, bar, progress, report });
    const seconds = (Date.now() - started) / 1000;
    const stored = summary.created + summary.changed + summary.unchanged;
    console.log(
      `${count(stored)} records in ${duration(seconds * 1000)} (${count(Math.round(stored / seconds))}/s): ` +
        `${count(summary.created)} created, ${count(summary.changed)} changed, ` +
        `${count(summary.unchanged)} unchanged, ${count(bad)} bad lines`,
    );
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
    await target.close();
  }
}

interface Sending {
  stop: AbortSignal;
  bar: ProgressBar;
  progress: { committed: number };
  report: (line: number, text: string) => void;
}

async function send(
  input: Input,
  target: Target,
  database: string,
  { stop, bar, progress, report }: Sending,
): Promise<LineSummary> {
  let summary: LineSummary | undefined;
  try {
    for await (const event of target.upsertLines(database, input.chunks, stop)) {
      if (event.type === 'problem') {
        const place = event.pointer === '' ? '' : `${event.pointer}: `;
        report(input.lineOf(event.line), `${place}${event.detail}`);
      } else if (event.type === 'progress') {
        progress.committed = event.committed;
        bar.update(event.lines, linesOf(input));
      } else {
        summary = event;
      }
    }
  } catch (error) {
    throw stop.aborted ? new Interrupted() : error;
  }
  if (stop.aborted) throw new Interrupted();
  if (summary === undefined) throw new Error('the import ended without a summary');
  bar.clear();
  return summary;
}

/** How many lines the file has, by the length of those read so far; undefined for a pipe. */
function linesOf({ size, read }: Input): number | undefined {
  if (size === undefined || read.bytes === 0) return undefined;
  return Math.round((read.records * size) / read.bytes);
}

function settingsOf({ embed, dimensions, approximate }: ImportOptions): DatabaseSettings {
  return {
    ...(embed !== undefined && { embed: { columns: embed } }),
    ...(dimensions !== undefined && { dimensions }),
    ...(approximate !== undefined && { approximate }),
  };
}

function columns(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('a column has no name');
  return names;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('not a whole number above 0');
  return Number(text);
}
