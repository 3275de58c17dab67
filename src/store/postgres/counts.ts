import type { Filter } from '../../schema/index.js';
import type { NativeFacets } from '../local/binding.js';
import { errorOf } from '../local/unwrap.js';
import { restrictionSql } from './filter-sql.js';
import { type Sql, Values } from './sql.js';
import { decodeText, encodeText } from './text.js';

/** Matches that are counted at a time. */
const CHUNK = 20_000;

/** Identities are not counted. */
const NO_UUID = '00000000-0000-0000-0000-000000000000';

/** Counts the records that meet the conditions, and adds them to `facets`. */
export async function countMatches(
  sql: Sql,
  table: string,
  where: (values: Values) => string[],
  facets: NativeFacets | undefined,
): Promise<number> {
  if (facets === undefined) {
    const values = new Values();
    const [row] = await sql.run<{ count: number }>(
      `SELECT count(*) AS count FROM ${table} ${whereSql(where(values))}`,
      values.list,
    );
    return row?.count ?? 0;
  }
  const columns = facets.columns();
  let count = 0;
  for (let last = 0; ; ) {
    const values = new Values();
    const cells = columns.map((column, at) => `, cells->${values.bind(encodeText(column))}::text AS c${at}`);
    const conditions = [...where(values), `id > ${values.bind(last)}::bigint`];
    const rows = await sql.run<MatchRow>(
      `SELECT id, created, changed, synced${cells.join('')} FROM ${table} ${whereSql(conditions)}
      ORDER BY id LIMIT ${CHUNK}`,
      values.list,
    );
    const failure = facets.add(rows.map((row) => ({ ...timesOf(row), data: dataOf(row, columns) })));
    if (failure !== null) throw errorOf(failure);
    count += rows.length;
    if (rows.length < CHUNK) return count;
    last = (rows.at(-1) as MatchRow).id;
  }
}

/** The number of records that exist for a caller. */
export async function countVisible(
  sql: Sql,
  table: string,
  forced_filter: Filter | undefined,
): Promise<number> {
  return await countMatches(sql, table, (values) => restrictionSql({ forced_filter }, values), undefined);
}

export function whereSql(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

interface MatchRow {
  id: number;
  created: number;
  changed: number;
  synced: number;
  [cell: `c${number}`]: unknown;
}

function timesOf({ id, created, changed, synced }: MatchRow) {
  return { id, uuid: NO_UUID, created, changed, synced };
}

/** The JSON of some columns of a record. */
function dataOf(row: MatchRow, columns: readonly string[]): string {
  const members = columns.flatMap((column, at) => {
    const value = row[`c${at}`];
    if (value === null) return [];
    return [
      `${JSON.stringify(column)}:${JSON.stringify(typeof value === 'string' ? decodeText(value) : value)}`,
    ];
  });
  return `{${members.join(',')}}`;
}
