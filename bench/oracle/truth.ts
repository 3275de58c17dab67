import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_DIRECTORY, type Dataset, THRESHOLD } from '../data/dataset.js';
import { type Filter, predicateOf } from '../data/filters.js';

/** The correct result of one query: records by score descending, then id. */
export interface Answer {
  readonly ids: readonly number[];
  readonly scores: readonly number[];
}

/** Number of records of each correct result: 20 pages of 50. */
export const DEPTH = 1_000;

/** Ground truth, computed by brute force in f64 and stored in the cache: `answers(filter)[query]`. */
export class Truth {
  readonly #byFilter: Map<string, Answer[]>;
  readonly dataset: Dataset;
  readonly queries: number;

  /** Computes the results of `queries` queries with each of `filters`: once, a second per query for a million records. */
  constructor(dataset: Dataset, queries: number, filters: readonly Filter[]) {
    this.dataset = dataset;
    this.queries = queries;
    const key = createHash('sha256').update(
      JSON.stringify([dataset.seed, queries, DEPTH, THRESHOLD, filters]),
    );
    const path = join(CACHE_DIRECTORY, `${dataset.name}-truth-${key.digest('hex').slice(0, 12)}.json`);
    if (!existsSync(path)) writeFileSync(path, JSON.stringify(answerAll(dataset, queries, filters)));
    const answers = JSON.parse(readFileSync(path, 'utf8')) as Answer[][];
    this.#byFilter = new Map(filters.map((filter, i) => [filter.name, answers[i] as Answer[]]));
  }

  /** The correct result of query `q` with `filter`. */
  answer(filter: Filter, q: number): Answer {
    const answer = this.#byFilter.get(filter.name)?.[q];
    if (answer === undefined) throw new Error(`no right answer is known under the filter ${filter.name}`);
    return answer;
  }

  /** The score of the record with this id, whether it is in the result or not. */
  score(q: number, id: number): number {
    const { dimensions, vectors, queries } = this.dataset;
    return clampedCosine(vectors, (id - 1) * dimensions, queries, q * dimensions, dimensions);
  }
}

/** Number of records with a score of at least `threshold` for query `q`. Takes a second for a million records. */
export function countAtLeast(dataset: Dataset, q: number, threshold: number): number {
  const { records, dimensions, vectors, queries } = dataset;
  let count = 0;
  for (let i = 0; i < records; i++) {
    const score = clampedCosine(vectors, i * dimensions, queries, q * dimensions, dimensions);
    if (score >= threshold) count++;
  }
  return count;
}

function answerAll(dataset: Dataset, queries: number, filters: readonly Filter[]): Answer[][] {
  const { records, dimensions, vectors } = dataset;
  const kept = filters.map((filter) => {
    const test = predicateOf(filter, dataset.columns);
    return Uint8Array.from({ length: records }, (_, i) => (test(i) ? 1 : 0));
  });
  const answers: Answer[][] = filters.map(() => []);
  const scores = new Float64Array(records);
  for (let q = 0; q < queries; q++) {
    for (let i = 0; i < records; i++) {
      scores[i] = clampedCosine(vectors, i * dimensions, dataset.queries, q * dimensions, dimensions);
    }
    for (const [f, mask] of kept.entries()) (answers[f] as Answer[]).push(best(scores, mask));
  }
  return answers;
}

/** Sort and truncate: slow, but obviously correct. */
function best(scores: Float64Array, mask: Uint8Array): Answer {
  const passing: number[] = [];
  for (let i = 0; i < scores.length; i++) {
    if (mask[i] === 1 && (scores[i] as number) >= THRESHOLD) passing.push(i);
  }
  passing.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  const top = passing.slice(0, DEPTH);
  return { ids: top.map((i) => i + 1), scores: top.map((i) => scores[i] as number) };
}

/** Cosine in f64 of two f32 vectors of any length, clamped to 0..1. */
function clampedCosine(
  a: Float32Array,
  atA: number,
  b: Float32Array,
  atB: number,
  dimensions: number,
): number {
  let [dot, squareA, squareB] = [0, 0, 0];
  for (let j = 0; j < dimensions; j++) {
    const x = a[atA + j] as number;
    const y = b[atB + j] as number;
    dot += x * y;
    squareA += x * x;
    squareB += y * y;
  }
  return Math.min(1, Math.max(0, dot / Math.sqrt(squareA * squareB)));
}
