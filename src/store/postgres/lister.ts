import type { NativeQuery } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import type { StorePage, StoreQueryRequest } from '../record-store.js';
import { type Catalog, listColumnsOf, type ReadEntry } from './catalog.js';
import { countMatches, countVisible, whereSql } from './counts.js';
import { countGroups, distinctOf, groupSizes, groupSql } from './distinct-groups.js';
import {
  cellSql,
  ELEMENT,
  elementsSql,
  type Restriction,
  restrictionSql,
  type ValueSql,
} from './filter-sql.js';
import { MatchOrder } from './match-order.js';
import { type PageContent, pageRow, pageRows } from './page-rows.js';
import type { RecordReader } from './record-reader.js';
import { nativeRow, rowsOf } from './rows.js';
import { type Sql, Values } from './sql.js';
import { recordsOf } from './tables.js';
import { encodeText } from './text.js';
import type { SizedRow } from './whole-rows.js';

/** What the engine read of a filter-only request. */
interface QueryPlan {
  /** Records to read: those of the page, and those that its cursor may have to name. */
  fetch: number;
  sort: Sort;
  /** The records that the cursor names; null for a cursor that holds a position. */
  named: string[] | null;
  position: Position | null;
  start: number | null;
  end: number | null;
  total: boolean;
  facets: boolean;
  explain: boolean;
  /** Whether the response is a map, which needs the vectors of its records. */
  map: boolean;
  /** Whether results show their vectors. */
  vectors: boolean;
}

interface Sort {
  by: 'created' | 'changed' | 'synced' | 'column';
  column: string | null;
  descending: boolean;
}

/** Where a page begins. */
interface Position {
  kind: 'time' | ValueKind | 'missing';
  value: string | number | boolean | null;
  id: string;
  inclusive: boolean;
}

const VALUE_KINDS = ['boolean', 'number', 'string'] as const;
type ValueKind = (typeof VALUE_KINDS)[number];

/** Answers filter-only requests. */
export class Lister {
  readonly #reader: RecordReader;
  readonly #catalog: Catalog;
  readonly #maxBytes: number;

  /** `maxBytes` are those of the records of a page. */
  constructor(reader: RecordReader, catalog: Catalog, maxBytes: number) {
    this.#reader = reader;
    this.#catalog = catalog;
    this.#maxBytes = maxBytes;
  }

  async query(id: string, request: StoreQueryRequest, signal?: AbortSignal): Promise<StorePage> {
    const start = performance.now();
    const work = async (sql: Sql, entry: ReadEntry) => {
      const query = unwrap(this.#catalog.rulesOf(entry).query(JSON.stringify(request)));
      return await pageOf(sql, entry, request, query, this.#maxBytes);
    };
    const body = await this.#reader.read(id, work, signal);
    return { body, searchMs: performance.now() - start };
  }
}

async function pageOf(
  sql: Sql,
  entry: ReadEntry,
  request: StoreQueryRequest,
  query: NativeQuery,
  maxBytes: number,
): Promise<Uint8Array> {
  const began = performance.now();
  const plan = JSON.parse(query.plan()) as QueryPlan;
  const { filter, forced_filter } = request;
  const listColumns = listColumnsOf(entry);
  const { start, end } = plan;
  const restriction: Restriction = { listColumns, filter, forced_filter, start, end };
  const table = recordsOf(entry);
  const identity = new MatchOrder(request.form);
  const distinct = distinctOf(request.distinct);
  let position = plan.position;
  if (plan.named !== null) {
    const references = plan.named.map((named) => (request.form === 'uuid' ? { uuid: named } : { id: named }));
    const named = await rowsOf(sql, table, references);
    position = JSON.parse(unwrap(query.start(named.map(nativeRow)))) as Position | null;
  }
  const content: PageContent = {
    maxBytes,
    // The cursor of an order by a column names the values of the records after the page.
    following: plan.sort.by === 'column' ? plan.fetch - request.limit - 1 : 0,
    vectors: plan.map ? 'first' : plan.vectors ? 'all' : 'none',
    showsVectors: plan.vectors,
    kept: request.columns && {
      isNeeded:
        request.columns.length > 0 ||
        plan.explain ||
        plan.vectors ||
        plan.sort.by === 'column' ||
        distinct?.counts === true,
      of: (data) => query.keep(data),
    },
  };
  const rows: SizedRow[] = [];
  for (const part of partsAfter(position, plan.sort)) {
    if (rows.length >= plan.fetch) break;
    const values = new Values();
    const order = orderOf(plan.sort, listColumns, values);
    const from = `${table} ${order.join}`;
    const where = restrictionSql(restriction, values);
    const terms = [...order.terms, `${identity.column} ASC`].join(', ');
    const conditions =
      distinct === undefined ? where : [firstSql(from, groupSql(distinct.column, values), where, terms)];
    if (plan.map) conditions.push('exact IS NOT NULL');
    if (position !== null) conditions.push(afterSql(position, part, order, identity, values));
    const read = await sql.run<SizedRow>(
      `SELECT ${pageRow(content)} FROM ${from} ${whereSql(conditions)}
      ORDER BY ${terms}
      LIMIT ${values.bind(plan.fetch - rows.length)}::integer`,
      values.list,
    );
    rows.push(...read);
  }
  const facets = plan.facets ? { facets: request.facets ?? [], counter: query.facets() } : undefined;
  const where = (values: Values) => restrictionSql(restriction, values);
  const isCounted = plan.facets || plan.explain || (plan.total && distinct === undefined);
  const matches = isCounted ? await countMatches({ sql, table, where, facets }) : 0;
  const total = plan.total && distinct ? await countGroups(sql, table, distinct.column, where) : matches;
  const ids = rows.map(({ id }) => id);
  return unwrap(
    await query.page({
      rows: (await pageRows(sql, table, rows, content)).map(nativeRow),
      total: plan.total ? total : undefined,
      facets: facets && unwrap(facets.counter.finish()),
      groupSizes: distinct?.counts ? await groupSizes(sql, table, distinct.column, ids, where) : undefined,
      records: plan.explain ? await countVisible(sql, table, restriction) : 0,
      scored: matches,
      scanMs: performance.now() - began,
    }),
  );
}

/** The condition of the records that are the first ones of their groups, of those that meet the conditions. */
function firstSql(from: string, group: string, where: readonly string[], terms: string): string {
  return `id IN (SELECT DISTINCT ON (${group}) id FROM ${from} ${whereSql(where)} ORDER BY ${group}, ${terms})`;
}

/** The order of a listing without the identity, which comes last. */
interface Order {
  terms: string[];
  /** What is joined to the records; '' for nothing. */
  join: string;
  descending: boolean;
  time?: string;
  /** For a column: the place of a value's kind in the order, and the value if it has the kind. */
  rank?: string;
  valueSql?: (kind: ValueKind) => string;
  rankOf?: (kind: ValueKind | 'missing') => number;
}

function orderOf({ by, column, descending }: Sort, listColumns: ReadonlySet<string>, values: Values): Order {
  const direction = descending ? 'DESC' : 'ASC';
  if (by !== 'column') return { terms: [`${by} ${direction}`], join: '', descending, time: by };
  const kinds: readonly ValueKind[] = descending ? VALUE_KINDS.toReversed() : VALUE_KINDS;
  const rankOf = (kind: ValueKind | 'missing') =>
    kind === 'missing' ? VALUE_KINDS.length : kinds.indexOf(kind);
  const cases = VALUE_KINDS.map((kind) => `WHEN '${kind}' THEN ${rankOf(kind)}`);
  const orderBy = ({ json, text }: ValueSql) => {
    const type = `jsonb_typeof(${json})`;
    const casts: Record<ValueKind, string> = {
      boolean: `(${text})::boolean`,
      number: `(${text})::numeric`,
      string: `(${text}) COLLATE "C"`,
    };
    const rank = `CASE ${type} ${cases.join(' ')} ELSE ${rankOf('missing')} END`;
    const valueSql = (kind: ValueKind) => `CASE WHEN ${type} = '${kind}' THEN ${casts[kind]} END`;
    return {
      terms: [`${rank} ASC`, ...VALUE_KINDS.map((kind) => `${valueSql(kind)} ${direction}`)],
      rank,
      valueSql,
    };
  };
  const cell = cellSql(column as string, values);
  if (!listColumns.has(column as string)) return { ...orderBy(cell), join: '', descending, rankOf };
  // Of a list, the element counts that is the first one in the direction.
  const order = orderBy(ELEMENT);
  const join = `LEFT JOIN LATERAL (
    SELECT element FROM ${elementsSql(cell.json)} ORDER BY ${order.terms.join(', ')} LIMIT 1
  ) AS e ON true`;
  return { ...order, join, descending, rankOf };
}

/** The records after a position: those of the same time, those of other times, or all. */
type Part = 'same time' | 'other times' | 'all';

/**
 * The parts in which a page is read. In the default order, an index finds where each part begins, also among many records
 * of the same time; it would not for a condition about both.
 */
function partsAfter(position: Position | null, { by }: Sort): readonly Part[] {
  return position?.kind === 'time' && by === 'synced' ? ['same time', 'other times'] : ['all'];
}

/** The condition of a record in a part at or after a position. */
function afterSql(
  { kind, value, id, inclusive }: Position,
  part: Part,
  { descending, time, rank, valueSql, rankOf }: Order,
  identity: MatchOrder,
  values: Values,
): string {
  const beyond = descending ? '<' : '>';
  // A value is bound only where a statement uses it: PostgreSQL refuses others.
  const ties = () => identity.idSql(inclusive ? '>=' : '>', id, values);
  const within = (expression: string, type: string, bound: string | number | boolean) => {
    const limit = `${values.bind(bound)}::${type}`;
    if (part === 'same time') return `(${expression} = ${limit} AND ${ties()})`;
    if (part === 'other times') return `${expression} ${beyond} ${limit}`;
    return `(${expression} ${beyond} ${limit} OR (${expression} = ${limit} AND ${ties()}))`;
  };
  if (time !== undefined) {
    // A cursor of another order has no time: the page begins after all times or before them.
    if (kind !== 'time') return kind === 'missing' || !descending ? 'false' : 'true';
    return within(time, 'bigint', value as number);
  }
  if (rank === undefined || valueSql === undefined || rankOf === undefined) return 'true';
  // A cursor of an order by time.
  if (kind === 'time') return descending ? `${rank} = ${rankOf('missing')}` : 'true';
  const place = rankOf(kind);
  if (kind === 'missing') return `(${rank} = ${place} AND ${ties()})`;
  const types = { boolean: 'boolean', number: 'numeric', string: 'text' } as const;
  const bound = kind === 'string' ? encodeText(value as string) : (value as string | boolean);
  return `(${rank} > ${place} OR (${rank} = ${place} AND ${within(valueSql(kind), types[kind], bound)}))`;
}
