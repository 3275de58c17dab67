import { queryOf, THRESHOLD } from '../../data/dataset.js';
import { NONE } from '../../data/filters.js';
import { countAtLeast } from '../../oracle/truth.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Fixture } from './cliff.js';

const ROUNDS = 40;
const GOAL = { goal_times: 3 };
const EXTRAS = [
  { cell: 'first total', members: { total: true } },
  { cell: 'first facet', members: { facets: [{ column: 'category' }] } },
] as const;

/** The first total and the first facet of a search, compared with the search alone. */
export const FIRST_COUNTS: Cliff = {
  name: 'first totals and facets',
  async run({ large, largeData }: Fixture) {
    const request = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };
    const { total } = await large.search(queryOf(largeData, 0), request, { total: true });
    const expected = countAtLeast(largeData, 0, THRESHOLD);
    if (total !== expected) throw new Error(`a total of ${total} instead of ${expected}`);
    const cells: CliffCell[] = [];
    for (const [extra, { cell, members }] of EXTRAS.entries()) {
      // The counts of a search are cached, so each round has a query of its own.
      const query = (round: number) => blend(largeData, round + 1, extra);
      const values = await compared(
        (round) => large.search(query(round), request),
        (round) => large.search(query(round), request, members),
        ROUNDS,
        GOAL,
      );
      const { records, dimensions } = largeData;
      cells.push({ cell: `${cell} of a search`, records, dimensions, values });
    }
    return cells;
  },
};

/** A query between two queries of the dataset: another one for each number and each share. */
function blend(dataset: Fixture['largeData'], number: number, extra: number): Float32Array {
  const other = queryOf(dataset, (number + 1) % 64);
  return queryOf(dataset, number % 64).map((value, i) => value + (extra / 100) * (other[i] as number));
}
