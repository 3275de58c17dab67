import { unwrap } from '../local/unwrap.js';
import type { CandidateScores } from './candidate-scores.js';
import { type CountedFacets, countMatches, type UndecidedMatches } from './counts.js';
import { type Restriction, restrictionSql } from './filter-sql.js';
import { leastCosine } from './scores.js';
import { arrayOf, type Sql, type Values } from './sql.js';
import type { VectorSource } from './vector-source.js';

/** Records that are scored at a time. */
const SCORED_AT_ONCE = 2_000;

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
  facets: CountedFacets | undefined;
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
    const { restriction, sources, margin } = this.#search;
    const restricted = (values: Values) => restrictionSql(restriction, values);
    if (threshold === 0) {
      return this.#finish(await this.#count((values) => [...restricted(values), 'exact IS NOT NULL']));
    }
    const [minScore, maxScore] = [leastCosine(threshold) - margin, leastCosine(threshold) + margin];
    let total = 0;
    for (const source of sources) {
      if (source.isOfPassages) {
        total += await this.#count(namedSql(await this.#longMatches(source, minScore, maxScore, threshold)));
        continue;
      }
      const where = (values: Values) => [...restricted(values), source.atLeastSql(minScore, values)];
      total += await this.#count(where, {
        decidedSql: (values) => source.aboveSql(maxScore, values),
        matching: (ids) => this.#matching(source, ids, threshold),
      });
    }
    return this.#finish(total);
  }

  /** The records of those with one vector whose exact score is at least `threshold`. */
  async #matching(
    source: VectorSource,
    ids: readonly number[],
    threshold: number,
  ): Promise<ReadonlySet<number>> {
    const matching = new Set<number>();
    for (let at = 0; at < ids.length; at += SCORED_AT_ONCE) {
      const rows = await source.named(ids.slice(at, at + SCORED_AT_ONCE));
      const exact = await this.#search.scores.of(rows);
      for (const [at, { id }] of rows.entries()) if ((exact[at] as number) >= threshold) matching.add(id);
    }
    return matching;
  }

  /** The matches with several vectors. */
  async #longMatches(
    source: VectorSource,
    minScore: number,
    maxScore: number,
    threshold: number,
  ): Promise<{ id: number }[]> {
    const found = await source.largest(minScore);
    const undecided = found.filter(({ s }) => s <= maxScore);
    const exact = await this.#search.scores.ofIds(undecided.map(({ id }) => id));
    return [
      ...found.filter(({ s }) => s > maxScore),
      ...undecided.filter((_, at) => (exact[at] as number) >= threshold),
    ];
  }

  async #count(where: (values: Values) => string[], undecided?: UndecidedMatches): Promise<number> {
    const { sql, table, facets } = this.#search;
    return await countMatches({ sql, table, where, facets, undecided });
  }

  #finish(total: number): MatchCounts {
    const { facets } = this.#search;
    return { total, facets: facets && unwrap(facets.counter.finish()) };
  }
}

function namedSql(rows: readonly { id: number }[]): (values: Values) => string[] {
  return (values) => [`id = ANY(${values.bind(arrayOf(rows.map(({ id }) => id)))}::bigint[])`];
}
