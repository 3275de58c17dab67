import type { NativeFailure, NativeKeptData } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import { type RecordRow, type RowVectors, SHORT_BYTES, WITHOUT_DATA } from './rows.js';
import type { Sql } from './sql.js';
import { type SizedRow, wholeRows } from './whole-rows.js';

/** What a page shows of its records. */
export interface PageContent {
  /** Bytes of the records of a page at most. The first record is shown even if it alone is longer. */
  maxBytes: number;
  /** Records after those of the page whose data its cursor may need. */
  following: number;
  /** Which vectors of its records the page needs: all, the first of each, or none. */
  vectors: 'all' | 'first' | 'none';
  /** Whether the page shows its vectors. */
  showsVectors: boolean;
  /** What the page keeps of the data of its records; undefined if it shows all columns. */
  kept?: KeptData | undefined;
}

export interface KeptData {
  /** Whether the page needs data at all, or all vectors, which are read with it. */
  isNeeded: boolean;
  of(data: string[]): NativeKeptData[] | NativeFailure;
}

/** Stored bytes of vectors for each byte on a page, at most: a component has four, and is written in two or more. */
const VECTOR_BYTES = 2;

/** The columns of a {@link SizedRow} of a page, which takes at least its bytes there. */
export function pageRow({ vectors, showsVectors }: PageContent): string {
  const shown = ['exact', 'passages'].map(
    (column) => ` + coalesce(octet_length(${column}), 0) / ${VECTOR_BYTES}`,
  );
  const bytes = `(octet_length(data)${showsVectors ? shown.join('') : ''})::bigint`;
  const short = (column: string) => `CASE WHEN ${bytes} <= ${SHORT_BYTES} THEN ${column} END AS ${column}`;
  const columns = [`${WITHOUT_DATA}, ${bytes} AS bytes`, short('data')];
  if (vectors !== 'none') columns.push('exact');
  if (vectors === 'all') columns.push(short('passages'));
  return columns.join(', ');
}

/**
 * Completes the records that a page has room for. The others have no data: the engine writes the data of each record as
 * it is stored, so it ends the page before them.
 */
export async function pageRows(
  sql: Sql,
  table: string,
  rows: readonly SizedRow[],
  content: PageContent,
): Promise<(RecordRow & RowVectors)[]> {
  if (content.kept !== undefined) return await keptRows(sql, table, rows, content, content.kept);
  let count = 0;
  for (let room = content.maxBytes; count < rows.length && room >= 0; count += 1) {
    room -= (rows[count] as SizedRow).bytes;
  }
  const end = count + content.following;
  const complete: (RecordRow & RowVectors)[] = [];
  for await (const part of wholeRows(sql, table, rows.slice(0, end), content.vectors === 'all'))
    complete.push(...part);
  return [...complete, ...rows.slice(end).map(withoutData)];
}

/** Leaves only what is kept in the data of the records that the page has room for. */
async function keptRows(
  sql: Sql,
  table: string,
  rows: readonly SizedRow[],
  { maxBytes, following, vectors, showsVectors }: PageContent,
  { isNeeded, of }: KeptData,
): Promise<(RecordRow & RowVectors)[]> {
  if (!isNeeded) return rows.map(withoutData);
  const complete: (RecordRow & RowVectors)[] = [];
  let room = maxBytes;
  let after = following;
  for await (const part of wholeRows(sql, table, rows, vectors === 'all')) {
    const kept = unwrap(of(part.map(({ data }) => data)));
    for (const [at, { data, shownBytes }] of kept.entries()) {
      if (room < 0 && after === 0) break;
      if (room < 0) after -= 1;
      const row = { ...(rows[complete.length] as SizedRow), ...part[at], data };
      complete.push(row);
      room -= shownBytes;
      if (showsVectors) room -= ((row.exact?.length ?? 0) + (row.passages?.length ?? 0)) / VECTOR_BYTES;
    }
    if (room < 0 && after === 0) break;
  }
  return [...complete, ...rows.slice(complete.length).map(withoutData)];
}

function withoutData(row: SizedRow): RecordRow & RowVectors {
  return { ...row, passages: null, data: '{}' };
}
