import type { Limits } from '../../schema/index.js';
import type { EmbeddedVectors } from '../embedded-vectors.js';
import type { CommitResult, PreparedRecords, StoreSettings } from '../record-store.js';
import { type NativeRules, native, type Prepared } from './binding.js';
import { engineLimits } from './engine-limits.js';
import { unwrap } from './unwrap.js';

const NO_EPOCH = '0'.repeat(32);
const NEWLINE = 0x0a;

/** Checks records as a store does that writes them into a new database, and keeps only the names of their columns. */
export class RecordChecker {
  readonly #rules: NativeRules;
  readonly #columns = new Set<string>();
  readonly #mayExceedColumns: boolean;
  /** The batches of which a commit may refuse records. */
  readonly #suspects = new WeakSet<object>();

  readonly #shortBytes: number;

  /**
   * `columns` is the number of columns of all records, if it is known. A record of at most `shortBytes` has no more passages
   * than allowed.
   *
   * @throws {CosiftError} `invalid_request` for settings that no database can have.
   */
  constructor(
    settings: StoreSettings,
    limits: Limits,
    { columns, shortBytes }: { columns: number | undefined; shortBytes: number },
  ) {
    this.#rules = unwrap(native().makeRules('new', NO_EPOCH, JSON.stringify(settings), engineLimits(limits)));
    this.#shortBytes = shortBytes;
    this.#mayExceedColumns = columns === undefined || columns > limits.database_columns;
  }

  async prepareLines(_id: string, body: Uint8Array, firstLine: number): Promise<PreparedRecords> {
    const prepared = unwrap(await this.#rules.prepareLines(body, firstLine, false));
    const isLong = hasLongLine(body, this.#shortBytes);
    if (this.#mayExceedColumns || isLong) {
      this.#suspects.add(prepared);
      unwrap(await this.#rules.findTexts(prepared, []));
    }
    return prepared as PreparedRecords;
  }

  async commit(_id: string, records: PreparedRecords, embedded: EmbeddedVectors): Promise<CommitResult> {
    const prepared = records as Prepared;
    const now = Date.now();
    if (!this.#suspects.has(prepared)) {
      const nothing = { results: new Uint8Array(), changed: 0, unchanged: 0, problems: [] };
      return { ...nothing, at: now, created: prepared.records };
    }
    const commit = { nextId: 1, now, names: [...this.#columns], vectorType: 0 };
    const { committed, columns } = unwrap(await this.#rules.stage(prepared, [], embedded, commit));
    if (this.#mayExceedColumns) for (const { name } of columns) this.#columns.add(name);
    return committed as CommitResult;
  }
}

function hasLongLine(lines: Uint8Array, max: number): boolean {
  let start = 0;
  for (let end = lines.indexOf(NEWLINE); end >= 0; end = lines.indexOf(NEWLINE, start)) {
    if (end - start > max) return true;
    start = end + 1;
  }
  return lines.length - start > max;
}
