import type { Cell, Value } from './cells.js';

/**
 * The row as the file has it, without the end of the line; for Parquet as JSON; bytes if they are no text; empty if they
 * were not kept because the row is too long. A function, because most rows are stored and their text is not needed.
 */
export type RawText = () => string | Uint8Array;

/** A row that is not stored. `names` are those of its columns, if they could be read. */
export type RejectedRow = RowPosition & { raw: RawText; names?: readonly string[] };

/** Where a row is in a file. */
export interface RowPosition {
  /** The line on which the row begins; for Parquet the number of the row. Counted from 1. */
  line: number;
  /** The number of the row among those that begin on the line, where several may begin on one. Counted from 1. */
  record?: number | undefined;
}

export function comparePositions(a: RowPosition, b: RowPosition): number {
  return a.line - b.line || (a.record ?? 1) - (b.record ?? 1);
}

/** Names a position for the user. The line alone is the first record on it. */
export function nameOfPosition({ line, record = 1 }: RowPosition, unit: string): string {
  return record === 1 ? `${unit} ${line}` : `record ${record} on ${unit} ${line}`;
}

export interface SourceRow extends RowPosition {
  /** The names of the columns, in the order of the row. */
  names: readonly string[];
  cells: readonly Cell[];
  /** The members beside `data` as JSON, for a row that is a record with `data`. */
  members?: ReadonlyMap<string, string> | undefined;
  /** The members that no record has, for a row that would be a record without them. */
  unknownMembers?: readonly string[] | undefined;
  /** The list `vector` of a row without `members`, as JSON. */
  vector?: string | undefined;
  /** The fingerprint of the model that made `vector`, for a row without `members`. */
  embeddedBy?: string | undefined;
  raw: RawText;
}

/** A row that is not a record. */
export interface BrokenRow extends RowPosition {
  raw: RawText;
  /** Why the row is not a record, for the user. */
  reason: string;
  /** The columns, and their values that can be stored, of a row of which only some cannot. */
  names?: readonly string[];
  cells?: readonly Cell[];
}

export type ReadRow = SourceRow | BrokenRow;

/** A record to send. */
export interface Row extends RowPosition {
  /** A line of NDJSON with its line end. */
  readonly json: Uint8Array;
  /** The bytes that `json` has at most. */
  maxBytes: number;
  names: readonly string[];
  /** The values of these columns; null also for a column that only identifies the record. */
  values: readonly Value[];
  /** Whether its members are made from columns, and not those of the file. */
  isOfColumns: boolean;
  raw: RawText;
}

/** A row that cannot be stored. The message is for the user. */
export class BadRow extends Error {}

/** Called for a row that is not stored. */
export type OnBadRow = (row: RejectedRow, reason: string) => void;

export function isBroken(row: ReadRow): row is BrokenRow {
  return 'reason' in row;
}
