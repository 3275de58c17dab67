import { unwrap } from '../local/unwrap.js';
import { type CountedFacets, countMatches, type UndecidedMatches } from './counts.js';
import { restrictionSql } from './filter-sql.js';
import { leastCosine } from './scores.js';
import type { SearchContext } from './search-context.js';
import { namedSql, type Values } from './sql.js';
import type { VectorSource } from './vector-source.js';

/** Records that are scored at a time. */
const SCORED_AT_ONCE = 2_000;

/** What a search counts over all its matches. */
export interface MatchCounts {
  total: number;
  /** The member `facets` of the response. */
  facets: Uint8Array | undefined;
}

export class MatchCounter {
  readonly #context: SearchContext;
  readonly #facets: CountedFacets | undefined;

  constructor(context: SearchContext, facets: CountedFacets | undefined) {
    this.#context = context;
    this.#facets = facets;
  }

  /** Counts records that are known. */
  async named(matches: readonly { id: number }[]): Promise<MatchCounts> {
    if (this.#facets !== undefined) await this.#count(named(matches));
    return this.#finish(matches.length);
  }

  /** Counts all matches; those within the margin of the threshold are scored exactly. */
  async of(threshold: number): Promise<MatchCounts> {
    const { restriction, sources, margin } = this.#context;
    const restricted = (values: Values) => restrictionSql(restriction, values);
    if (threshold === 0) {
      return this.#finish(await this.#count((values) => [...restricted(values), 'exact IS NOT NULL']));
    }
    const [minScore, maxScore] = [leastCosine(threshold) - margin, leastCosine(threshold) + margin];
    let total = 0;
    for (const source of sources) {
      if (source.isOfPassages) {
        total += await this.#count(named(await this.#longMatches(source, minScore, maxScore, threshold)));
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
      const exact = await this.#context.scores.of(rows);
      for (const [at, { id }] of rows.entries()) if ((exact[at] as number) >= threshold) matching.add(id);
    }
    return matching;
  }

  async #longMatches(
    source: VectorSource,
    minScore: number,
    maxScore: number,
    threshold: number,
  ): Promise<{ id: number }[]> {
    const found = await source.largest(minScore);
    const undecided = found.filter(({ s }) => s <= maxScore);
    const exact = await this.#context.scores.ofIds(undecided.map(({ id }) => id));
    return [
      ...found.filter(({ s }) => s > maxScore),
      ...undecided.filter((_, at) => (exact[at] as number) >= threshold),
    ];
  }

  async #count(where: (values: Values) => string[], undecided?: UndecidedMatches): Promise<number> {
    const { sql, table } = this.#context;
    return await countMatches({ sql, table, where, facets: this.#facets, undecided });
  }

  #finish(total: number): MatchCounts {
    return { total, facets: this.#facets && unwrap(this.#facets.counter.finish()) };
  }
}

function named(rows: readonly { id: number }[]): (values: Values) => string[] {
  const ids = rows.map(({ id }) => id);
  return (values) => [namedSql(ids, values)];
}
