import type { Data } from '../schema/public-types.js';

/** What a source needs to continue: a JSON object of a few kilobytes. */
export type Bookmark = Readonly<Record<string, unknown>>;

/** A row of a source. `key` is unique within the source. Times are ISO 8601 with an offset. */
export interface SourceRow {
  key: string;
  data: Data;
  created?: string | undefined;
  changed?: string | undefined;
}

/** A row that cannot become a record. */
export interface RefusedRow {
  key: string;
  reason: string;
}

export interface SourceBatch {
  rows: readonly SourceRow[];
  refused?: readonly RefusedRow[];
  /** Keys without a row. Only in rounds of the kinds `changes` and `keys`. */
  gone?: readonly string[];
}

/** What a source says about itself: to show it before a sync, and to see that it is still the same. */
export interface SourceShape {
  /** Differs for another server, another file, and the same one after it was restored. */
  identity: string;
  columns: readonly { name: string; type: string }[];
  /** The columns of the key. */
  key: readonly string[];
  /** Hazards that were found. */
  notices: readonly string[];
}

/** What a source has at one moment, or what changed until then. It is read once. */
export interface Round {
  /**
   * `complete`: every row, so that all others are gone. `changes`: the rows that changed since the bookmark, and keys
   * that are gone. `keys`: the changed rows, and then the keys of all rows.
   */
  kind: 'complete' | 'changes' | 'keys';
  /** The moment of the snapshot, or the last one before its rows are read. */
  readAt: Date;
  /** The number of rows to expect, if it is known. */
  total?: number | undefined;
  /** Up to 1,000 rows each. An error means that the round is incomplete, so that nothing is deleted. */
  batches: AsyncIterable<SourceBatch>;
  /** The keys of all rows, in ascending order of their bytes in UTF-8. Read after `batches`, in rounds of the kind `keys`. */
  keys?: AsyncIterable<readonly string[]> | undefined;
  /**
   * The number of keys, in rounds of the kind `keys`. If as many keys are known after `batches`, they are the same, because
   * every new row was in a batch, and `keys` need not be read.
   */
  count?: (() => number) | undefined;
  /** Where the next round begins. Called after the round was read to its end. */
  bookmark(): Bookmark | null;
  /** Ends the round, also one that was not read to its end. */
  close(): Promise<void>;
}

/**
 * Where rows come from. Its calls are made one after the other. They fail with `source_unavailable` where it may
 * work soon, such as after a lost connection, and with `source_failed` where somebody must do something, which the detail names.
 * Errors have no secrets, such as a URL with a password.
 */
export interface SyncSource {
  shape(signal: AbortSignal): Promise<SourceShape>;
  /**
   * Begins a round. `whole` asks for every row: the kind `complete`, or `keys` with all rows in its batches, whatever `bookmark`
   * says; the source may compare its columns with it. Resolves with null when nothing has changed since `bookmark`, which happens
   * only without `whole`.
   */
  round(bookmark: Bookmark | null, whole: boolean, signal: AbortSignal): Promise<Round | null>;
  /** Whether a round may find changes since the last one. Sources without it are asked for rounds only. */
  readonly hasChanged?: (signal: AbortSignal) => Promise<boolean>;
  /** Why rounds read all rows, although the definition asks for more: shown until it ends. */
  readonly byScan?: string | undefined;
  /** Removes what the source made at its server. */
  forget?(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * The key of a row: the values of its key columns, joined by `/`. In a value, `%`, `/` and control characters are
 * percent-encoded, so that different rows have different keys.
 */
export function keyOf(parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll(ENCODED, encodeURIComponent)).join('/');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds.
const ENCODED = /[%/\u0000-\u001f\u007f-\u009f]/g;
