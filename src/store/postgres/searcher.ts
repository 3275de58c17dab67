import type { NativeSearch } from '../local/binding.js';
import { engineRequest } from '../local/engine-request.js';
import { unwrap } from '../local/unwrap.js';
import type { StorePage, StoreSearchRequest } from '../record-store.js';
import { CandidateScores, hex } from './candidate-scores.js';
import { type Catalog, type CatalogEntry, settingsOf, tablesOf } from './catalog.js';
import { countVisible } from './counts.js';
import { type Restriction, restrictionSql } from './filter-sql.js';
import { LexicalMatches } from './lexical-matches.js';
import { MatchCounter, type MatchCounts } from './match-counter.js';
import { type Match, MatchOrder } from './match-order.js';
import type { RecordReader } from './record-reader.js';
import { nativeRow, type RecordRow, ROW, type RowVectors, VECTORS } from './rows.js';
import { leastCosine, MAX_STEPS, marginOf, publishedSteps, SAME_SCORE_STEPS, STEP } from './scores.js';
import { arrayOf, type Sql, Values } from './sql.js';
import { type Candidate, VectorSource } from './vector-source.js';
import { vectorText } from './vectors.js';

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
  /** Whether results show their best passages. */
  passages: boolean;
}

/** A cursor, and the direction of its record if the record is still at its place and has one vector. */
interface MovedCursor {
  score: number;
  id: string;
  direction?: Uint8Array;
}

/** How far a source was scanned. */
interface Scan {
  readonly source: VectorSource;
  size: number;
  last: Candidate | undefined;
  /** Every vector that was not read has at most this score. */
  bound: number;
  readonly excluded: Uint8Array[];
}

/** Records that a scan reads beyond those of the page. */
const SPARE = 16;
const MAX_FETCH = 20_000;
/** A vector that so many records of one fetch have is read from its index. */
const MANY = 8;

/** Answers searches: PostgreSQL finds candidates, and the engine scores them exactly. */
export class Searcher {
  readonly #reader: RecordReader;
  readonly #catalog: Catalog;
  readonly #marginOf: (dimensions: number) => number;

  /** `margin` is the largest error of a score in single precision, by the number of dimensions. */
  constructor(reader: RecordReader, catalog: Catalog, margin = marginOf) {
    this.#reader = reader;
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
    const work = async (sql: Sql, entry: CatalogEntry) => {
      const search = unwrap(this.#catalog.rulesOf(entry).search(engineRequest(request), vector));
      const margin = this.#marginOf(settingsOf(entry).dimensions);
      return await new Search(sql, entry, request, search, margin).page();
    };
    const body = await this.#reader.read(id, work, signal);
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
  readonly #order: MatchOrder;
  readonly #scores: CandidateScores;
  readonly #margin: number;
  /** The records with one vector, and those with several if there are any. */
  readonly #sources: readonly VectorSource[];

  constructor(
    sql: Sql,
    entry: CatalogEntry,
    request: StoreSearchRequest,
    search: NativeSearch,
    margin: number,
  ) {
    const tables = tablesOf(entry);
    this.#sql = sql;
    this.#table = tables.records;
    this.#request = request;
    this.#search = search;
    this.#plan = JSON.parse(search.plan()) as SearchPlan;
    const { filter, forced_filter } = request;
    const restriction = { filter, forced_filter, start: this.#plan.start, end: this.#plan.end };
    const order = new MatchOrder(request.variant);
    this.#restriction = restriction;
    this.#order = order;
    this.#margin = margin;
    // The error is checked independently of what the search relies on.
    this.#scores = new CandidateScores(sql, tables.records, search, marginOf(settingsOf(entry).dimensions));
    const common = { sql, tables, restriction, order, vector: vectorText(search.vector()) };
    const kinds = entry.has_passages ? [false, true] : [false];
    this.#sources = kinds.map((isOfPassages) => new VectorSource(common, isOfPassages));
  }

  async page(): Promise<Uint8Array> {
    const start = performance.now();
    const { threshold, total, facets, explain, lexical, map, passages } = this.#plan;
    const counts = total || facets;
    let matches: Match[] = [];
    let counted: MatchCounts | undefined;
    if (threshold !== null && lexical) {
      const { cursor, limit } = this.#plan;
      const found = this.#lexicalMatches();
      if (counts) {
        const all = await found.all(threshold);
        matches = found.pageOf(all, cursor, limit + 1);
        counted = await this.#counter().named(all);
      } else matches = await found.page(threshold, cursor, limit + 1);
    } else if (threshold !== null) {
      matches = await this.#matches(threshold);
      if (counts) counted = await this.#counter().of(threshold);
    }
    const rows = await this.#rows(matches, map || passages || (lexical && explain));
    const content = {
      rows: rows.map(nativeRow),
      total: total ? (counted?.total ?? 0) : undefined,
      facets: facets ? (counted?.facets ?? unwrap(this.#search.facets().finish())) : undefined,
      records: explain ? await countVisible(this.#sql, this.#table, this.#request.forced_filter) : 0,
      scored: this.#scores.count,
      scanMs: performance.now() - start,
    };
    const scores = matches.map(({ score }) => score);
    return unwrap(await this.#search.page(content, scores));
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
    const { column } = this.#order;
    const values = new Values();
    const conditions = [
      `${column} = ${values.bind(cursor.id)}::${column === 'uuid' ? 'uuid' : 'bigint'}`,
      ...restrictionSql(this.#restriction, values),
    ];
    const [row] = await this.#sql.run<{ direction: Uint8Array | null } & RowVectors>(
      `SELECT direction, ${VECTORS} FROM ${this.#table} WHERE ${conditions.join(' AND ')}`,
      values.list,
    );
    const score = row && this.#scores.ofStored(row);
    if (score === undefined || Math.abs(score - cursor.score) > SAME_SCORE_STEPS) return cursor;
    return { ...cursor, score, ...(row?.direction && { direction: row.direction }) };
  }

  /** Matches with a score of at least `threshold`, which is 1 or more. */
  async #scan(threshold: number, cursor: MovedCursor | null, need: number): Promise<Match[]> {
    const lo = leastCosine(threshold) - this.#margin;
    const hi =
      cursor === null || cursor.score === MAX_STEPS ? undefined : (cursor.score + 0.5) * STEP + this.#margin;
    const found = new Map<number, Match>();
    const add = (match: Match) => {
      if (match.score < threshold || (cursor !== null && !this.#order.isAfter(match, cursor))) return;
      found.set(match.id, match);
    };
    const addAll = async ({ source, excluded }: Scan, direction: Uint8Array, score: number) => {
      excluded.push(direction);
      if (score < threshold || (cursor !== null && score > cursor.score)) return;
      const after = cursor !== null && score === cursor.score ? cursor.id : undefined;
      (await this.#ties(source, direction, score, after, need)).forEach(add);
    };
    const size = Math.min(need + SPARE, MAX_FETCH);
    const scans: Scan[] = this.#sources.map((source) => ({
      source,
      size,
      last: undefined,
      bound: Number.POSITIVE_INFINITY,
      excluded: [],
    }));
    const [first] = scans as [Scan];
    // The records at the place of the cursor need not be scanned.
    if (cursor?.direction !== undefined) await addAll(first, cursor.direction, cursor.score);
    for (;;) {
      const matches = [...found.values()].sort((a, b) => this.#order.compare(a, b));
      const last = matches[need - 1];
      // The page is complete when no vector that was not read can be on it.
      const open = scans.filter(
        ({ bound }) => bound >= threshold && (last === undefined || bound >= last.score),
      );
      if (open.length === 0) return matches.slice(0, need);
      for (const scan of open) {
        const rows = await scan.source.scan({ lo, hi, ...scan });
        const scores = await this.#scores.of(rows);
        const many = frequent(rows);
        for (const [at, { id, uuid, direction }] of rows.entries()) {
          if (!many.has(hex(direction))) add({ id, uuid, score: scores[at] as number });
        }
        for (const at of many.values()) {
          const row = rows[at] as Candidate;
          await addAll(scan, row.direction, this.#scores.ofVector(row));
        }
        scan.last = rows.at(-1);
        const isEnd = rows.length < scan.size || scan.last === undefined;
        scan.bound = isEnd ? -1 : publishedSteps((scan.last as Candidate).s + this.#margin) + 1;
        scan.size = Math.min(scan.size * 8, MAX_FETCH);
      }
    }
  }

  /** The first records whose score is that of a vector which they have in common, in the order of their identities. */
  async #ties(
    source: VectorSource,
    direction: Uint8Array,
    score: number,
    after: string | undefined,
    need: number,
  ): Promise<Match[]> {
    return await this.#inOrder(need, after, async (last, size) => {
      const rows = await source.ofDirection(direction, last, size);
      // A record with several vectors may have a better one.
      const scores = source.isOfPassages ? await this.#scores.of(rows) : rows.map(() => score);
      return { rows, matches: matchesOf(rows, scores, score) };
    });
  }

  /** The first records whose score is 0, in the order of their identities. */
  async #withoutScore(after: string | undefined, need: number): Promise<Match[]> {
    const found: Match[] = [];
    for (const source of this.#sources) {
      const matches = await this.#inOrder(need, after, async (last, size) => {
        const rows = await source.upTo(0.5 * STEP + this.#margin, last, size);
        return { rows, matches: matchesOf(rows, await this.#scores.of(rows), 0) };
      });
      found.push(...matches);
    }
    return found.sort((a, b) => this.#order.compare(a, b)).slice(0, need);
  }

  /** Reads records in the order of their identities until there are enough matches. */
  async #inOrder(
    need: number,
    after: string | undefined,
    read: (after: string | undefined, size: number) => Promise<{ rows: Candidate[]; matches: Match[] }>,
  ): Promise<Match[]> {
    const found = new Map<number, Match>();
    for (let last = after; found.size < need; ) {
      const size = Math.min(need - found.size + SPARE, MAX_FETCH);
      const { rows, matches } = await read(last, size);
      for (const match of matches) found.set(match.id, match);
      if (rows.length < size) break;
      last = this.#order.idOf(rows.at(-1) as Candidate);
    }
    return [...found.values()].slice(0, need);
  }

  #lexicalMatches(): LexicalMatches {
    return new LexicalMatches({
      sql: this.#sql,
      table: this.#table,
      restriction: this.#restriction,
      order: this.#order,
      sources: this.#sources,
      search: this.#search,
      scores: this.#scores,
      margin: this.#margin,
      weight: this.#request.lexical?.weight ?? 0,
    });
  }

  #counter(): MatchCounter {
    return new MatchCounter({
      sql: this.#sql,
      table: this.#table,
      restriction: this.#restriction,
      sources: this.#sources,
      scores: this.#scores,
      margin: this.#margin,
      facets: this.#plan.facets
        ? { facets: this.#request.facets ?? [], counter: this.#search.facets() }
        : undefined,
    });
  }

  /** The rows of matches, in their order. */
  async #rows(matches: readonly Match[], withVectors: boolean): Promise<RecordRow[]> {
    if (matches.length === 0) return [];
    const rows = await this.#sql.run<RecordRow>(
      `SELECT ${ROW}${withVectors ? `, ${VECTORS}` : ''} FROM ${this.#table} WHERE id = ANY($1::bigint[])`,
      [arrayOf(matches.map(({ id }) => id))],
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    return matches.map(({ id }) => byId.get(id) as RecordRow);
  }
}

function matchesOf(rows: readonly Candidate[], scores: readonly number[], score: number): Match[] {
  return rows.flatMap(({ id, uuid }, at) => (scores[at] === score ? { id, uuid, score } : []));
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
