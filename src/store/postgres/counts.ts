import type { Filter } from '../../schema/index.js';
import type { NativeFacets } from '../local/binding.js';
import { errorOf } from '../local/unwrap.js';
import { restrictionSql } from './filter-sql.js';
import { type Sql, Values } from './sql.js';
import { decodeJson, encodeText } from './text.js';

/** Groups of matches that are read at most. If there are more, the matches are read one by one. */
const MAX_GROUPS = 50_000;
/** Matches that are read at a time, one by one. */
const CHUNK = 20_000;

/** Identities are not counted. */
const NO_UUID = '00000000-0000-0000-0000-000000000000';

/** A facet as a request asks for it. */
interface Facet {
  time?: 'created' | 'changed' | 'synced' | undefined;
  interval?: string | number | undefined;
}

/** What the matches of a request are counted by. */
export interface CountedFacets {
  facets: readonly Facet[];
  counter: NativeFacets;
}

/** The matches that are counted. */
interface Matches {
  sql: Sql;
  /** The table of the records. */
  table: string;
  where: (values: Values) => string[];
  facets: CountedFacets | undefined;
  /** Records of which the conditions do not decide whether they are matches. */
  near?: NearMatches | undefined;
}

export interface NearMatches {
  /** The condition that a record is not one of them. */
  surelySql: (values: Values) => string;
  /** Those of them that are matches. */
  matching: (ids: readonly number[]) => Promise<ReadonlySet<number>>;
}

/** Matches that have the same values in what is counted. */
interface Group {
  count: number;
  id: number;
  /** The id of a near record; null for matches. */
  near: number | null;
  created: number;
  changed: number;
  synced: number;
  /** The JSON of a cell, null for none. */
  [cell: `c${number}`]: string | null;
}

/**
 * Counts the matches, and adds them to the facets. PostgreSQL counts equal matches, unless they have more than `maxGroups`
 * different values.
 */
export async function countMatches(matches: Matches, maxGroups = MAX_GROUPS): Promise<number> {
  const { sql, table, where, facets, near } = matches;
  if (facets === undefined && near === undefined) {
    const values = new Values();
    const [row] = await sql.run<{ count: number }>(
      `SELECT count(*) AS count FROM ${table} ${whereSql(where(values))}`,
      values.list,
    );
    return row?.count ?? 0;
  }
  const groups = await readGroups(matches, maxGroups + 1);
  if (groups.length <= maxGroups) return await addGroups(matches, groups);
  let count = 0;
  for (let last = 0; ; ) {
    const rows = await readSingly(matches, last);
    count += await addGroups(matches, rows);
    if (rows.length < CHUNK) return count;
    last = (rows.at(-1) as Group).id;
  }
}

/** The number of records that exist for a caller. */
export async function countVisible(
  sql: Sql,
  table: string,
  forced_filter: Filter | undefined,
): Promise<number> {
  const where = (values: Values) => restrictionSql({ forced_filter }, values);
  return await countMatches({ sql, table, where, facets: undefined });
}

export function whereSql(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

async function readGroups({ sql, table, where, facets, near }: Matches, limit: number): Promise<Group[]> {
  const values = new Values();
  const expressions = [...nearSql(near, values), ...cellsSql(facets, values)];
  // Places in the list of the statement: expressions with bound values are not recognised as equal.
  const grouped = expressions.map((_, at) => String(at + 1));
  const times: string[] = [];
  for (const [time, width] of widths(facets?.facets ?? [])) {
    times.push(`min(${time}) AS ${time}`);
    grouped.push(`(${time} + ${BEFORE_ALL}) / ${width}`);
  }
  return await sql.run<Group>(
    `SELECT ${[...expressions, ...times, 'count(*) AS count'].join(', ')} FROM ${table} ${whereSql(where(values))}
    ${grouped.length === 0 ? '' : `GROUP BY ${grouped.join(', ')}`} LIMIT ${limit}`,
    values.list,
  );
}

async function readSingly({ sql, table, where, facets, near }: Matches, last: number): Promise<Group[]> {
  const values = new Values();
  const expressions = [...nearSql(near, values), ...cellsSql(facets, values)];
  const conditions = [...where(values), `id > ${values.bind(last)}::bigint`];
  return await sql.run<Group>(
    `SELECT ${[...expressions, 'id', 'created', 'changed', 'synced', '1 AS count'].join(', ')} FROM ${table}
    ${whereSql(conditions)} ORDER BY id LIMIT ${CHUNK}`,
    values.list,
  );
}

async function addGroups({ facets, near }: Matches, groups: readonly Group[]): Promise<number> {
  const ids = groups.flatMap((group) => group.near ?? []);
  const matching = ids.length === 0 ? undefined : await near?.matching(ids);
  const counted = groups.filter((group) => typeof group.near !== 'number' || matching?.has(group.near));
  if (facets !== undefined) {
    const { counter } = facets;
    const columns = counter.columns();
    const rows = counted.map((group, at) => ({ ...rowOf(group, at), data: dataOf(group, columns) }));
    const failure = counter.add(
      rows,
      counted.map(({ count }) => count),
    );
    if (failure !== null) throw errorOf(failure);
  }
  return counted.reduce((sum, { count }) => sum + count, 0);
}

function nearSql(near: NearMatches | undefined, values: Values): string[] {
  return near === undefined ? [] : [`CASE WHEN ${near.surelySql(values)} THEN NULL ELSE id END AS near`];
}

function cellsSql(facets: CountedFacets | undefined, values: Values): string[] {
  const columns = facets?.counter.columns() ?? [];
  return columns.map((column, at) => `(cells->${values.bind(encodeText(column))}::text)::text AS c${at}`);
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Milliseconds from the start of year 0, which no time is before, to 1970. */
const BEFORE_ALL = 719_528 * DAY;

/** Milliseconds of the intervals that times are grouped by. Longer intervals consist of days. */
function widths(facets: readonly Facet[]): Map<string, number> {
  const widths = new Map<string, number>();
  for (const { time, interval } of facets) {
    if (time === undefined) continue;
    const width = interval === 'minute' ? 60_000 : interval === 'hour' ? HOUR : DAY;
    widths.set(time, Math.min(width, widths.get(time) ?? DAY));
  }
  return widths;
}

function rowOf({ created = 0, changed = 0, synced = 0 }: Partial<Group>, at: number) {
  return { id: at + 1, uuid: NO_UUID, created, changed, synced };
}

/** The JSON of the columns that are counted. */
function dataOf(group: Group, columns: readonly string[]): string {
  const members = columns.flatMap((column, at) => {
    const json = group[`c${at}`] as string | null;
    return json === null ? [] : [`${JSON.stringify(column)}:${decodeJson(json)}`];
  });
  return `{${members.join(',')}}`;
}
