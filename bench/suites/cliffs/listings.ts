import type { Dataset } from '../../data/dataset.js';
import { type Cliff, type CliffCell, type Fixture, timed, valuesOf } from './cliff.js';

const LIMIT = 100;
const PAGES = 5_000;
/** First pages, of which the median is the usual case. */
const FIRST_PAGES = 5;

interface Order {
  readonly cell: string;
  readonly members: object;
  /** Compares two records, given by their places in the dataset. */
  readonly compare: (columns: Dataset['columns'], a: number, b: number) => number;
}

const ORDERS: readonly Order[] = [
  {
    cell: 'page of a drained listing in default order',
    members: {},
    compare: ({ synced }, a, b) => (synced[b] as number) - (synced[a] as number) || a - b,
  },
  {
    cell: 'page of a drained listing sorted by a string',
    members: { sort: { column: 'title' } },
    // The order of code units is that of bytes, because titles are ASCII.
    compare: ({ title }, a, b) =>
      Number(text(title, a) > text(title, b)) || -Number(text(title, a) < text(title, b)) || a - b,
  },
];

/** Listings that are read page after page, compared with a first page. */
export const LISTINGS: Cliff = {
  name: 'drained listings',
  async run({ large, largeData }: Fixture) {
    const cells: CliffCell[] = [];
    for (const { cell, members, compare } of ORDERS) {
      const { records, dimensions, columns } = largeData;
      const first: number[] = [];
      for (let i = 0; i < FIRST_PAGES; i++)
        first.push(await timed(() => large.query({ limit: LIMIT, ...members })));
      const [ids, pages]: [number[], number[]] = [[], []];
      let cursor: string | undefined;
      for (let page = 0; page < PAGES; page++) {
        pages.push(
          await timed(async () => {
            const listed = await large.query({ limit: LIMIT, cursor, ...members });
            ids.push(...listed.results.map(({ id }) => id));
            cursor = listed.pagination.next_cursor;
          }),
        );
      }
      const expected = Array.from({ length: records }, (_, i) => i).sort((a, b) => compare(columns, a, b));
      const wrong = ids.findIndex((id, place) => id !== (expected[place] as number) + 1);
      if (ids.length !== PAGES * LIMIT || wrong >= 0) throw new Error(`${cell}: place ${wrong} is wrong`);
      const after = pages.slice(1);
      // The mean, because a page that scans for many pages ahead takes longer than those.
      const mean = after.reduce((sum, page) => sum + page, 0) / after.length;
      const values = { ...valuesOf(first, after, { goal_mean_ms: 0.5 }), mean_ms: mean / 1_000 };
      cells.push({ cell, records, dimensions, values });
    }
    return cells;
  },
};

function text(titles: readonly string[], at: number): string {
  return titles[at] as string;
}
