import type { NativeFacets } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import type { CandidateScores } from './candidate-scores.js';
import { countMatches } from './counts.js';
import { type Restriction, restrictionSql } from './filter-sql.js';
import { leastCosine } from './scores.js';
import { arrayOf, type Sql, type Values } from './sql.js';
import type { VectorSource } from './vector-source.js';

/** What a search counts over all its matches. */
export interface MatchCounts {
  total: number;
  /** The member `facets` of the response. */
  facets: Uint8Array | undefined;
}

/** The search whose matches are counted. */
interface CountedSearch {
  sql: Sql;
  /** The table of the records. */
  table: string;
  restriction: Restriction;
  sources: readonly VectorSource[];
  scores: CandidateScores;
  margin: number;
  facets: NativeFacets | undefined;
}

/** Counts the matches of a search. */
export class MatchCounter {
  readonly #search: CountedSearch;

  constructor(search: CountedSearch) {
    this.#search = search;
  }

  /** Counts records that are known. */
  async named(matches: readonly { id: number }[]): Promise<MatchCounts> {
    if (this.#search.facets !== undefined) await this.#count(namedSql(matches));
    return this.#finish(matches.length);
  }

  /** Counts all matches; those within the margin of the threshold are scored exactly. */
  async of(threshold: number): Promise<MatchCounts> {
    const { restriction, sources, scores, margin } = this.#search;
    const restricted = (values: Values) => restrictionSql(restriction, values);
    if (threshold === 0) {
      return this.#finish(await this.#count((values) => [...restricted(values), 'exact IS NOT NULL']));
    }
    const [lo, hi] = [leastCosine(threshold) - margin, leastCosine(threshold) + margin];
    let total = 0;
    for (const source of sources) {
      if (source.isOfPassages) {
        total += await this.#count(namedSql(await this.#longMatches(source, lo, hi, threshold)));
        continue;
      }
      const near = await source.between(lo, hi);
      const exact = await scores.of(near);
      total += await this.#count((values) => [...restricted(values), source.aboveSql(hi, values)]);
      total += await this.#count(namedSql(near.filter((_, at) => (exact[at] as number) >= threshold)));
    }
    return this.#finish(total);
  }

  /** The matches with several vectors. */
  async #longMatches(
    source: VectorSource,
    lo: number,
    hi: number,
    threshold: number,
  ): Promise<{ id: number }[]> {
    const found = await source.largest(lo);
    const near = found.filter(({ s }) => s <= hi);
    const exact = await this.#search.scores.ofIds(near.map(({ id }) => id));
    return [
      ...found.filter(({ s }) => s > hi),
      ...near.filter((_, at) => (exact[at] as number) >= threshold),
    ];
  }

  async #count(where: (values: Values) => string[]): Promise<number> {
    const { sql, table, facets } = this.#search;
    return await countMatches(sql, table, where, facets);
  }

  #finish(total: number): MatchCounts {
    const { facets } = this.#search;
    return { total, facets: facets && unwrap(facets.finish()) };
  }
}

function namedSql(rows: readonly { id: number }[]): (values: Values) => string[] {
  return (values) => [`id = ANY(${values.bind(arrayOf(rows.map(({ id }) => id)))}::bigint[])`];
}
