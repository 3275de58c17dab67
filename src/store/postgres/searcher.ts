import type { Stoppable } from '../../async/stoppable.js';
import { type CosiftError, refusalOf } from '../../errors.js';
import type { NativeSearch } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import type { StorePages, StoreSearch, StoreSearchRequest } from '../record-store.js';
import { BlendedMatches } from './blended-matches.js';
import { CandidateScores } from './candidate-scores.js';
import { type Catalog, listColumnsOf, type ReadEntry, settingsOf } from './catalog.js';
import { countVisible } from './counts.js';
import { distinctOf } from './distinct-groups.js';
import { type DistinctMatch, DistinctMatches } from './distinct-matches.js';
import { restrictionSql } from './filter-sql.js';
import { MatchCounter, type MatchCounts } from './match-counter.js';
import { type Match, MatchOrder } from './match-order.js';
import { MatchRows } from './match-rows.js';
import { MatchScan, type MovedCursor } from './match-scan.js';
import type { RecordReader } from './record-reader.js';
import { nativeRow, type RowVectors, VECTORS } from './rows.js';
import { marginOf, SAME_SCORE_STEPS } from './scores.js';
import type { SearchContext } from './search-context.js';
import { type Sql, Values } from './sql.js';
import { tablesOf } from './tables.js';
import { VectorSource } from './vector-source.js';
import { vectorBytes } from './vectors.js';

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
  /** The weight of the cosine, from 0 to 1; null where scores are cosines. */
  cosine_weight: number | null;
  /** Whether the response is a map, which needs the vectors of its records. */
  map: boolean;
  /** Whether results show their vectors. */
  vectors: boolean;
  /** Whether results show their best passages. */
  passages: boolean;
}

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

  async searches(
    id: string,
    searches: readonly StoreSearch[],
    { signal }: Stoppable = {},
  ): Promise<StorePages> {
    const start = performance.now();
    const work = async (sql: Sql, entry: ReadEntry) => {
      const rules = this.#catalog.rulesOf(entry);
      const margin = this.#marginOf(settingsOf(entry).dimensions);
      const pageOf = async ({ request, vector }: StoreSearch) => {
        const search = unwrap(rules.search(JSON.stringify(request), new Float64Array(vector)));
        return await new Search(sql, entry, request, search, margin).page();
      };
      const pages: (Uint8Array | CosiftError)[] = [];
      for (const search of searches) pages.push(await pageOf(search).catch(refusalOf));
      return pages;
    };
    const pages = await this.#reader.read(id, work, signal);
    return { pages, searchMs: performance.now() - start };
  }
}

class Search {
  readonly #request: StoreSearchRequest;
  readonly #plan: SearchPlan;
  readonly #context: SearchContext;
  readonly #rows: MatchRows;
  readonly #scan: MatchScan;
  /** `undefined` unless the results are distinct. */
  readonly #distinct: DistinctMatches | undefined;
  /** Whether results show how many matches have their value. */
  readonly #showsGroups: boolean;

  constructor(sql: Sql, entry: ReadEntry, request: StoreSearchRequest, search: NativeSearch, margin: number) {
    const tables = tablesOf(entry);
    const table = tables.records;
    this.#request = request;
    this.#plan = JSON.parse(search.plan()) as SearchPlan;
    const { map, vectors: showsVectors, passages, cosine_weight, explain, start, end } = this.#plan;
    const explainsParts = explain && cosine_weight !== null;
    const { filter, forced_filter, excluded } = request;
    const restriction = { listColumns: listColumnsOf(entry), filter, forced_filter, start, end, excluded };
    const order = new MatchOrder(request.form);
    // The error is checked independently of what the search relies on.
    const scores = new CandidateScores(sql, table, search, marginOf(settingsOf(entry).dimensions));
    const common = { sql, tables, restriction, order, vector: vectorBytes(search.vector()) };
    const kinds = entry.has_passages ? [false, true] : [false];
    const sources = kinds.map((isOfPassages) => new VectorSource(common, isOfPassages));
    this.#context = { sql, table, restriction, order, sources, search, scores, margin };
    const distinct = distinctOf(request.distinct);
    this.#showsGroups = distinct?.counts === true;
    const vectors = map ? 'first' : showsVectors || passages || explainsParts ? 'all' : 'none';
    this.#rows = new MatchRows(sql, table, {
      maxBytes: request.page_bytes,
      following: 0,
      vectors,
      showsVectors,
      kept: request.columns && {
        isNeeded: request.columns.length > 0 || explain || vectors === 'all' || this.#showsGroups,
        of: (data) => search.keep(data),
      },
    });
    this.#scan = new MatchScan(this.#context, (ids) => this.#rows.begin(ids));
    this.#distinct =
      distinct &&
      new DistinctMatches(this.#context, distinct, { ...common, hasPassages: entry.has_passages });
  }

  async page(): Promise<Uint8Array> {
    const start = performance.now();
    const { sql, table, search, scores } = this.#context;
    const { threshold, cursor, limit, total, facets, explain, cosine_weight } = this.#plan;
    const distinct = this.#distinct;
    const counts = total || facets;
    const counter = new MatchCounter(
      this.#context,
      facets ? { facets: this.#request.facets ?? [], counter: search.facets() } : undefined,
    );
    let matches: (Match & Partial<DistinctMatch>)[] = [];
    let counted: MatchCounts | undefined;
    if (threshold !== null && cosine_weight !== null) {
      const found = new BlendedMatches(this.#context, cosine_weight);
      if (counts || distinct) {
        const all = await found.all(threshold);
        const results = distinct === undefined ? all : await distinct.firstOf(all);
        matches = found.pageOf(all, cursor, limit + 1, results);
        counted = { ...(await counter.named(all)), total: results.length };
      } else matches = await found.page(threshold, cursor, limit + 1);
    } else if (threshold !== null && distinct) {
      const page = await distinct.page(threshold, await this.#movedCursor(), limit + 1, total);
      matches = page.matches;
      const ofAll = facets ? await counter.of(threshold) : undefined;
      counted = { total: page.total, facets: ofAll?.facets };
    } else if (threshold !== null) {
      matches = await this.#matches(threshold);
      if (counts) counted = await counter.of(threshold);
    }
    const rows = await this.#rows.of(matches);
    const content = {
      rows: rows.map(nativeRow),
      total: total ? (counted?.total ?? 0) : undefined,
      facets: facets ? (counted?.facets ?? unwrap(search.facets().finish())) : undefined,
      groupSizes: this.#showsGroups ? matches.map(({ size }) => size as number) : undefined,
      records: explain ? await countVisible(sql, table, this.#context.restriction) : 0,
      scored: scores.count,
      scanMs: performance.now() - start,
    };
    return unwrap(
      await search.page(
        content,
        matches.map(({ score }) => score),
      ),
    );
  }

  /** The matches of the page in order, and the first one after it if there is one. */
  async #matches(threshold: number): Promise<Match[]> {
    const cursor = await this.#movedCursor();
    const need = this.#plan.limit + 1;
    if (cursor?.score === 0) return await this.#scan.withoutScore(cursor.id, need);
    const found = await this.#scan.matches(Math.max(threshold, 1), cursor, need);
    if (found.length < need && threshold === 0) {
      found.push(...(await this.#scan.withoutScore(undefined, need - found.length)));
    }
    return found;
  }

  /** The cursor at the score that its record has under this request. */
  async #movedCursor(): Promise<MovedCursor | null> {
    const { cursor } = this.#plan;
    if (cursor === null) return null;
    const { sql, table, restriction, order, scores } = this.#context;
    const values = new Values();
    const conditions = [order.idSql('=', cursor.id, values), ...restrictionSql(restriction, values)];
    const [row] = await sql.run<{ direction: Uint8Array | null } & RowVectors>(
      `SELECT direction, ${VECTORS} FROM ${table} WHERE ${conditions.join(' AND ')}`,
      values.list,
    );
    const score = row && scores.ofStored(row);
    if (score === undefined || Math.abs(score - cursor.score) > SAME_SCORE_STEPS) return cursor;
    return { ...cursor, score, ...(row?.direction && { direction: row.direction }) };
  }
}
