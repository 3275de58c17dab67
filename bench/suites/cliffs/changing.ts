import { setTimeout as pause } from 'node:timers/promises';
import { openDataset, queryOf, SEED, THRESHOLD } from '../../data/dataset.js';
import { NONE } from '../../data/filters.js';
import { latency } from '../../report/statistics.js';
import { batchesOf, changedCopy, searches, upserts } from '../paced-upserts.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Fixture, valuesOf } from './cliff.js';

const KEY = { records: 100_000, dimensions: 384, seed: SEED };
const MS = 3_000;
const CURSORS = 32;
/** Pages before the page of a cursor. */
const PAGE = 20;

/** Searches of a database during upserts, and pages by cursors from before an upsert. */
export const CHANGING: Cliff = {
  name: 'a database that changes',
  async run({ large }: Fixture) {
    const dataset = openDataset(KEY);
    const { records, dimensions } = dataset;
    const database = await large.beside('changing', dataset);
    await database.settle();
    const changed = changedCopy(dataset);
    const usual = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };
    const cursors: (string | undefined)[] = [];
    for (let q = 0; q < CURSORS; q++) {
      let cursor: string | undefined;
      for (let page = 0; page < PAGE; page++) {
        const request = { ...usual, page, ...(cursor && { cursor }) };
        cursor = (await database.search(queryOf(dataset, q), request)).next;
      }
      cursors.push(cursor);
    }
    // A cache of pages is valid for one state of the database: cursors now cost as much as those of another process.
    await database.upsert(changed, records - 1, records);
    const page = await compared(
      (round) => database.search(queryOf(dataset, CURSORS + round + 1), usual),
      (round) => {
        const q = round + 1;
        const cursor = cursors[q];
        return database.search(queryOf(dataset, q), { ...usual, page: PAGE, ...(cursor && { cursor }) });
      },
      CURSORS - 1,
      { goal_times: 1.2 },
    );
    const quiet = await searches(database, dataset, pause(MS));
    const busy = await searches(database, dataset, upserts(database, changed, batchesOf(changed, MS), MS));
    const goal = { goal_p99_ms: 2 * latency(quiet).p99_ms };
    const cells: CliffCell[] = [
      { cell: `page ${PAGE + 1} by a cursor that no cache knows`, records, dimensions, values: page },
      {
        cell: 'search beside 5,000 upserts a second',
        records,
        dimensions,
        values: valuesOf(quiet, busy, goal),
      },
    ];
    return cells;
  },
};
