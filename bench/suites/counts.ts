import { type Dataset, type DatasetKey, openDataset, QUERIES, queryOf } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import { countAtLeast } from '../oracle/truth.js';
import { inTemporaryDirectory } from '../paths.js';
import { Cosift } from '../peers/adapters/cosift.js';
import { latency, median } from '../report/statistics.js';
import { factsOf, LIMIT, type Session, type Suite } from './session.js';

const THRESHOLDS = [0.2, 0.3, 0.4, 0.5];

/** Number of queries whose total is compared with a brute-force count. */
const CHECKED = 2;

/** What the search requests in addition to the page. */
const EXTRAS = [
  { cell: 'page alone', members: {} },
  { cell: 'with total', members: { total: true } },
  { cell: 'with a facet', members: { facets: [{ column: 'category' }] } },
] as const;

/** The cost of a total and of a facet that are not cached. */
export const COUNTS: Suite = {
  name: 'counts',
  about:
    'the first total and the first facet of a search compared with the search alone, by threshold, one thread',
  async run(session) {
    for (const key of session.deep) {
      session.say(`counts: ${key.records} records`);
      await inTemporaryDirectory((directory) => counts(session, key, directory));
    }
  },
};

async function counts(session: Session, key: DatasetKey, directory: string): Promise<void> {
  const dataset = openDataset(key);
  const engine = new Cosift(1);
  try {
    await engine.load(dataset, directory);
    await engine.settle();
    for (const threshold of THRESHOLDS) {
      const { wall, matches } = await timed(engine, dataset, threshold);
      const alone = median(wall[0] as number[]);
      for (const [i, { cell }] of EXTRAS.entries()) {
        session.measurements.push({
          suite: 'counts',
          system: 'cosift',
          ...factsOf(key),
          cell: `threshold ${threshold}, ${cell}`,
          values: {
            matches,
            ...latency(wall[i] as number[]),
            times_alone: median(wall[i] as number[]) / alone,
          },
        });
      }
    }
  } finally {
    await engine.close();
  }
}

/** Microseconds of each query with each of the extras, in turn, and the median number of matches. */
async function timed(
  engine: Cosift,
  dataset: Dataset,
  threshold: number,
): Promise<{ wall: number[][]; matches: number }> {
  const wall: number[][] = EXTRAS.map(() => []);
  const matches: number[] = [];
  for (let q = 0; q < QUERIES; q++) {
    const query = queryOf(dataset, q);
    for (const [i, { members }] of EXTRAS.entries()) {
      const request = { filter: NONE, threshold, limit: LIMIT, page: 0 };
      const start = performance.now();
      const page = await engine.search(query, request, members);
      wall[i]?.push((performance.now() - start) * 1_000);
      const { total } = page;
      if (total === undefined) continue;
      matches.push(total);
      if (q < CHECKED && total !== countAtLeast(dataset, q, threshold)) {
        throw new Error(`the total of query ${q} at ${threshold} is wrong: ${total}`);
      }
    }
  }
  return { wall, matches: median(matches) };
}
