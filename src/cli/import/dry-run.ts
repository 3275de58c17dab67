import { existsSync } from 'node:fs';
import path from 'node:path';
import { checkLines, SHORT_RECORD_BYTES } from '../../backend/index.js';
import { checkDatabaseSettings, LIMITS, type LineEvent } from '../../schema/index.js';
import { printable } from '../failure.js';
import { plural } from '../progress-bar.js';
import type { BadRows } from './bad-rows.js';
import type { Input } from './input.js';
import { describeInput } from './report.js';
import { upsertResumably } from './resumable-upsert.js';
import type { RejectedRow, Row } from './rows.js';
import { SearchedText } from './searched-text.js';
import { type ImportOptions, settingsOf } from './store-records.js';

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

/** Reads and checks all rows as an import does, and prints what it would store. Writes nothing, and asks no server. */
export async function dryRun(
  input: Input,
  options: ImportOptions,
  { badRows, stop, onProgress }: DryRunCalls,
): Promise<string[]> {
  const { database, data, store, url, dimensions, embed } = options;
  const isNew =
    url === undefined && store === undefined && !existsSync(path.join(data, 'databases', database));
  const settings = checkDatabaseSettings(settingsOf(options));
  // What a database that exists decides, unless an option does: whether records have vectors, and which text is embedded.
  const undecided = [
    ...(dimensions === undefined ? ['invalid_vector', 'invalid_dimensions'] : []),
    ...(embed === undefined ? ['too_many_passages'] : []),
  ];
  const columns = input.inspection?.names.length;
  const check = (chunks: AsyncIterable<Uint8Array>) =>
    checkLines(settings, chunks, { columns, signal: stop });
  const suspects = new Suspects(columns);
  const refused = new Set<Row>();
  const kept: Row[] = [];
  // The embedded columns of a database that exists are those of `--embed`, or not known here.
  const isKnown = dimensions === undefined && (isNew || embed !== undefined);
  const searched = isKnown ? new SearchedText(embed) : undefined;
  let rows = 0;
  async function* unchecked() {
    const onBad = (row: RejectedRow, reason: string) => badRows.add(row, reason);
    const batches = input.records(onBad, { onlyChecks: true });
    for await (const batch of searched?.watch(batches) ?? batches) {
      rows += batch.length;
      onProgress(rows);
      kept.push(...batch.slice(0, RECORDS_KEPT - kept.length));
      const some = suspects.of(batch);
      if (some.length > 0) yield some;
    }
  }
  const target = {
    upsertLines: (chunks: AsyncIterable<Uint8Array>) =>
      isNew ? check(chunks) : withoutProblemsOf(undecided, check(chunks)),
  };
  await upsertResumably(target, unchecked(), {
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
          'checked with the default limits: what depends on the database, such as its vectors, its columns and the ' +
            'records that it has, is checked by the import only',
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
  /** Rows that are being checked. */
  #rows: Row[] = [];
  #checked = 0;

  constructor(columns: number | undefined) {
    this.#mayExceedColumns = columns === undefined || columns > LIMITS.database_columns;
  }

  of(batch: readonly Row[]): Row[] {
    const rows = batch.filter(
      (row) =>
        !row.isOfColumns ||
        (row.maxBytes > SHORT_RECORD_BYTES && row.json.length > SHORT_RECORD_BYTES) ||
        this.#mayExceedColumns ||
        !this.#passed.has(row.names),
    );
    this.#rows.push(...rows);
    return rows;
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
