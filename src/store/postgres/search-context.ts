import type { NativeSearch } from '../local/binding.js';
import type { CandidateScores } from './candidate-scores.js';
import type { Restriction } from './filter-sql.js';
import type { MatchOrder } from './match-order.js';
import type { Sql } from './sql.js';
import type { VectorSource } from './vector-source.js';

/** What the parts of one search share. */
export interface SearchContext {
  sql: Sql;
  table: string;
  restriction: Restriction;
  order: MatchOrder;
  /** The records with one vector, and those with several if there are any. */
  sources: readonly VectorSource[];
  search: NativeSearch;
  scores: CandidateScores;
  /** The largest error of a score in single precision. */
  margin: number;
}
