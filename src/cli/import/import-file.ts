import { isCode } from '../../errors.js';
import type { Input } from '../../readers/input.js';
import { openInput } from '../../readers/open-input.js';
import { columnNames } from '../../readers/option-text.js';
import { openSource } from '../../readers/source.js';
import { count } from '../../schema/plain.js';
import { abortOnSignal } from '../abort-on-signal.js';
import { describe, printable } from '../failure.js';
import { duration, ProgressBar, plural } from '../progress-bar.js';
import { openTarget } from '../target.js';
import { BadRows } from './bad-rows.js';
import { dryRun } from './dry-run.js';
import { describeInput } from './report.js';
import { type ImportOptions, type StoreResult, storeRecords } from './store-records.js';

/** Stores the records of a file, or of standard input for `-`. Sets the exit code. */
export async function importFile(name: string, given: ImportOptions): Promise<void> {
  const bar = new ProgressBar();
  const print = (text: string) => {
    bar.clear();
    process.stderr.write(`${text}\n`);
  };
  const file = given.dryRun ? undefined : given.badRows;
  const badRows = new BadRows({ file, encoding: given.encoding }, print);
  const stop = abortOnSignal();
  const progress = { stored: 0 };
  let isComplete = false;
  const started = Date.now();
  try {
    const input = await openWithProgress(name, given, stop, bar);
    const options = withNames(input, given);
    checkOptions(input, options);
    await badRows.open(input);
    if (options.dryRun) {
      const onProgress = (rows: number) => bar.update('checked', rows, input.total);
      const lines = await dryRun(input, options, { badRows, stop, onProgress });
      bar.clear();
      for (const line of lines) console.log(line);
    } else {
      await using databases = await openTarget(options, { create: true });
      const calls = { stop, bar, badRows, print, progress };
      const result = await storeRecords(input, databases, options, calls);
      bar.clear();
      for (const line of summaryOf(result, input, badRows, Date.now() - started)) console.log(line);
    }
    isComplete = true;
    const unseen = input.unseenColumns();
    for (const problem of unseen) print(printable(problem));
    if (badRows.count + unseen.length > 0) process.exitCode = 1;
  } catch (error) {
    bar.clear();
    if (isCode(error, 'deletion_refused')) {
      print(`${areStored(progress.stored)}; ${printable(error.detail)}`);
      process.exitCode = 1;
      isComplete = true;
      return;
    }
    if (!stop.aborted && progress.stored === 0) throw error;
    const reason = stop.aborted ? '' : `${printable(describe(error))}; `;
    // A server stores what it has received, and cannot tell after the connection is closed.
    const stored = `${given.url === undefined ? '' : 'at least '}${areStored(progress.stored)}`;
    print(
      `${reason}stopped: ${stored}. ` +
        'Run the same command to go on: stored records are passed over quickly.',
    );
    process.exitCode = stop.aborted ? 130 : 1;
  } finally {
    await writeBadRows(badRows, isComplete, print);
    // An open pipe keeps the process alive.
    if (name === '-') process.stdin.destroy();
  }
}

/** A failure is printed: it must not hide what the import has done. */
async function writeBadRows(badRows: BadRows, isComplete: boolean, print: (text: string) => void) {
  try {
    await badRows.write(isComplete);
  } catch (error) {
    print(`cosift: ${printable(describe(error))}`);
    process.exitCode ||= 1;
  } finally {
    badRows.close();
  }
}

async function openWithProgress(
  file: string,
  options: ImportOptions,
  stop: AbortSignal,
  bar: ProgressBar,
): Promise<Input> {
  const source = await openSource(file, stop);
  const input = await openInput(source, options, (rows, share) => {
    bar.update('checked', rows, share === undefined || share === 0 ? undefined : rows / share);
  });
  bar.clear();
  return input;
}

/** Returns the options with the names of the columns to embed: a name may have a comma, if the file has such a column. */
function withNames(input: Input, options: ImportOptions): ImportOptions {
  if (options.embed === undefined) return options;
  return { ...options, embed: columnNames(options.embed, (name) => input.inspection?.has(name) ?? false) };
}

function checkOptions(input: Input, options: ImportOptions): void {
  const { embed, lexicalColumns, idColumn, types, dimensions, vectorColumn, deleteMissing, maxDeletes } =
    options;
  if (maxDeletes !== undefined && !deleteMissing) throw new Error('--max-deletes needs --delete-missing');
  input.checkChosen([
    ...(embed ?? []),
    ...Object.keys(lexicalColumns ?? {}),
    ...(idColumn === undefined ? [] : [idColumn]),
    ...Object.keys(types ?? {}),
  ]);
  if (embed !== undefined) {
    const twice = embed.find((name, at) => embed.indexOf(name) !== at);
    if (twice !== undefined) throw new Error(`--embed: "${twice}" is given twice`);
    input.checkColumns('--embed', embed);
  }
  if (lexicalColumns !== undefined) {
    input.checkColumns('--lexical-columns', Object.keys(lexicalColumns));
  }
  if (idColumn !== undefined) input.checkColumns('--id-column', [idColumn]);
  if (types !== undefined) input.checkColumns('--types', Object.keys(types));
  const { name, typed } = input.format;
  if (dimensions !== undefined && !typed && vectorColumn === undefined) {
    throw new Error(
      `--dimensions: ${name.toUpperCase()} has no vectors, unless --vector-column names their column`,
    );
  }
}

function summaryOf(result: StoreResult, input: Input, badRows: BadRows, ms: number): string[] {
  const { created, changed, unchanged, earlier, deleted, searched } = result;
  const stored = created + changed + unchanged + earlier;
  const before = earlier === 0 ? '' : `${count(earlier)} before the connection was lost, `;
  const lines = [
    `${plural(stored, 'record')} in ${duration(ms)} (${count(Math.round((stored * 1000) / Math.max(1, ms)))}/s): ${before}` +
      `${count(created)} created, ${count(changed)} changed, ${count(unchanged)} unchanged, ` +
      (deleted === undefined ? '' : `${count(deleted)} deleted, `) +
      plural(badRows.count, `bad ${input.format.unit}`),
  ];
  return [...lines, ...describeInput(input), ...(searched?.report() ?? [])];
}

function areStored(records: number): string {
  return `${plural(records, 'record')} ${records === 1 ? 'is' : 'are'} stored`;
}
