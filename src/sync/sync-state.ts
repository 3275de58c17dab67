import type { Bookmark, RefusedRow } from './source.js';

/** Bytes of the text of a state. The store takes twice as many. */
const MAX_BYTES = 1 << 19;

/** UTF-16 code units of the reason of a failure, or of a scan, that are kept. */
export const MAX_REASON = 1_000;

/** What a sync keeps in the store, in the same commit as the records that it describes. */
export interface StoredSync {
  /** Where the next round begins. */
  bookmark: Bookmark | null;
  /** Whether the next pass must read all rows, because one was interrupted or found that records are missing. */
  incomplete: boolean;
  /** Identifies the source, the names of its columns and its key. */
  source: string;
  /** The moment of the source that the records show, ISO 8601. */
  as_of: string;
  /** When all rows were read last, ISO 8601. */
  whole_at: string;
  /** The number of records after the pass. Another number tells that others have written or deleted records of the sync. */
  records: number;
  /** How many rows could not become records, and the first of them. */
  refused: { count: number; rows: readonly RefusedRow[] };
  /** How many records wait for a confirmation to be deleted. */
  withheld: number;
  /** Why passes scan the source, although it is to tell its changes. */
  by_scan?: string;
  /** Why no attempt has succeeded since. */
  failure?: StoredFailure;
}

/** Why the last attempt of a pass failed. Other processes show it. */
export interface StoredFailure {
  state: 'waiting' | 'failed';
  reason: string;
}

/** Returns the state after the last complete pass; null before the first. */
export function parseState(text: string | null): StoredSync | null {
  const stored = parse(text);
  return isStored(stored) ? stored : null;
}

export function parseFailure(text: string | null): StoredFailure | undefined {
  const failure = parse(text)?.failure;
  return typeof failure?.reason === 'string' ? failure : undefined;
}

/** Whether a state is one of a pass. A request may have stored any object. */
function isStored(state: Partial<StoredSync> | null): state is StoredSync {
  if (state === null) return false;
  const { bookmark, source, as_of, whole_at, records, refused, withheld } = state;
  return (
    typeof bookmark === 'object' &&
    typeof source === 'string' &&
    [as_of, whole_at].every((time) => Number.isFinite(Date.parse(String(time)))) &&
    [records, withheld, refused?.count].every((number) => Number.isSafeInteger(number)) &&
    Array.isArray(refused?.rows) &&
    refused.rows.every((row) => typeof row?.key === 'string' && typeof row.reason === 'string')
  );
}

/** The text of a state with a failure. */
export function withFailure(text: string | null, { state, reason }: StoredFailure): string {
  const failure = { state, reason: reason.slice(0, MAX_REASON).toWellFormed() };
  return JSON.stringify({ ...parse(text), failure });
}

function parse(text: string | null): Partial<StoredSync> | null {
  return text === null ? null : JSON.parse(text);
}

/** The text of a state. Leaves out refused rows where it would be too long. */
export function stateText(state: StoredSync): string {
  const text = JSON.stringify(state);
  const { count, rows } = state.refused;
  if (rows.length === 0 || Buffer.byteLength(text) <= MAX_BYTES) return text;
  return stateText({ ...state, refused: { count, rows: rows.slice(0, rows.length >> 1) } });
}
