import { setTimeout as pause } from 'node:timers/promises';
import { type Dataset, type DatasetKey, openDataset, QUERIES, queryOf, THRESHOLD } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import { inTemporaryDirectory } from '../paths.js';
import { Cosift, linesOf } from '../peers/adapters/cosift.js';
import { latency } from '../report/statistics.js';
import { factsOf, LIMIT, type Session, type Suite } from './session.js';

const RATE = 5_000;
const BATCH = 500;

/** Durable writes alone, and concurrent with searches. */
export const WRITES: Suite = {
  name: 'writes',
  about: 'durable upserts a second with given vectors; search latency idle and during 5,000 upserts a second',
  async run(session) {
    for (const key of session.deep) {
      session.say(`writes: ${key.records} records`);
      await inTemporaryDirectory((directory) => writes(session, key, directory));
    }
  },
};

async function writes(session: Session, key: DatasetKey, directory: string): Promise<void> {
  const dataset = openDataset(key);
  const engine = new Cosift(2);
  const facts = { suite: 'writes', system: 'cosift', ...factsOf(key) };
  try {
    const begun = performance.now();
    await engine.load(dataset, directory);
    const seconds = (performance.now() - begun) / 1_000;
    session.measurements.push({
      ...facts,
      cell: 'upserts in commits of 4,000',
      values: { per_second: key.records / seconds },
    });
    await engine.settle();
    const ms = session.full ? 6_000 : 2_000;
    const idle = await searches(engine, dataset, pause(ms));
    session.measurements.push({ ...facts, cell: 'search, idle', values: latency(idle) });
    const changed = changedCopy(dataset);
    const batches = batchesOf(changed, ms);
    let written = 0;
    const busy = await searches(
      engine,
      dataset,
      upserts(engine, changed, batches, ms).then((count) => {
        written = count;
      }),
    );
    session.measurements.push({
      ...facts,
      cell: `search beside ${Math.round(written / (ms / 1_000)).toLocaleString('en')} upserts a second`,
      values: latency(busy),
    });
  } finally {
    await engine.close();
  }
}

/** Times of sequential searches in microseconds, until `end` resolves. */
async function searches(engine: Cosift, dataset: Dataset, end: Promise<unknown>): Promise<number[]> {
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
function batchesOf(changed: Dataset, ms: number): Batches {
  const count = Math.min(Math.ceil(((RATE / BATCH) * ms) / 1_000), Math.floor(changed.records / BATCH));
  return Array.from(
    { length: count },
    (_, i) => [i * BATCH, linesOf(changed, i * BATCH, (i + 1) * BATCH)] as const,
  );
}

/** Upserts changed records at RATE for `ms` milliseconds. Returns the number of committed records. */
async function upserts(engine: Cosift, changed: Dataset, batches: Batches, ms: number): Promise<number> {
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
function changedCopy(dataset: Dataset): Dataset {
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
