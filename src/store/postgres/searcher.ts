import { CosiftError } from '../../errors.js';
import type { NativeSearch } from '../local/binding.js';
import { engineRequest } from '../local/engine-request.js';
import { unwrap } from '../local/unwrap.js';
import type { StorePage, StoreSearchRequest } from '../record-store.js';
import { type Catalog, type CatalogEntry, recordsOf, settingsOf } from './catalog.js';
import { countMatches, countVisible } from './counts.js';
import { type Restriction, restrictionSql } from './filter-sql.js';
import { nativeRow, type RecordRow, ROW } from './rows.js';
import { isWithin, MAX_STEPS, marginOf, publishedSteps, ROUNDING_STEPS, STEP } from './scores.js';
import { arrayOf, type Sql, type SqlDatabase, Values } from './sql.js';
import { vectorText } from './writer.js';

/** What the engine read of a search. Scores are in steps of 1e-9. */
interface SearchPlan {
  limit: number;
  /** The least score of a match; null when no score reaches the threshold. */
  threshold: number | null;
  cursor: { score: number; id: string } | null;
  start: number | null;
  end: number | null;
  total: boolean;
  facets: boolean;
  explain: boolean;
  /** Whether exact words count. */
  lexical: boolean;
  /** Whether the response is a map, which needs the vectors of its records. */
  map: boolean;
}

/** A record that a scan found. */
interface Candidate {
  id: number;
  uuid: string;
  /** Its score in single precision, which differs from the exact score by at most the margin. */
  s: number;
  direction: Uint8Array;
  exact: Uint8Array;
}

/** A match with its exact score. */
interface Match {
  id: number;
  uuid: string;
  score: number;
}

/** A cursor, and the vector of its record if the record is still at its place. */
interface MovedCursor {
  score: number;
  id: string;
  direction?: Uint8Array;
}

/** The cursor's record may have a slightly different score on this machine; see the same number in the engine. */
const SAME_SCORE_STEPS = MAX_STEPS / 10_000;
/** Records that a scan reads beyond those of the page. */
const SPARE = 16;
const MAX_FETCH = 20_000;
/** Records that are scored at a time when all are. */
const SCORED_AT_ONCE = 2_000;
/** A vector that so many records of one fetch have is read from its index. */
const MANY = 8;

/** Answers searches: PostgreSQL finds candidates, and the engine scores them exactly. */
export class Searcher {
  readonly #database: SqlDatabase;
  readonly #catalog: Catalog;

  readonly #marginOf: (dimensions: number) => number;

  /** `margin` is the largest error of a score in single precision, by the number of dimensions. */
  constructor(database: SqlDatabase, catalog: Catalog, margin = marginOf) {
    this.#database = database;
    this.#catalog = catalog;
    this.#marginOf = margin;
  }

  async search(
    id: string,
    request: StoreSearchRequest,
    vector: Float64Array,
    signal?: AbortSignal,
  ): Promise<StorePage> {
    const start = performance.now();
    const body = await this.#database.read(async (sql) => {
      const entry = await this.#catalog.find(sql, id);
      const search = unwrap(this.#catalog.rulesOf(entry).search(engineRequest(request), vector));
      const margin = this.#marginOf(settingsOf(entry).dimensions);
      return await new Search(sql, entry, request, search, margin).page();
    }, signal);
    return { body, searchMs: performance.now() - start };
  }
}

/** One search in its transaction. */
class Search {
  readonly #sql: Sql;
  readonly #table: string;
  readonly #request: StoreSearchRequest;
  readonly #search: NativeSearch;
  readonly #plan: SearchPlan;
  readonly #restriction: Restriction;
  readonly #vector: string;
  readonly #margin: number;
  /** What a score may differ from the exact one, independently of what the search relies on. */
  readonly #largestError: number;
  readonly #scores = new Map<string, number>();
  #fetched = 0;

  constructor(
    sql: Sql,
    entry: CatalogEntry,
    request: StoreSearchRequest,
    search: NativeSearch,
    margin: number,
  ) {
    this.#sql = sql;
    this.#table = recordsOf(entry);
    this.#request = request;
    this.#search = search;
    this.#plan = JSON.parse(search.plan()) as SearchPlan;
    const { filter, forced_filter } = request;
    this.#restriction = { filter, forced_filter, start: this.#plan.start, end: this.#plan.end };
    this.#vector = vectorText(search.vector());
    this.#margin = margin;
    this.#largestError = marginOf(settingsOf(entry).dimensions);
  }

  async page(): Promise<Uint8Array> {
    const start = performance.now();
    const { threshold, total, facets, explain, lexical, map } = this.#plan;
    const counts = total || facets;
    let matches: Match[] = [];
    let counted: { total: number; facets: Uint8Array | undefined } | undefined;
    if (threshold !== null && lexical) {
      const all = await this.#scoreAll(threshold);
      matches = await this.#pageOf(all);
      if (counts) counted = await this.#countNamed(all);
    } else if (threshold !== null) {
      matches = await this.#matches(threshold);
      if (counts) counted = await this.#count(threshold);
    }
    const rows = await this.#rows(matches, map || (lexical && explain));
    const content = {
      rows: rows.map(nativeRow),
      total: total ? (counted?.total ?? 0) : undefined,
      facets: facets ? (counted?.facets ?? unwrap(this.#search.facets().finish())) : undefined,
      records: explain ? await countVisible(this.#sql, this.#table, this.#request.forced_filter) : 0,
      scored: this.#fetched,
      scanMs: performance.now() - start,
    };
    return unwrap(
      this.#search.page(
        content,
        matches.map(({ score }) => score),
      ),
    );
  }

  /** The matches of the page in order, and the first one after it if there is one. */
  async #matches(threshold: number): Promise<Match[]> {
    const cursor = await this.#movedCursor();
    const need = this.#plan.limit + 1;
    const found = cursor?.score === 0 ? [] : await this.#scan(Math.max(threshold, 1), cursor, need);
    if (found.length < need && threshold === 0) {
      const after = cursor?.score === 0 ? cursor.id : undefined;
      found.push(...(await this.#withoutScore(after, need - found.length)));
    }
    return found;
  }

  /** The cursor at the score that its record has under this request. */
  async #movedCursor(): Promise<MovedCursor | null> {
    const { cursor } = this.#plan;
    if (cursor === null) return null;
    const values = new Values();
    const conditions = [
      `${this.#idColumn} = ${values.bind(cursor.id)}::${this.#idType}`,
      'direction IS NOT NULL',
      ...restrictionSql(this.#restriction, values),
    ];
    const [row] = await this.#sql.run<Candidate>(
      `SELECT id, uuid, direction, exact FROM ${this.#table} WHERE ${conditions.join(' AND ')}`,
      values.list,
    );
    if (row === undefined) return cursor;
    const [score] = this.#score([row]) as [number];
    if (Math.abs(score - cursor.score) > SAME_SCORE_STEPS) return cursor;
    return { ...cursor, score, direction: row.direction };
  }

  /** Matches with a score of at least `threshold`, which is 1 or more. */
  async #scan(threshold: number, cursor: MovedCursor | null, need: number): Promise<Match[]> {
    const least = threshold === MAX_STEPS ? MAX_STEPS - ROUNDING_STEPS : threshold;
    const lo = (least - 0.5) * STEP - this.#margin;
    const hi =
      cursor === null || cursor.score === MAX_STEPS ? undefined : (cursor.score + 0.5) * STEP + this.#margin;
    const isAfter = (match: Match) =>
      cursor === null ||
      match.score < cursor.score ||
      (match.score === cursor.score && this.#isAfter(match, cursor.id));
    const excluded: Uint8Array[] = [];
    const matches: Match[] = [];
    const addAll = async (direction: Uint8Array, score: number) => {
      excluded.push(direction);
      if (score < threshold || (cursor !== null && score > cursor.score)) return;
      const after = cursor !== null && score === cursor.score ? cursor.id : undefined;
      matches.push(...(await this.#ties(direction, score, after, need)));
    };
    if (cursor?.direction !== undefined) await addAll(cursor.direction, cursor.score);
    let last: Candidate | undefined;
    for (let size = Math.min(need + SPARE, MAX_FETCH); ; size = Math.min(size * 8, MAX_FETCH)) {
      const rows = await this.#fetch({ lo, hi, last, excluded, size });
      const scores = this.#scoreFound(rows);
      const many = frequent(rows);
      for (const [at, row] of rows.entries()) {
        const score = scores[at] as number;
        const key = hex(row.direction);
        if (many.has(key)) continue;
        const match = { id: row.id, uuid: row.uuid, score };
        if (score >= threshold && isAfter(match)) matches.push(match);
      }
      for (const at of many.values()) {
        const { direction } = rows[at] as Candidate;
        // Those of an earlier fetch are among those of the index.
        const score = scores[at] as number;
        const known = new Set(matches.map(({ id }) => id));
        const before = matches.length;
        await addAll(direction, score);
        const added = matches.splice(before).filter(({ id }) => !known.has(id));
        matches.push(...added);
      }
      matches.sort((a, b) => b.score - a.score || this.#compare(a, b));
      last = rows.at(-1);
      // Every record that was not fetched has at most this score.
      const bound = rows.length < size || last === undefined ? -1 : publishedSteps(last.s + this.#margin) + 1;
      const final = matches.findIndex(({ score }) => score <= bound);
      const count = final === -1 ? matches.length : final;
      if (count >= need || bound < threshold) return matches.slice(0, need);
    }
  }

  async #fetch({
    lo,
    hi,
    last,
    excluded,
    size,
  }: {
    lo: number;
    hi: number | undefined;
    last: Candidate | undefined;
    excluded: readonly Uint8Array[];
    size: number;
  }): Promise<Candidate[]> {
    const values = new Values();
    const s = `-(emb <#> ${values.bind(this.#vector)}::vector)`;
    const conditions = [...restrictionSql(this.#restriction, values), `${s} >= ${values.bind(lo)}::float8`];
    if (last !== undefined) {
      const [score, id] = [values.bind(last.s), values.bind(this.#idOf(last))];
      conditions.push(
        `(${s} < ${score}::float8 OR (${s} = ${score}::float8 AND ${this.#idColumn} > ${id}::${this.#idType}))`,
      );
    } else if (hi !== undefined) conditions.push(`${s} <= ${values.bind(hi)}::float8`);
    if (excluded.length > 0) {
      conditions.push(`direction <> ALL(${values.bind(arrayOf(excluded))}::bytea[])`);
    }
    return await this.#sql.run<Candidate>(
      `SELECT id, uuid, ${s} AS s, direction, exact FROM ${this.#table} WHERE ${conditions.join(' AND ')}
      ORDER BY 3 DESC, ${this.#idColumn} ASC LIMIT ${values.bind(size)}::integer`,
      values.list,
    );
  }

  /** The first records with a vector, which all have `score`, in the order of their ids. */
  async #ties(
    direction: Uint8Array,
    score: number,
    after: string | undefined,
    need: number,
  ): Promise<Match[]> {
    const values = new Values();
    const conditions = [
      `direction = ${values.bind(direction)}::bytea`,
      ...restrictionSql(this.#restriction, values),
    ];
    if (after !== undefined) conditions.push(this.#afterSql(after, values));
    const rows = await this.#sql.run<Match>(
      `SELECT id, uuid FROM ${this.#table} WHERE ${conditions.join(' AND ')}
      ORDER BY ${this.#idColumn} LIMIT ${values.bind(need)}::integer`,
      values.list,
    );
    return rows.map((row) => ({ ...row, score }));
  }

  /** The first records whose score is 0, in the order of their ids. */
  async #withoutScore(after: string | undefined, need: number): Promise<Match[]> {
    const matches: Match[] = [];
    for (let last = after; matches.length < need; ) {
      const size = Math.min(need - matches.length + SPARE, MAX_FETCH);
      const values = new Values();
      const s = `-(emb <#> ${values.bind(this.#vector)}::vector)`;
      const conditions = [
        ...restrictionSql(this.#restriction, values),
        `${s} <= ${values.bind(0.5 * STEP + this.#margin)}::float8`,
      ];
      if (last !== undefined) conditions.push(this.#afterSql(last, values));
      const rows = await this.#sql.run<Candidate>(
        `SELECT id, uuid, ${s} AS s, direction, exact FROM ${this.#table} WHERE ${conditions.join(' AND ')}
        ORDER BY ${this.#idColumn} LIMIT ${values.bind(size)}::integer`,
        values.list,
      );
      const scores = this.#scoreFound(rows);
      matches.push(
        ...rows
          .map(({ id, uuid }, at) => ({ id, uuid, score: scores[at] as number }))
          .filter(({ score }) => score === 0),
      );
      if (rows.length < size) break;
      last = this.#idOf(rows.at(-1) as Candidate);
    }
    return matches.slice(0, need);
  }

  /** Counts all matches; those within the margin of the threshold are scored exactly. */
  async #count(threshold: number): Promise<{ total: number; facets: Uint8Array | undefined }> {
    const scoreSql = (values: Values) => `-(emb <#> ${values.bind(this.#vector)}::vector)`;
    const least = threshold === MAX_STEPS ? MAX_STEPS - ROUNDING_STEPS : threshold;
    const [lo, hi] = [-1, 1].map((sign) => (least - 0.5) * STEP + sign * this.#margin) as [number, number];
    let near: Candidate[] = [];
    if (threshold > 0) {
      const values = new Values();
      const s = scoreSql(values);
      const conditions = [
        ...restrictionSql(this.#restriction, values),
        `${s} >= ${values.bind(lo)}::float8`,
        `${s} <= ${values.bind(hi)}::float8`,
      ];
      near = await this.#sql.run<Candidate>(
        `SELECT id, uuid, direction, exact FROM ${this.#table} WHERE ${conditions.join(' AND ')}`,
        values.list,
      );
      const scores = this.#score(near);
      near = near.filter((_, at) => (scores[at] as number) >= threshold);
    }
    const where = (values: Values) => [
      ...restrictionSql(this.#restriction, values),
      threshold > 0 ? `${scoreSql(values)} > ${values.bind(hi)}::float8` : 'emb IS NOT NULL',
    ];
    const facets = this.#plan.facets ? this.#search.facets() : undefined;
    const counted = await countMatches(this.#sql, this.#table, where, facets);
    return {
      total: counted + (await countMatches(this.#sql, this.#table, namedSql(near), facets)),
      facets: facets && unwrap(facets.finish()),
    };
  }

  /**
   * All matches in order, by the scores of all records: exact words add to scores that are not similar otherwise, so no
   * vector can be left out.
   */
  async #scoreAll(threshold: number): Promise<Match[]> {
    const matches: Match[] = [];
    for (let last = 0; ; ) {
      const values = new Values();
      const conditions = [
        ...restrictionSql(this.#restriction, values),
        'emb IS NOT NULL',
        `id > ${values.bind(last)}::bigint`,
      ];
      const rows = await this.#sql.run<RecordRow & { exact: Uint8Array }>(
        `SELECT ${ROW}, exact FROM ${this.#table} WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ${SCORED_AT_ONCE}`,
        values.list,
      );
      const scores = unwrap(this.#search.scores(rows.map(nativeRow)));
      for (const [at, { id, uuid }] of rows.entries()) {
        const score = scores[at] as number;
        if (score >= threshold) matches.push({ id, uuid, score });
      }
      this.#fetched += rows.length;
      if (rows.length < SCORED_AT_ONCE) break;
      last = (rows.at(-1) as RecordRow).id;
    }
    return matches.sort((a, b) => b.score - a.score || this.#compare(a, b));
  }

  /** The matches of the page, and the first one after it if there is one. */
  async #pageOf(all: readonly Match[]): Promise<Match[]> {
    const { cursor, limit } = this.#plan;
    if (cursor === null) return all.slice(0, limit + 1);
    const own = all.find((match) => this.#idOf(match) === cursor.id);
    const isNear = own !== undefined && Math.abs(own.score - cursor.score) <= SAME_SCORE_STEPS;
    const score = isNear ? own.score : cursor.score;
    const after = all.filter(
      (match) => match.score < score || (match.score === score && this.#isAfter(match, cursor.id)),
    );
    return after.slice(0, limit + 1);
  }

  async #countNamed(matches: readonly Match[]): Promise<{ total: number; facets: Uint8Array | undefined }> {
    const facets = this.#plan.facets ? this.#search.facets() : undefined;
    if (facets !== undefined) await countMatches(this.#sql, this.#table, namedSql(matches), facets);
    return { total: matches.length, facets: facets && unwrap(facets.finish()) };
  }

  /** The rows of matches, in their order. */
  async #rows(matches: readonly Match[], withVectors: boolean): Promise<RecordRow[]> {
    if (matches.length === 0) return [];
    const rows = await this.#sql.run<RecordRow>(
      `SELECT ${ROW}${withVectors ? ', exact' : ''} FROM ${this.#table} WHERE id = ANY($1::bigint[])`,
      [arrayOf(matches.map(({ id }) => id))],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return matches.map(({ id }) => byId.get(id) as RecordRow);
  }

  /** The exact scores of candidates. */
  #score(rows: readonly Candidate[]): number[] {
    const unknown = new Map<string, Uint8Array>();
    for (const { direction, exact } of rows) {
      const key = hex(direction);
      if (!this.#scores.has(key)) unknown.set(key, exact);
    }
    const scores = unwrap(this.#search.cosines([...unknown.values()]));
    [...unknown.keys()].forEach((key, at) => {
      this.#scores.set(key, scores[at] as number);
    });
    this.#fetched += rows.length;
    return rows.map(({ direction }) => this.#scores.get(hex(direction)) as number);
  }

  /**
   * The exact scores of candidates that a scan found.
   *
   * @throws {CosiftError} `damaged` when a score in single precision is outside of the margin: then the two vectors of a
   * record differ, and a page could be incomplete.
   */
  #scoreFound(rows: readonly Candidate[]): number[] {
    const scores = this.#score(rows);
    const wrong = rows.find(({ s }, at) => !isWithin(this.#largestError, s, scores[at] as number));
    if (wrong === undefined) return scores;
    throw new CosiftError('damaged', `the vector of record ${wrong.id} differs from its exact vector`);
  }

  get #isUuid(): boolean {
    return this.#request.variant === 'uuid';
  }

  get #idColumn(): string {
    return this.#isUuid ? 'uuid' : 'id';
  }

  get #idType(): string {
    return this.#isUuid ? 'uuid' : 'bigint';
  }

  #idOf({ id, uuid }: { id: number; uuid: string }): string {
    return this.#isUuid ? uuid : String(id);
  }

  #afterSql(id: string, values: Values): string {
    return `${this.#idColumn} > ${values.bind(id)}::${this.#idType}`;
  }

  #compare(a: Match, b: Match): number {
    if (!this.#isUuid) return a.id - b.id;
    return a.uuid < b.uuid ? -1 : Number(a.uuid > b.uuid);
  }

  #isAfter(match: Match, id: string): boolean {
    return this.#isUuid ? match.uuid > id : match.id > Number(id);
  }
}

function namedSql(rows: readonly { id: number }[]): (values: Values) => string[] {
  return (values) => [`id = ANY(${values.bind(arrayOf(rows.map(({ id }) => id)))}::bigint[])`];
}

/** The vectors that many rows have, with the place of one of the rows. */
function frequent(rows: readonly Candidate[]): Map<string, number> {
  const counts = new Map<string, number>();
  const many = new Map<string, number>();
  for (const [at, { direction }] of rows.entries()) {
    const key = hex(direction);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === MANY) many.set(key, at);
  }
  return many;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}
