import { THRESHOLD } from '../data/dataset.js';
import { type Filter, predicateOf } from '../data/filters.js';
import type { Hits } from '../peers/peer.js';
import type { Truth } from './truth.js';

/** The correctness of a system's results over all checked queries. */
export interface Correctness {
  /** Share of the correct records that were returned, 0..1. */
  readonly recall: number;
  /** Returned records that fail the filter or the threshold, or were returned twice. */
  readonly wrong: number;
  /** Number of records by which pages are too short. */
  readonly missing: number;
  /** Maximum error of a returned score. */
  readonly scoreError: number;
  /** Whether every page is correct, including its order. */
  readonly exact: boolean;
}

/** The completeness of 20 pages, summed over the queries. */
export interface Completeness {
  readonly lost: number;
  readonly repeated: number;
  readonly expected: number;
}

// Two f32 scores of the same pair differ by about this much, so the order of such ties is not counted as wrong.
const F32_TIE = 2e-6;

/** Compares page `page` (0-based) of each query, from query `firstQuery` on, with the ground truth. */
export function checkPages(
  truth: Truth,
  filter: Filter,
  page: number,
  limit: number,
  answers: readonly Hits[],
  firstQuery = 0,
): Correctness {
  const passes = predicateOf(filter, truth.dataset.columns);
  let [right, expected, wrong, missing, scoreError, exact] = [0, 0, 0, 0, 0, true];
  for (const [at, hits] of answers.entries()) {
    const q = firstQuery + at;
    const answer = truth.answer(filter, q);
    const scores = answer.scores.slice(page * limit, (page + 1) * limit);
    const first = scores[0] ?? 0;
    const last = scores.at(-1) ?? 1;
    const seen = new Set<number>();
    let previous = Number.POSITIVE_INFINITY;
    for (const [rank, id] of hits.ids.entries()) {
      const score = truth.score(q, id);
      const told = hits.scores[rank] as number;
      scoreError = Math.max(scoreError, Math.abs(told - score));
      if (seen.has(id) || !passes(id - 1) || score < THRESHOLD - F32_TIE) wrong++;
      else if (score >= last - F32_TIE && score <= first + F32_TIE) right++;
      if (told > previous || Math.abs(score - (scores[rank] ?? 2)) > F32_TIE) exact = false;
      previous = told;
      seen.add(id);
    }
    expected += scores.length;
    missing += Math.max(0, scores.length - hits.ids.length);
    exact &&= hits.ids.length === scores.length;
  }
  return { recall: expected === 0 ? 1 : right / expected, wrong, missing, scoreError, exact };
}

/** Compares the ids of all pages of one query with the ground truth. */
export function checkDrain(truth: Truth, filter: Filter, q: number, pages: readonly Hits[]): Completeness {
  const answer = truth.answer(filter, q);
  const seen = new Set<number>();
  let repeated = 0;
  for (const page of pages) {
    for (const id of page.ids) {
      if (seen.has(id)) repeated++;
      seen.add(id);
    }
  }
  // A record with the same score as the last one may replace it, so only better records count as lost.
  const last = (answer.scores.at(-1) ?? 0) + F32_TIE;
  const owed = answer.ids.filter((_, rank) => (answer.scores[rank] as number) > last);
  return { lost: owed.filter((id) => !seen.has(id)).length, repeated, expected: owed.length };
}

/** Sums the completeness of several queries. */
export function addUp(parts: readonly Completeness[]): Completeness {
  return {
    lost: parts.reduce((sum, part) => sum + part.lost, 0),
    repeated: parts.reduce((sum, part) => sum + part.repeated, 0),
    expected: parts.reduce((sum, part) => sum + part.expected, 0),
  };
}
