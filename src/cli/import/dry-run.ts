import { checkLines, shortRecordBytes } from '../../databases/index.js';
import type { Input } from '../../readers/input.js';
import type { RejectedRow, Row } from '../../readers/rows.js';
import { type DatabaseSettings, LIMITS, type LineEvent } from '../../schema/index.js';
import { printable } from '../failure.js';
import { plural } from '../progress-bar.js';
import type { BadRows } from './bad-rows.js';
import { type DryRunTarget, withTarget } from './dry-run-target.js';
import { describeInput } from './report.js';
import { upsertResumably } from './resumable-upsert.js';
import { SearchedText } from './searched-text.js';
import { type ImportOptions, withCheckedKind } from './store-records.js';

const RECORDS_SHOWN = 3;
/** First records that are kept until it is known which of them are stored. */
const RECORDS_KEPT = 100;
/** Characters of a record that are shown. */
const RECORD_LENGTH = 2_000;

export interface DryRunCalls {
  badRows: BadRows;
  stop: AbortSignal;
  onProgress(rows: number): void;
}

/** Reads and checks all rows as an import does, and prints what it would store. Writes nothing. */
export function dryRun(input: Input, options: ImportOptions, calls: DryRunCalls): Promise<string[]> {
  return withTarget(options, (target) => checkRows(input, options, target, calls));
}

async function checkRows(
  input: Input,
  { database, data, store, url, deleteMissing }: ImportOptions,
  target: DryRunTarget,
  { badRows, stop, onProgress }: DryRunCalls,
): Promise<string[]> {
  const columns = input.inspection?.names.length;
  const suspects = new Suspects(columns, target.settings);
  const refused = new Set<Row>();
  const kept: Row[] = [];
  const searched = target.searched && new SearchedText({ id: database, ...target.searched });
  let rows = 0;
  async function* unchecked() {
    const onBad = (row: RejectedRow, reason: string) => badRows.add(row, reason);
    const batches = input.records(onBad, { onlyChecks: true });
    const existing = target.database;
    const checked = existing
      ? withCheckedKind(batches, input, existing, { signal: stop, remote: false })
      : batches;
    for await (const batch of checked) {
      rows += batch.length;
      onProgress(rows);
      kept.push(...batch.slice(0, RECORDS_KEPT - kept.length));
      const some = batch.filter((row) => {
        searched?.observe(row);
        return suspects.has(row);
      });
      if (some.length > 0) yield some;
    }
  }
  const upsertLines = (chunks: AsyncIterable<Uint8Array>) =>
    withoutProblemsOf(target.undecided, checkLines(target.settings, chunks, { columns, signal: stop }));
  await upsertResumably({ upsertLines }, unchecked(), {
    signal: stop,
    remote: false,
    onBad(row, reason) {
      refused.add(row);
      badRows.add(row, reason);
    },
    onProgress: (count) => suspects.passed(count, refused),
  });
  const shown = kept.filter((row) => !refused.has(row)).slice(0, RECORDS_SHOWN);
  const where =
    url !== undefined ? `the server ${url}` : store !== undefined ? 'the store' : `the directory ${data}`;
  const isNew = target.database === undefined;
  const created = isNew ? `, which would be created in ${where}` : ` of ${where}`;
  return [
    ...describeInput(input),
    ...(searched?.report() ?? []),
    ...(shown.length > 0 ? ['first records:', ...shown.map((row) => `  ${shortened(row)}`)] : []),
    `dry run: ${plural(rows - refused.size, 'record')} would be stored in the database "${database}"${created}; ` +
      `${plural(badRows.count, `bad ${input.format.unit}`)}; nothing is written`,
    ...(isNew
      ? []
      : [
          'checked with the default limits: what depends on the columns and the records that the database has is ' +
            'checked by the import only',
          ...(deleteMissing ? ['which records would be deleted is checked by the import only'] : []),
        ]),
  ];
}

/**
 * Finds the rows whose records an import may refuse. A short record that is made from columns is not among them once another
 * one with the same columns has passed.
 */
class Suspects {
  /** The names of columns of records that have passed. The rows of a table share them. */
  readonly #passed = new WeakSet<readonly string[]>();
  readonly #mayExceedColumns: boolean;
  readonly #shortBytes: number;
  /** Rows that are being checked. */
  #rows: Row[] = [];
  #checked = 0;

  constructor(columns: number | undefined, settings: DatabaseSettings) {
    this.#shortBytes = shortRecordBytes(settings);
    this.#mayExceedColumns = columns === undefined || columns > LIMITS.database_columns;
  }

  has(row: Row): boolean {
    const isSuspect =
      !row.isOfColumns ||
      (row.maxBytes > this.#shortBytes && row.json.length > this.#shortBytes) ||
      this.#mayExceedColumns ||
      !this.#passed.has(row.names);
    if (isSuspect) this.#rows.push(row);
    return isSuspect;
  }

  /** Of all rows, `count` are checked now; those in `refused` have not passed. */
  passed(count: number, refused: ReadonlySet<Row>): void {
    for (const row of this.#rows.splice(0, count - this.#checked)) {
      if (!refused.has(row)) this.#passed.add(row.names);
    }
    this.#checked = count;
  }
}

function shortened({ json }: Row): string {
  const text = printable(Buffer.from(json).toString().trimEnd());
  return text.length > RECORD_LENGTH ? `${text.slice(0, RECORD_LENGTH)}…` : text;
}

async function* withoutProblemsOf(
  codes: readonly string[],
  events: AsyncIterable<LineEvent>,
): AsyncGenerator<LineEvent> {
  for await (const event of events) {
    if (event.type !== 'problem' || !codes.includes(event.code)) yield event;
  }
}
