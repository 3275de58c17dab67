import type { Passage, StoredRecord } from '../schema/public-types.js';
import { excerpt, sizeOf } from './excerpt.js';

/** Maximum number of characters of the records of a result. A result of MCP has them twice, as text and as structured content. */
export const BUDGET = 10_000;

/** Maximum numbers of characters of a value. The first with which all columns of a record fit into its share is taken. */
const MAX_LETTERS = 5_000;
const FEWER_LETTERS = [2_000, 1_000, 500, 200, 100, 50];

/** Characters of a record without its key and its data. */
const WITHOUT_DATA = 100;

/** A value of which a part is shown. */
export interface Cut {
  /** The column that has the value. */
  column: string;
  /** The character with which the part begins. The text of a list is its JSON. */
  start: number;
  /** The number of characters of the part. */
  shown: number;
  /** The number of characters of the whole. */
  of: number;
}

/** A record as a result for a language model shows it. */
export interface ShownRecord {
  /** Integer id of the record. */
  id: number;
  /** The key of the record, if it has one and there is room for it. */
  key?: string;
  /** The score of a search. */
  relevance_score?: number;
  /** The columns for which there is room. */
  data: Record<string, unknown>;
  /** The values of `data` that are shown in part. */
  cut?: Cut[];
  /** The number of columns that are not shown. */
  left_out?: number;
}

type GivenRecord = Pick<StoredRecord, 'id' | 'key'> & {
  data: object;
  relevance_score?: number;
  passage?: Passage;
};

/**
 * Returns the records in the form of results. With `taken`, the characters of the rest of the result, all of them together
 * have at most {@link BUDGET} characters, and each has the same share. `start` is where long values begin; by default, with
 * the passage that matches best.
 */
export function shownRecords(
  records: readonly GivenRecord[],
  { start, taken = 0 }: { start?: number; taken?: number } = {},
): ShownRecord[] {
  const share = Math.max(WITHOUT_DATA, Math.floor((BUDGET - taken) / Math.max(1, records.length)));
  return records.map((record) => {
    const columns = Object.entries(record.data);
    let shown = shownRecord(record, columns, { share, letters: MAX_LETTERS, start });
    for (const letters of FEWER_LETTERS) {
      if (shown.left_out === undefined) break;
      shown = shownRecord(record, columns, { share, letters, start });
    }
    return shown;
  });
}

export function areCut(records: readonly ShownRecord[]): boolean {
  return records.some(({ cut, left_out }) => cut !== undefined || left_out !== undefined);
}

/** Whether there is more of a record behind what is shown. */
export function haveMore(records: readonly ShownRecord[]): boolean {
  return records.some(
    ({ cut = [], left_out }) =>
      left_out !== undefined || cut.some(({ start, shown, of }) => start + shown < of),
  );
}

interface Extent {
  share: number;
  letters: number;
  start: number | undefined;
}

/** Shows the first columns of the record for which there is room. */
function shownRecord(
  { id, key, relevance_score, passage }: GivenRecord,
  columns: readonly [string, unknown][],
  { share, letters, start }: Extent,
): ShownRecord {
  const members = {
    id,
    ...(key !== undefined && sizeOf(key) <= share - WITHOUT_DATA && { key }),
    ...(relevance_score !== undefined && { relevance_score }),
  };
  const data: [string, unknown][] = [];
  const cut: Cut[] = [];
  let room = share - sizeOf({ ...members, data: {}, cut: [], left_out: columns.length });
  for (const [column, value] of columns) {
    // Short of the whole passage, its beginning is shown.
    const ofPassage = passage?.column === column && passage.end > letters ? passage.start : 0;
    const { value: part, ...extent } = shownPart(value, letters, start ?? ofPassage);
    const isCut = extent.shown < extent.of;
    room -= sizeOf(column) + sizeOf(part) + 2 + (isCut ? sizeOf({ column, ...extent }) + 1 : 0);
    if (room < 0) break;
    data.push([column, part]);
    if (isCut) cut.push({ column, ...extent });
  }
  const leftOut = columns.length - data.length;
  return {
    ...members,
    // A column may have the name `__proto__`.
    data: Object.fromEntries(data),
    ...(cut.length > 0 && { cut }),
    ...(leftOut > 0 && { left_out: leftOut }),
  };
}

/** Returns a part of a value, where the part begins, how many characters it has, and of how many. */
function shownPart(value: unknown, letters: number, start: number): { value: unknown } & Omit<Cut, 'column'> {
  const isText =
    typeof value === 'string' || (Array.isArray(value) && (start > 0 || sizeOf(value) > letters));
  if (!isText) return { value, start: 0, shown: 1, of: 1 };
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const part = excerpt(text, start, letters);
  return { value: part, start, shown: part.length, of: text.length };
}
