import { setImmediate } from 'node:timers/promises';
import { FairLimiter } from '../../async/fair-limiter.js';
import type { NativeFacets } from '../local/binding.js';
import { errorOf } from '../local/unwrap.js';
import { type Restriction, restrictionSql } from './filter-sql.js';
import { type Sql, Values } from './sql.js';
import { decodeJson, encodeText } from './text.js';

/** Groups of matches that are read at once. If there are more, they are read in parts. */
const MAX_GROUPS = 1_000;
/** Bytes of a value that is read at once. */
const MAX_BYTES = 1_000;
/** Stands for a longer value. It is no JSON. */
const LONG = '';
/** Groups of a part, by the bytes that each of those before had on average. */
const PARTS = [
  { upTo: 1_000, groups: 100 },
  { upTo: 20_000, groups: 10 },
  { upTo: Number.POSITIVE_INFINITY, groups: 1 },
];

/** One part is added at a time, so that other requests are served in between. */
const adding = new FairLimiter({ total: 1, perCaller: 1, waiting: Number.POSITIVE_INFINITY });

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

interface Matches {
  sql: Sql;
  table: string;
  where: (values: Values) => string[];
  facets: CountedFacets | undefined;
  /** Records of which the conditions do not decide whether they are matches. */
  undecided?: UndecidedMatches | undefined;
}

export interface UndecidedMatches {
  /** The condition that a record is not one of them. */
  decidedSql: (values: Values) => string;
  /** Those of them that are matches. */
  matching: (ids: readonly number[]) => Promise<ReadonlySet<number>>;
}

/** Matches that have the same values in what is counted. */
interface Group {
  count: number;
  /** The id of an undecided record; null for matches. */
  undecided: number | null;
  created: number;
  changed: number;
  synced: number;
  /** The JSON of a cell, null for none. */
  [cell: `c${number}`]: string | null;
}

/**
 * Counts the matches, and adds them to the facets. PostgreSQL counts equal matches. If they have more than `maxGroups`
 * different values, or long ones, it sends them in parts.
 */
export async function countMatches(matches: Matches, maxGroups = MAX_GROUPS): Promise<number> {
  const { sql, table, where, facets, undecided } = matches;
  if (facets === undefined && undecided === undefined) {
    const values = new Values();
    const [row] = await sql.run<{ count: number }>(
      `SELECT count(*) AS count FROM ${table} ${whereSql(where(values))}`,
      values.list,
    );
    return row?.count ?? 0;
  }
  const { text, values, cells } = groupsSql(matches, shortSql);
  const groups = await sql.run<Group>(`${text} LIMIT ${maxGroups + 1}`, values);
  const isWhole = groups.every((group) => cells.every((cell) => group[cell] !== LONG));
  if (groups.length <= maxGroups && isWhole) return await addGroups(matches, groups);
  return await addInParts(matches);
}

/** The number of records that exist for a caller. */
export async function countVisible(
  sql: Sql,
  table: string,
  { listColumns, forced_filter }: Restriction,
): Promise<number> {
  const where = (values: Values) => restrictionSql({ listColumns, forced_filter }, values);
  return await countMatches({ sql, table, where, facets: undefined });
}

export function whereSql(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

/** The value of a cell, unless it is long. */
function shortSql(cell: string): string {
  return `CASE WHEN octet_length(${cell}) > ${MAX_BYTES} THEN '${LONG}' ELSE ${cell} END`;
}

/** A statement that finds the groups, with the names of its cells. `shape` is different for statements with other members. */
function groupsSql({ table, where, facets, undecided }: Matches, cellSql: (cell: string) => string) {
  const values = new Values();
  const columns = facets?.counter.columns() ?? [];
  const cells = columns.map((_, at) => `c${at}` as const);
  const expressions = [
    ...undecidedSql(undecided, values),
    ...columns.map((column, at) => {
      const cell = `(cells->${values.bind(encodeText(column))}::text)::text`;
      return `${cellSql(cell)} AS ${cells[at]}`;
    }),
  ];
  // Places in the list of the statement: expressions with bound values are not recognised as equal.
  const grouped = expressions.map((_, at) => String(at + 1));
  const times: string[] = [];
  const timesOfFacets = widths(facets?.facets ?? []);
  for (const [time, width] of timesOfFacets) {
    times.push(`min(${time}) AS ${time}`);
    grouped.push(`(${time} + ${BEFORE_ALL}) / ${width}`);
  }
  const text = `SELECT ${[...expressions, ...times, 'count(*) AS count'].join(', ')} FROM ${table}
    ${whereSql(where(values))} ${grouped.length === 0 ? '' : `GROUP BY ${grouped.join(', ')}`}`;
  const shape = [undecided === undefined ? 'all' : 'some', cells.length, ...timesOfFacets.keys()].join('_');
  return { text, values: values.list, cells, shape };
}

/** Adds the groups in parts that take little time and memory each, however many or long they are. */
async function addInParts(matches: Matches): Promise<number> {
  const { sql } = matches;
  const { text, values, cells, shape } = groupsSql(matches, (cell) => cell);
  // The driver prepares statements by their texts, and a prepared one always has the same columns.
  const cursor = `groups_${shape}`;
  await sql.run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`, values);
  let count = 0;
  for (let size = 1; ; ) {
    const groups = await sql.run<Group>(`FETCH ${size} FROM ${cursor}`);
    count += await addGroups(matches, groups);
    if (groups.length < size) break;
    const bytes = groups.reduce(
      (sum, group) => sum + cells.reduce((own, cell) => own + (group[cell]?.length ?? 0), 0),
      0,
    );
    size = PARTS.find(({ upTo }) => bytes / groups.length <= upTo)?.groups ?? 1;
  }
  await sql.run(`CLOSE ${cursor}`);
  return count;
}

async function addGroups({ facets, undecided }: Matches, groups: readonly Group[]): Promise<number> {
  const ids = groups.flatMap((group) => group.undecided ?? []);
  const matching = ids.length === 0 ? undefined : await undecided?.matching(ids);
  const counted = groups.filter(
    (group) => typeof group.undecided !== 'number' || matching?.has(group.undecided),
  );
  if (facets !== undefined) {
    await adding.run('', async () => {
      await setImmediate();
      addTo(facets, counted);
    });
  }
  return counted.reduce((sum, { count }) => sum + count, 0);
}

function addTo({ counter }: CountedFacets, groups: readonly Group[]): void {
  const columns = counter.columns();
  const rows = groups.map((group, at) => ({ ...rowOf(group, at), data: dataOf(group, columns) }));
  const failure = counter.add(
    rows,
    groups.map(({ count }) => count),
  );
  if (failure !== null) throw errorOf(failure);
}

function undecidedSql(undecided: UndecidedMatches | undefined, values: Values): string[] {
  return undecided === undefined
    ? []
    : [`CASE WHEN ${undecided.decidedSql(values)} THEN NULL ELSE id END AS undecided`];
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
