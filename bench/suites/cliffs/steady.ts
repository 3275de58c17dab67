import { FIRST_SYNC_MS, SYNC_SPAN_MS } from '../../data/columns.js';
import { queryOf, THRESHOLD } from '../../data/dataset.js';
import { type Filter, NONE } from '../../data/filters.js';
import { checkPages } from '../../oracle/check.js';
import { Truth } from '../../oracle/truth.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, compared, type Fixture, timed, valuesOf } from './cliff.js';

const ROUNDS = 40;
/** Queries whose pages are compared with the fixture truth. */
const CHECKED = 4;
const GOAL = { goal_times: 1.5 };
const DRAINS = 40;

const HALF_OF_THE_TIME: Filter = {
  name: 'time range',
  keeps: '50 %',
  time: { startMs: FIRST_SYNC_MS, endMs: FIRST_SYNC_MS + SYNC_SPAN_MS / 2 },
};

const EMPTY: Filter = {
  name: 'absent column is empty',
  keeps: '100 %',
  group: { condition: 'AND', rules: [{ column: 'absent' as 'title', operator: 'is_empty' }] },
};

/** Cases that never cost much more than the usual search. They are measured so that they stay so. */
export const STEADY: Cliff = {
  name: 'cases without a cliff',
  async run(fixture: Fixture) {
    const { large, largeData } = fixture;
    const { records, dimensions } = largeData;
    const usual = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page: 0 };
    const cases = [
      { cell: 'threshold 0', request: { ...usual, threshold: 0 } },
      { cell: 'threshold 0.5', request: { ...usual, threshold: 0.5 } },
      { cell: 'half of the time', request: { ...usual, filter: HALF_OF_THE_TIME } },
      { cell: 'absent column is empty', request: { ...usual, filter: EMPTY } },
    ];
    const truth = new Truth(largeData, CHECKED, [NONE, HALF_OF_THE_TIME]);
    for (const filter of [NONE, HALF_OF_THE_TIME]) {
      const pages = [];
      for (let q = 0; q < CHECKED; q++)
        pages.push(await large.search(queryOf(largeData, q), { ...usual, filter }));
      if (!checkPages(truth, filter, 0, LIMIT, pages).exact) throw new Error(`not exact: ${filter.name}`);
    }
    const cells: CliffCell[] = [];
    for (const { cell, request } of cases) {
      const values = await compared(
        (round) => large.search(queryOf(largeData, (round + 64) % 64), usual),
        (round) => large.search(queryOf(largeData, (round + 64) % 64), request),
        ROUNDS,
        GOAL,
      );
      cells.push({ cell: `search, ${cell}`, records, dimensions, values });
    }
    cells.push({
      cell: `page of ${DRAINS} interleaved drains`,
      records,
      dimensions,
      values: await drains(fixture),
    });
    return cells;
  },
};

/** The third to the tenth page of many searches that take turns, compared with their first pages. */
async function drains({ large, largeData }: Fixture): Promise<CliffCell['values']> {
  const [first, later]: [number[], number[]] = [[], []];
  const cursors: (string | undefined)[] = Array.from({ length: DRAINS });
  for (let page = 0; page < 10; page++) {
    for (let q = 0; q < DRAINS; q++) {
      const cursor = cursors[q];
      const request = { filter: NONE, threshold: THRESHOLD, limit: LIMIT, page, ...(cursor && { cursor }) };
      const micros = await timed(async () => {
        cursors[q] = (await large.search(queryOf(largeData, q), request)).next;
      });
      if (page === 0) first.push(micros);
      if (page > 1) later.push(micros);
    }
  }
  return valuesOf(first, later, GOAL);
}
