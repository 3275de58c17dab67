import { type RecordRow, ROW, type RowVectors, SHORT_BYTES, VECTORS, WITHOUT_DATA } from './rows.js';
import { arrayOf, type Sql } from './sql.js';

/** Bytes of records that are in memory at a time, besides those of one record. */
const PART_BYTES = 2 << 20;

/** The columns of a {@link SizedRow}. PostgreSQL knows the bytes of a record without reading it. */
export function sizedRow(vectors: boolean): string {
  const columns = vectors ? ['data', 'exact', 'passages'] : ['data'];
  const bytes = `(${columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')})::bigint`;
  const short = columns.map(
    (column) => `CASE WHEN ${bytes} <= ${SHORT_BYTES} THEN ${column} END AS ${column}`,
  );
  return `${WITHOUT_DATA}, ${bytes} AS bytes, ${short.join(', ')}`;
}

/** A record whose content is read with it only if it is short. */
export type SizedRow = Omit<RecordRow, 'data'> & RowVectors & { data: string | null; bytes: number };

/** The records in their order, in parts that take little memory each. */
export async function* wholeRows(
  sql: Sql,
  table: string,
  rows: readonly SizedRow[],
  vectors: boolean,
): AsyncGenerator<(RecordRow & RowVectors)[], void, undefined> {
  for (const part of partsOf(rows)) {
    const ids = part.filter(({ data }) => data === null).map(({ id }) => id);
    const long =
      ids.length === 0
        ? []
        : await sql.run<RecordRow & RowVectors>(
            `SELECT ${ROW}${vectors ? `, ${VECTORS}` : ''} FROM ${table} WHERE id = ANY($1::bigint[])`,
            [arrayOf(ids)],
          );
    const wholes = new Map(long.map((row) => [row.id, row]));
    yield part.map((row) => wholes.get(row.id) ?? (row as RecordRow & RowVectors));
  }
}

/** Splits what has a size into parts that take little memory each. */
export function partsOf<Row extends { bytes: number }>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = [];
  let room = 0;
  for (const row of rows) {
    if (parts.length === 0 || row.bytes > room) {
      parts.push([]);
      room = PART_BYTES;
    }
    parts.at(-1)?.push(row);
    room -= row.bytes;
  }
  return parts;
}
