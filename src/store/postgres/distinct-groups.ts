import { whereSql } from './counts.js';
import { arrayOf, namedSql, type Sql, Values } from './sql.js';
import { encodeText } from './text.js';

/** Longer values are compared by their hashes. */
const MAX_BYTES = 64;
/** Records whose groups are read at a time. */
const READ_AT_ONCE = 10_000;

/** The column whose values are distinct, and whether results show how many matches have their value. */
export interface Distinct {
  column: string;
  counts: boolean;
}

/** Reads `distinct` of a request that the engine accepted. */
export function distinctOf(
  distinct: string | { column: string; counts?: boolean | undefined } | undefined,
): Distinct | undefined {
  if (distinct === undefined) return undefined;
  return typeof distinct === 'string'
    ? { column: distinct, counts: false }
    : { column: distinct.column, counts: distinct.counts === true };
}

/** A text that is the same for records with an equal value in a column, and another one for each record without a value. */
export function groupSql(column: string, values: Values): string {
  // JSON never begins with `~` or `#`.
  const cell = `nullif((cells->${values.bind(encodeText(column))}::text)::text, 'null')`;
  const hash = `'~' || encode(sha256(convert_to(${cell}, 'UTF8')), 'hex')`;
  return `coalesce(CASE WHEN octet_length(${cell}) > ${MAX_BYTES} THEN ${hash} ELSE ${cell} END, '#' || id)`;
}

/** The groups of some records, by id. */
export async function groupsOf(
  sql: Sql,
  table: string,
  column: string,
  ids: readonly number[],
): Promise<Map<number, string>> {
  const groups = new Map<number, string>();
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    const values = new Values();
    const rows = await sql.run<{ id: number; value: string }>(
      `SELECT id, ${groupSql(column, values)} AS value FROM ${table}
      WHERE ${namedSql(ids.slice(at, at + READ_AT_ONCE), values)}`,
      values.list,
    );
    for (const { id, value } of rows) groups.set(id, value);
  }
  return groups;
}

/** The number of groups of the records that meet the conditions. */
export async function countGroups(
  sql: Sql,
  from: string,
  column: string,
  where: (values: Values) => string[],
): Promise<number> {
  const values = new Values();
  const [row] = await sql.run<{ count: number }>(
    `SELECT count(DISTINCT ${groupSql(column, values)}) AS count FROM ${from} ${whereSql(where(values))}`,
    values.list,
  );
  return row?.count ?? 0;
}

/** For each of the records, how many of those that meet the conditions are of its group. */
export async function groupSizes(
  sql: Sql,
  table: string,
  column: string,
  ids: readonly number[],
  where: (values: Values) => string[],
): Promise<number[]> {
  const groups = await groupsOf(sql, table, column, ids);
  const values = new Values();
  const group = groupSql(column, values);
  const named = `${group} = ANY(${values.bind(arrayOf([...groups.values()]))}::text[])`;
  const rows = await sql.run<{ value: string; count: number }>(
    `SELECT ${group} AS value, count(*) AS count FROM ${table} ${whereSql([...where(values), named])} GROUP BY 1`,
    values.list,
  );
  const sizes = new Map(rows.map(({ value, count }) => [value, count]));
  return ids.map((id) => sizes.get(groups.get(id) as string) ?? 1);
}
