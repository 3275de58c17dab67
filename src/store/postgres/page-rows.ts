import { type RecordRow, type RowVectors, SHORT_BYTES, WITHOUT_DATA } from './rows.js';
import type { Sql } from './sql.js';
import { type SizedRow, wholeRows } from './whole-rows.js';

/** What a page shows of its records. */
export interface PageContent {
  /** Bytes of the records of a page at most. The first record is shown even if it alone is longer. */
  maxBytes: number;
  /** Records after those of the page whose data its cursor may need. */
  following: number;
  /** Whether the page needs the vectors of its records. */
  vectors: boolean;
  /** The columns that a map shows; undefined for a page of records. */
  mapColumns?: readonly string[] | undefined;
}

/** The columns of a {@link SizedRow} of a page, whose bytes are those of its data. */
export function pageRow({ vectors, mapColumns }: PageContent): string {
  const short = (column: string) =>
    `CASE WHEN octet_length(data) <= ${SHORT_BYTES} THEN ${column} END AS ${column}`;
  const columns = [`${WITHOUT_DATA}, octet_length(data)::bigint AS bytes`, short('data')];
  if (vectors) columns.push('exact');
  if (vectors && mapColumns === undefined) columns.push(short('passages'));
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
  if (content.mapColumns !== undefined) return await mapRows(sql, table, rows, content, content.mapColumns);
  let count = 0;
  for (let room = content.maxBytes; count < rows.length && room >= 0; count += 1) {
    room -= (rows[count] as SizedRow).bytes;
  }
  const end = count + content.following;
  const complete: (RecordRow & RowVectors)[] = [];
  for await (const part of wholeRows(sql, table, rows.slice(0, end), content.vectors)) complete.push(...part);
  return [...complete, ...rows.slice(end).map(withoutData)];
}

/** Leaves only the columns of a map in the data of the records that the map has room for. */
async function mapRows(
  sql: Sql,
  table: string,
  rows: readonly SizedRow[],
  { maxBytes }: PageContent,
  columns: readonly string[],
): Promise<(RecordRow & RowVectors)[]> {
  if (columns.length === 0) return rows.map(withoutData);
  const complete: (RecordRow & RowVectors)[] = [];
  let room = maxBytes;
  for await (const part of wholeRows(sql, table, rows, false)) {
    for (const { data } of part) {
      const row = rows[complete.length] as SizedRow;
      if (room < 0) {
        complete.push(withoutData(row));
        continue;
      }
      const cells = Object.entries(JSON.parse(data) as object).filter(([name]) => columns.includes(name));
      // The engine may write a number in fewer characters, but not a text.
      for (const [, value] of cells) room -= typeof value === 'string' ? Buffer.byteLength(value) : 0;
      complete.push({ ...row, data: JSON.stringify(Object.fromEntries(cells)) });
    }
    if (room < 0) break;
  }
  return [...complete, ...rows.slice(complete.length).map(withoutData)];
}

function withoutData(row: SizedRow): RecordRow & RowVectors {
  return { ...row, passages: null, data: '{}' };
}
