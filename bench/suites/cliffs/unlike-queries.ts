import { openDataset, queryOf, SEED, THRESHOLD } from '../../data/dataset.js';
import { NONE } from '../../data/filters.js';
import { Random } from '../../data/random.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Fixture } from './cliff.js';

const ROUNDS = 40;
const GOAL = { goal_times: 2 };

/** Queries that are unlike the records, compared with those that are like them. */
export const UNLIKE_QUERIES: Cliff = {
  name: 'queries unlike the data',
  async run({ large, largeData }: Fixture) {
    const { records, dimensions } = largeData;
    // The queries of a dataset with other clusters in other directions.
    const foreign = openDataset({ records: 1_000, dimensions, seed: SEED + 1 });
    const random = new Random(SEED);
    const noise = Array.from({ length: ROUNDS + 1 }, () =>
      Float32Array.from({ length: dimensions }, () => random.normal()),
    );
    const kinds = [
      { cell: 'noise', query: (round: number) => noise[round + 1] as Float32Array },
      { cell: 'foreign clusters', query: (round: number) => queryOf(foreign, round + 1) },
    ];
    const cells: CliffCell[] = [];
    for (const threshold of [0, THRESHOLD]) {
      const request = { filter: NONE, threshold, limit: LIMIT, page: 0 };
      for (const { cell, query } of kinds) {
        const values = await compared(
          (round) => large.search(queryOf(largeData, round + 1), request),
          (round) => large.search(query(round), request),
          ROUNDS,
          GOAL,
        );
        cells.push({ cell: `search for ${cell}, threshold ${threshold}`, records, dimensions, values });
      }
    }
    return cells;
  },
};
