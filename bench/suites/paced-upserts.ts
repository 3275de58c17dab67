import { setTimeout as pause } from 'node:timers/promises';
import { type Dataset, QUERIES, queryOf, THRESHOLD } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import { type Cosift, linesOf } from '../peers/adapters/cosift.js';
import { LIMIT } from './session.js';

/** Upserted records a second. */
const RATE = 5_000;
const BATCH = 500;

/** Times of sequential searches in microseconds, until `end` resolves. */
export async function searches(engine: Cosift, dataset: Dataset, end: Promise<unknown>): Promise<number[]> {
  const wall: number[] = [];
  const request = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };
  let ended = false;
  const stop = end.finally(() => {
    ended = true;
  });
  while (!ended) {
    const start = performance.now();
    await engine.search(queryOf(dataset, wall.length % QUERIES), request);
    wall.push((performance.now() - start) * 1_000);
    // Lets the writes on this thread run.
    await pause(0);
  }
  await stop;
  return wall;
}

type Batches = readonly (readonly [start: number, lines: Buffer])[];

/** Lines of changed records. They are made before the measurement, because searches share this thread. */
export function batchesOf(changed: Dataset, ms: number): Batches {
  const count = Math.min(Math.ceil(((RATE / BATCH) * ms) / 1_000), Math.floor(changed.records / BATCH));
  return Array.from(
    { length: count },
    (_, i) => [i * BATCH, linesOf(changed, i * BATCH, (i + 1) * BATCH)] as const,
  );
}

/** Upserts changed records at RATE for `ms` milliseconds. Returns the number of committed records. */
export async function upserts(
  engine: Cosift,
  changed: Dataset,
  batches: Batches,
  ms: number,
): Promise<number> {
  const begun = performance.now();
  let written = 0;
  for (const [start, lines] of batches) {
    if (performance.now() - begun >= ms) break;
    await engine.upsert(changed, start, start + BATCH, lines);
    written += BATCH;
    await pause(Math.max(0, (written / RATE) * 1_000 - (performance.now() - begun)));
  }
  return written;
}

/** The same records with other titles, and each with the vector of another record. */
export function changedCopy(dataset: Dataset): Dataset {
  const { columns, dimensions, vectors, records } = dataset;
  const moved = new Float32Array(vectors.length);
  moved.set(vectors.subarray(dimensions), 0);
  moved.set(vectors.subarray(0, dimensions), (records - 1) * dimensions);
  return {
    ...dataset,
    vectors: moved,
    columns: { ...columns, title: columns.title.map((title) => `${title}, new`) },
  };
}
