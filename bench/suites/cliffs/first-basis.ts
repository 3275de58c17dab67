import { setTimeout } from 'node:timers/promises';
import { native } from '../../../src/store/local/binding.js';
import { type Dataset, openDataset, queryOf, SEED, THRESHOLD } from '../../data/dataset.js';
import { NONE } from '../../data/filters.js';
import { Random } from '../../data/random.js';
import { checkPages } from '../../oracle/check.js';
import { Truth } from '../../oracle/truth.js';
import { type Cosift, firstPage } from '../../peers/adapters/cosift.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Fixture } from './cliff.js';

/** The engine learns a basis once a database has this many records. */
const TRAINED_FROM = 8_192;
const USUAL = { records: TRAINED_FROM, dimensions: 384, seed: SEED };
const DIMENSIONS = [768, 1_536, 4_096];
/** Components that are far longer than the others, as models with thousands of dimensions have them. */
const LONG_COMPONENTS = 6;
const LONG_FACTOR = 30;
const ROUNDS = 20;
/** Queries whose pages are compared with the fixture truth. */
const CHECKED = 4;
const POLL_MS = 50;
const MAX_POLLS = 1_200;
/** The longest accepted processor time from the last of the records until all codes are in the learned basis. */
const LEARNING_GOAL = { goal_p50_ms: 5_000 };

/**
 * Databases of many dimensions, in which a few components are far longer than the others: searches before and after the
 * first basis is learned, compared with the usual dimensions, and the processor time of learning it.
 */
export const FIRST_BASIS: Cliff = {
  name: 'first basis of a database',
  async run({ large }: Fixture) {
    const cells: CliffCell[] = [];
    const usualData = openDataset(USUAL);
    const usual = await large.beside('basis-usual', usualData);
    const request = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };
    const databases: { data: Dataset; id: string; database: Cosift }[] = [];
    const before = TRAINED_FROM - 1;
    for (const dimensions of DIMENSIONS) {
      const data = withLongComponents(openDataset({ ...USUAL, dimensions }));
      const id = `basis-${dimensions}`;
      databases.push({ data, id, database: await large.beside(id, { ...data, records: before }) });
    }
    await large.settle();
    for (const { data, id, database } of databases) {
      const { dimensions } = data;
      const search = async (when: string) => {
        const values = await compared(
          (round) => usual.search(queryOf(usualData, round + 1), request),
          (round) => database.search(queryOf(data, round + 1), request),
          ROUNDS,
          // As many times the bytes, and as much for the codes of a database that has not learned from its records.
          { goal_times: (2 * dimensions) / USUAL.dimensions },
        );
        cells.push({ cell: `search ${when} the first basis`, records: data.records, dimensions, values });
      };
      await search('before');
      const start = process.cpuUsage();
      await database.upsert(data, before, data.records);
      for (let poll = 0; (await learned(large, id, data)) < data.records; poll++) {
        if (poll === MAX_POLLS) throw new Error(`no basis of ${dimensions} dimensions`);
        await setTimeout(POLL_MS);
      }
      const { user, system } = process.cpuUsage(start);
      const values = { p50_ms: (user + system) / 1_000, ...LEARNING_GOAL };
      cells.push({ cell: 'processor time of the first basis', records: data.records, dimensions, values });
      await search('after');
      const pages = [];
      for (let q = 0; q < CHECKED; q++) pages.push(await database.search(queryOf(data, q), request));
      const truth = new Truth(data, CHECKED, [NONE]);
      if (!checkPages(truth, NONE, 0, LIMIT, pages).exact) throw new Error(`not exact: ${dimensions}`);
    }
    return cells;
  },
};

/** The number of records with codes of a learned basis. */
async function learned({ engine }: Cosift, id: string, data: Dataset): Promise<number> {
  const request = JSON.stringify({ variant: 'b', limit: 1, explain: true });
  const vectors = [Float64Array.from(queryOf(data, 0))];
  const found = await engine.searches(id, [request], vectors, new (native().StopFlag)());
  const { explain } = JSON.parse(firstPage(found).body.toString()) as { explain: { rotated: number } };
  return explain.rotated;
}

/** The dataset with a few components of every vector and query multiplied, at unit length. */
function withLongComponents(data: Dataset): Dataset {
  const { dimensions } = data;
  const random = new Random(SEED);
  const long = Array.from({ length: LONG_COMPONENTS }, () => random.below(dimensions));
  const lengthen = (vectors: Float32Array) => {
    const out = Float32Array.from(vectors);
    for (let start = 0; start < out.length; start += dimensions) {
      const vector = out.subarray(start, start + dimensions);
      for (const at of long) vector[at] = LONG_FACTOR * (vector[at] as number);
      let squares = 0;
      for (let at = 0; at < dimensions; at++) squares += (vector[at] as number) ** 2;
      const norm = Math.sqrt(squares);
      for (let at = 0; at < dimensions; at++) vector[at] = (vector[at] as number) / norm;
    }
    return out;
  };
  const name = `${data.name}-long`;
  return { ...data, name, vectors: lengthen(data.vectors), queries: lengthen(data.queries) };
}
