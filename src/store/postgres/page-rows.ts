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
  /** What the page keeps of the data of its records; undefined if it shows all columns. */
  kept?: KeptData | undefined;
}

export interface KeptData {
  /** Whether the page needs data at all, or all vectors, which are read with it. */
  isNeeded: boolean;
  of(data: string[]): NativeKeptData[] | NativeFailure;
}

/** The columns of a {@link SizedRow} of a page, whose bytes are those of its data. */
export function pageRow({ vectors }: PageContent): string {
  const short = (column: string) =>
    `CASE WHEN octet_length(data) <= ${SHORT_BYTES} THEN ${column} END AS ${column}`;
  const columns = [`${WITHOUT_DATA}, octet_length(data)::bigint AS bytes`, short('data')];
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
  { maxBytes, following, vectors }: PageContent,
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
      complete.push({ ...(rows[complete.length] as SizedRow), ...part[at], data });
      room -= shownBytes;
    }
    if (room < 0 && after === 0) break;
  }
  return [...complete, ...rows.slice(complete.length).map(withoutData)];
}

function withoutData(row: SizedRow): RecordRow & RowVectors {
  return { ...row, passages: null, data: '{}' };
}
