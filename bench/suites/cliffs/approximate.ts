import { type Dataset, openDataset, queryOf, SEED, THRESHOLD } from '../../data/dataset.js';
import { NONE } from '../../data/filters.js';
import { checkPages } from '../../oracle/check.js';
import { Truth } from '../../oracle/truth.js';
import type { Cosift } from '../../peers/adapters/cosift.js';
import type { Values } from '../../report/measurement.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Fixture } from './cliff.js';

/** With 40 rounds, two measurements of the same search differ by a tenth while records are written. */
const ROUNDS = 400;
const CHECKED = 16;
/** Records of a commit during the updates. */
const STEP = 500;
const SIZE = { records: 100_000, dimensions: 384, seed: SEED };
const GOAL = { goal_times: 1.1, goal_recall: 0.95 };
const REQUEST = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };

/** Searches that may be approximate, compared with exact searches of an equal database. */
export const APPROXIMATE: Cliff = {
  name: 'searches that may be approximate',
  async run({ large }: Fixture) {
    const data = openDataset(SIZE);
    const exact = await large.beside('exact', data);
    const approximate = await large.beside('approximate', data, true);
    await large.settle();
    const both = { data, exact, approximate };
    const cells: CliffCell[] = [];
    const add = (cell: string, values: Values) =>
      cells.push({ cell, records: data.records, dimensions: data.dimensions, values });
    add('approximate search', await measured(both));
    // Other titles and the same vectors: the records of before are dead, and the correct pages stay the same.
    const { columns } = data;
    const changed = {
      ...data,
      columns: { ...columns, title: columns.title.map((title) => `${title} again`) },
    };
    let ended = false;
    const updates = (async () => {
      for (let start = 0; start < data.records / 2 && !ended; start += STEP)
        for (const database of [exact, approximate]) await database.upsert(changed, start, start + STEP);
    })();
    add('approximate search during updates', await times(both));
    ended = true;
    await updates;
    await large.settle();
    add('approximate search after updates', await measured(both));
    return cells;
  },
};

/** Two databases of the same records. */
interface Both {
  readonly data: Dataset;
  readonly exact: Cosift;
  readonly approximate: Cosift;
}

/** The times, and the mean and lowest share of the correct page that was found. */
async function measured(both: Both): Promise<Values> {
  const { data, approximate } = both;
  const truth = new Truth(data, CHECKED, [NONE]);
  const recalls: number[] = [];
  for (let q = 0; q < CHECKED; q++) {
    const page = await approximate.search(queryOf(data, q), REQUEST);
    recalls.push(checkPages(truth, NONE, 0, LIMIT, [page], q).recall);
  }
  const mean = recalls.reduce((sum, recall) => sum + recall, 0) / CHECKED;
  return { ...(await times(both)), recall: mean, worst_recall: Math.min(...recalls) };
}

function times({ data, exact, approximate }: Both): Promise<Values> {
  const query = (round: number) => queryOf(data, (round + 64) % 64);
  return compared(
    (round) => exact.search(query(round), REQUEST),
    (round) => approximate.search(query(round), REQUEST),
    ROUNDS,
    GOAL,
  );
}
