import type { Passage, StoredRecord } from '../schema/public-types.js';

/** Maximum number of characters of the records of a result. Texts and `structuredContent` have them, so twice as many arrive. */
export const BUDGET = 10_000;

/** Maximum numbers of characters of a value. The first with which a record fits into its share is taken. */
const LETTERS = [5_000, 2_000, 1_000, 500, 200, 100, 50];

/** A longer key takes the room of values. The id identifies the record, too. */
const MAX_KEY = 100;

/** Minimum number of characters of a column and its value. */
const MIN_COLUMN = 6;

/** A value of which a part is shown. */
interface Cut {
  column: string;
  /** How many characters, or elements of a list, are shown. */
  shown: number;
  of: number;
}

/** A record as a result shows it. */
export interface ShownRecord {
  data: Record<string, unknown>;
  cut?: Cut[];
  /** The number of columns that are not shown. */
  left_out?: number;
  [member: string]: unknown;
}

type GivenRecord = StoredRecord & { relevance_score?: number; passage?: Passage };

/**
 * Returns the records in the form of results. All of them together have at most {@link BUDGET} characters, and each has the
 * same share. `start` is where long texts begin; by default, with the passage that matches best.
 */
export function shownRecords(records: readonly GivenRecord[], start?: number): ShownRecord[] {
  const share = Math.floor(BUDGET / Math.max(1, records.length));
  return records.map((record) => {
    const columns = Object.keys(record.data).length;
    for (const letters of LETTERS) {
      if (letters > share || columns * MIN_COLUMN > share) continue;
      const shown = shownRecord(record, { letters, start });
      if (sizeOf(shown) <= share) return shown;
    }
    return withFewerColumns(record, share, start);
  });
}

export function areCut(records: readonly ShownRecord[]): boolean {
  return records.some(({ cut, left_out }) => cut !== undefined || left_out !== undefined);
}

export function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

interface Extent {
  letters: number;
  start: number | undefined;
}

function shownRecord(record: GivenRecord, extent: Extent): ShownRecord {
  const { id, key, relevance_score, passage } = record;
  const cut: Cut[] = [];
  const data = Object.entries(record.data).map(([column, value]): [string, unknown] => {
    const part = shownPart(value, { ...extent, start: startIn(column, extent, passage) });
    if (part.of !== part.shown) cut.push({ column, shown: part.shown, of: part.of });
    return [column, part.value];
  });
  return {
    id,
    ...(key !== undefined && key.length <= MAX_KEY && { key }),
    ...(relevance_score !== undefined && { relevance_score }),
    // A column may have the name `__proto__`.
    data: Object.fromEntries(data),
    ...(cut.length > 0 && { cut }),
  };
}

function startIn(column: string, { letters, start }: Extent, passage: Passage | undefined): number {
  if (start !== undefined) return start;
  // Short of the whole passage, its beginning is shown.
  return passage?.column === column && passage.end > letters ? passage.start : 0;
}

function shownPart(
  value: unknown,
  { letters, start }: { letters: number; start: number },
): { value: unknown; shown: number; of: number } {
  if (typeof value === 'string') {
    const part = value.slice(start, start + letters).toWellFormed();
    return { value: part, shown: part.length, of: value.length };
  }
  if (!Array.isArray(value)) return { value, shown: 1, of: 1 };
  let size = 0;
  const shown = value.findIndex((element) => {
    size += sizeOf(element);
    return size > letters;
  });
  return shown < 0
    ? { value, shown: value.length, of: value.length }
    : { value: value.slice(0, shown), shown, of: value.length };
}

/** Shows the first columns for which there is room. */
function withFewerColumns(record: GivenRecord, share: number, start: number | undefined): ShownRecord {
  const { data, cut = [], ...members } = shownRecord(record, { letters: LETTERS.at(-1) as number, start });
  const entries = Object.entries(data);
  const cutOf = new Map(cut.map((part) => [part.column, part]));
  let room = share - sizeOf({ ...members, data: {}, cut: [], left_out: entries.length });
  const shown = entries.findIndex(([column, value]) => {
    const part = cutOf.get(column);
    room -= sizeOf(column) + sizeOf(value) + 2 + (part === undefined ? 0 : sizeOf(part) + 1);
    return room < 0;
  });
  const kept = shown < 0 ? entries : entries.slice(0, shown);
  const keptCut = kept.flatMap(([column]) => cutOf.get(column) ?? []);
  return {
    ...members,
    data: Object.fromEntries(kept),
    ...(keptCut.length > 0 && { cut: keptCut }),
    left_out: entries.length - kept.length,
  };
}
