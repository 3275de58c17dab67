import { countGroups, type Distinct, groupSql, groupsOf } from './distinct-groups.js';
import { restrictionSql } from './filter-sql.js';
import type { Match } from './match-order.js';
import type { MovedCursor } from './match-scan.js';
import type { RecordTables } from './schema.js';
import { leastCosine, MAX_STEPS, publishedSteps, ROUNDING_STEPS, STEP } from './scores.js';
import type { SearchContext } from './search-context.js';
import { arrayOf, Values } from './sql.js';

/** Groups that are read beyond those of the page. */
const SPARE = 16;
/** The first match of a group, and the number of its matches. */
export interface DistinctMatch extends Match {
  size: number;
}

/** A group that a statement found. */
interface Group {
  value: string;
  /** The largest score in single precision. */
  s: number;
  size: number;
}

/**
 * Finds the first match of each group. PostgreSQL finds the groups by their largest scores in single precision; the matches
 * of a group that may be its first one are scored exactly.
 */
export class DistinctMatches {
  readonly #context: SearchContext;
  readonly #distinct: Distinct;
  readonly #vector: Uint8Array;
  readonly #from: string;
  readonly #hasPassages: boolean;
  /** Matches whose scores in single precision are too near to the threshold to tell that they reach it. */
  #undecided: readonly number[] = [];

  /** `vector` is the query in the binary form of pgvector. */
  constructor(
    context: SearchContext,
    distinct: Distinct,
    { tables, hasPassages, vector }: { tables: RecordTables; hasPassages: boolean; vector: Uint8Array },
  ) {
    this.#context = context;
    this.#distinct = distinct;
    this.#vector = vector;
    this.#hasPassages = hasPassages;
    const { records, passages } = tables;
    this.#from = hasPassages ? `${records} LEFT JOIN ${passages} ON record = id` : records;
  }

  /** The first results after a cursor in order, and the number of all if it is wanted. */
  async page(
    threshold: number,
    cursor: MovedCursor | null,
    need: number,
    total: boolean,
  ): Promise<{ matches: DistinctMatch[]; total: number }> {
    if (threshold > 0) this.#undecided = await this.#decide(threshold);
    const isScored = cursor?.score !== 0;
    const matches = isScored ? await this.#scored(threshold, cursor, need) : [];
    if (matches.length < need && threshold === 0) {
      const after = isScored ? undefined : cursor.id;
      matches.push(...(await this.#unscored(after, need - matches.length)));
    }
    const { sql } = this.#context;
    const where = (values: Values) => this.#matchSql(threshold, values);
    return { matches, total: total ? await countGroups(sql, this.#from, this.#distinct.column, where) : 0 };
  }

  /** The first of all matches of a search, which are in order, by group. */
  async firstOf(matches: readonly Match[]): Promise<DistinctMatch[]> {
    const { sql, table } = this.#context;
    const ids = matches.map(({ id }) => id);
    const groups = await groupsOf(sql, table, this.#distinct.column, ids);
    const first = new Map<string, DistinctMatch>();
    for (const match of matches) {
      const group = groups.get(match.id) as string;
      const found = first.get(group);
      if (found === undefined) first.set(group, { ...match, size: 1 });
      else found.size += 1;
    }
    return [...first.values()];
  }

  /** The records whose scores in single precision do not tell whether they reach the threshold, and that reach it. */
  async #decide(threshold: number): Promise<number[]> {
    const { sql, scores, margin } = this.#context;
    const values = new Values();
    const s = this.#scoreSql(values);
    const conditions = [
      ...this.#restrictedSql(values),
      `${s} >= ${values.bind(leastCosine(threshold) - margin)}::float8`,
    ];
    const rows = await sql.run<{ id: number }>(
      `SELECT id FROM ${this.#from} WHERE ${conditions.join(' AND ')}
      GROUP BY id HAVING max(${s}) <= ${values.bind(leastCosine(threshold) + margin)}::float8`,
      values.list,
    );
    const ids = rows.map(({ id }) => id);
    const exact = await scores.ofIds(ids);
    return ids.filter((_, at) => (exact[at] as number) >= threshold);
  }

  /** The first results after a cursor whose score is above 0. */
  async #scored(threshold: number, cursor: MovedCursor | null, need: number): Promise<DistinctMatch[]> {
    const { order, margin } = this.#context;
    const least = Math.max(threshold, 1);
    for (let size = need + SPARE; ; size *= 8) {
      const groups = await this.#groups(threshold, cursor, size);
      const found = (await this.#firsts(threshold, groups)).filter(
        (match) => match.score >= least && (cursor === null || order.isAfter(match, cursor)),
      );
      found.sort((a, b) => order.compare(a, b));
      const end = groups.length < size ? undefined : groups.at(-1);
      // No group that was not read has a higher score.
      const bound = end === undefined ? -1 : publishedSteps(end.s + margin) + 1;
      const last = found[need - 1];
      if (bound < least || (last !== undefined && bound < last.score)) return found.slice(0, need);
    }
  }

  /** The first groups in the order of their largest scores, from that of a cursor on. */
  async #groups(threshold: number, cursor: MovedCursor | null, size: number): Promise<Group[]> {
    const { sql, margin } = this.#context;
    const values = new Values();
    const group = groupSql(this.#distinct.column, values);
    const s = `max(${this.#scoreSql(values)})`;
    const range = [`${s} >= ${values.bind(leastCosine(Math.max(threshold, 1)) - margin)}::float8`];
    if (cursor !== null && cursor.score !== MAX_STEPS) {
      range.push(`${s} <= ${values.bind((cursor.score + 0.5) * STEP + margin)}::float8`);
    }
    return await sql.run<Group>(
      `SELECT ${group} AS value, ${s} AS s, ${this.#sizeSql} AS size FROM ${this.#from}
      WHERE ${this.#matchSql(threshold, values).join(' AND ')} GROUP BY 1 HAVING ${range.join(' AND ')}
      ORDER BY 2 DESC LIMIT ${values.bind(size)}::integer`,
      values.list,
    );
  }

  /** The first match of each group. */
  async #firsts(threshold: number, groups: readonly Group[]): Promise<DistinctMatch[]> {
    if (groups.length === 0) return [];
    const { sql, order, scores, margin } = this.#context;
    const values = new Values();
    const group = groupSql(this.#distinct.column, values);
    const s = this.#scoreSql(values);
    // Of the matches of a group, only these can have its best score.
    const lowest = groups.map((found) => found.s - 2 * margin - (ROUNDING_STEPS + 1) * STEP);
    const named = `${values.bind(arrayOf(groups.map(({ value }) => value)))}::text[]`;
    const bounds = `(${values.bind(arrayOf(lowest))}::float8[])[array_position(${named}, ${group})]`;
    const first = (column: string) => `(array_agg(${column} ORDER BY ${order.column}))[1] AS ${column}`;
    const direction = this.#hasPassages ? 'coalesce(passage_direction, direction)' : 'direction';
    const rows = await sql.run<{ value: string; id: number; uuid: string }>(
      `SELECT ${group} AS value, ${direction} AS direction, ${first('id')}, ${first('uuid')} FROM ${this.#from}
      WHERE ${[...this.#matchSql(threshold, values), `${s} >= ${bounds}`].join(' AND ')} GROUP BY 1, 2`,
      values.list,
    );
    const exact = await scores.ofIds(rows.map(({ id }) => id));
    const best = new Map<string, Match>();
    for (const [at, { value, id, uuid }] of rows.entries()) {
      const match = { id, uuid, score: exact[at] as number };
      const known = best.get(value);
      if (known === undefined || order.compare(match, known) < 0) best.set(value, match);
    }
    return groups.map(({ value, size }) => ({ ...(best.get(value) as Match), size }));
  }

  /** The first results whose score is 0, in the order of their identities. */
  async #unscored(cursor: string | undefined, need: number): Promise<DistinctMatch[]> {
    const { sql, order, margin } = this.#context;
    const found: DistinctMatch[] = [];
    for (let after = cursor; found.length < need; ) {
      const values = new Values();
      const group = groupSql(this.#distinct.column, values);
      const s = `max(${this.#scoreSql(values)})`;
      const first = (column: string) => `(array_agg(${column} ORDER BY ${order.column}))[1]`;
      const range = [`${s} <= ${values.bind(0.5 * STEP + margin)}::float8`];
      if (after !== undefined) range.push(order.idSql('>', after, values, first(order.column)));
      const rows = await sql.run<Group & Match>(
        `SELECT ${group} AS value, ${s} AS s, ${this.#sizeSql} AS size, ${first('id')} AS id, ${first('uuid')} AS uuid
        FROM ${this.#from} WHERE ${this.#matchSql(0, values).join(' AND ')} GROUP BY 1 HAVING ${range.join(' AND ')}
        ORDER BY ${order.column === 'id' ? 4 : 5} LIMIT ${values.bind(need)}::integer`,
        values.list,
      );
      const unsure = rows.filter(({ s }) => s > -margin);
      const firsts = await this.#firsts(0, unsure);
      const isAbove = new Map(unsure.map(({ value }, at) => [value, (firsts[at] as Match).score > 0]));
      for (const { value, id, uuid, size } of rows) {
        if (isAbove.get(value) !== true) found.push({ id, uuid, size, score: 0 });
      }
      const last = rows.at(-1);
      if (rows.length < need || last === undefined) break;
      after = order.idOf(last);
    }
    return found.slice(0, need);
  }

  /** The number of records in a group. */
  get #sizeSql(): string {
    return this.#hasPassages ? 'count(DISTINCT id)' : 'count(*)';
  }

  #scoreSql(values: Values): string {
    const column = this.#hasPassages ? 'coalesce(passage_emb, emb)' : 'emb';
    return `-(${column} <#> ${values.bind(this.#vector)}::vector)`;
  }

  #restrictedSql(values: Values): string[] {
    return restrictionSql(this.#context.restriction, values);
  }

  /** The conditions of the vectors of matches. */
  #matchSql(threshold: number, values: Values): string[] {
    const restricted = this.#restrictedSql(values);
    if (threshold === 0) return [...restricted, 'exact IS NOT NULL'];
    const above = `${this.#scoreSql(values)} > ${values.bind(leastCosine(threshold) + this.#context.margin)}::float8`;
    const undecided = `id = ANY(${values.bind(arrayOf(this.#undecided))}::bigint[])`;
    return [...restricted, `(${above} OR ${undecided})`];
  }
}
