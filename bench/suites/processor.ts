import { openBuiltLibrary } from '../built.js';
import { dataOf } from '../data/columns.js';
import { type DatasetKey, openDataset, QUERIES, queryOf, SEED } from '../data/dataset.js';
import { NONE } from '../data/filters.js';
import { checkPages } from '../oracle/check.js';
import { Truth } from '../oracle/truth.js';
import { inTemporaryDirectory } from '../paths.js';
import { latency } from '../report/statistics.js';
import { factsOf, LIMIT, type Session, type Suite } from './session.js';

const SIZES = [1_000, 10_000, 40_000, 100_000];
const CLIENTS = [1, 32];
const SEARCHES = 2_000;
const ID = 'bench';

/** Searches by the library, which parses the pages: their latency, and the processor time of the whole process for one. */
export const PROCESSOR: Suite = {
  name: 'processor',
  about: 'processor time of a search by the library in a reopened database, one at a time and 32 at once',
  async run(session) {
    for (const records of SIZES) {
      const key = { records, dimensions: 384, seed: SEED };
      session.say(`processor: ${records} records`);
      await inTemporaryDirectory((directory) => measure(session, key, directory));
    }
  },
};

async function measure(session: Session, key: DatasetKey, directory: string): Promise<void> {
  const dataset = openDataset(key);
  const filled = await openBuiltLibrary(directory);
  const created = await filled.createDatabase(ID, { dimensions: key.dimensions });
  await created.upsert(
    Array.from({ length: key.records }, (_, i) => ({
      id: i + 1,
      data: { ...dataOf(dataset.columns, i) },
      vector: dataset.vectors.subarray(i * key.dimensions, (i + 1) * key.dimensions),
    })),
  );
  await filled.close();
  const library = await openBuiltLibrary(directory);
  const database = library.database(ID);
  const search = (q: number) => database.search({ vector: queryOf(dataset, q % QUERIES) }, { limit: LIMIT });
  const pages = [];
  for (let q = 0; q < QUERIES; q++) {
    const { results } = await search(q);
    pages.push({ ids: results.map(({ id }) => id), scores: results.map((result) => result.relevance_score) });
  }
  const truth = new Truth(dataset, QUERIES, [NONE]);
  if (!checkPages(truth, NONE, 0, LIMIT, pages).exact) throw new Error(`not exact: ${key.records} records`);
  for (const clients of CLIENTS) {
    await searches(clients, search);
    const start = process.cpuUsage();
    const wall = await searches(clients, search);
    const { user, system } = process.cpuUsage(start);
    session.measurements.push({
      suite: 'processor',
      cell: 'page of 50',
      system: 'cosift',
      ...factsOf(key),
      clients,
      values: { ...latency(wall), cpu_mean_ms: (user + system) / 1_000 / SEARCHES },
    });
  }
  await library.close();
}

/** Runs searches by as many clients at once; returns their times in microseconds. */
async function searches(clients: number, search: (q: number) => Promise<unknown>): Promise<number[]> {
  const wall: number[] = [];
  let next = 0;
  const client = async () => {
    while (next < SEARCHES) {
      const start = performance.now();
      await search(next++);
      wall.push((performance.now() - start) * 1_000);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return wall;
}
