import { setImmediate } from 'node:timers/promises';
import { native, type StopFlag } from '../../../src/store/local/binding.js';
import { queryOf } from '../../data/dataset.js';
import { type Filter, NONE } from '../../data/filters.js';
import { Random } from '../../data/random.js';
import { LIMIT } from '../session.js';
import { type Cliff, type CliffCell, type Fixture, timed, valuesOf } from './cliff.js';

const CLIENTS = 4;
const MS = 3_000;
const ABORTS = 10;
const RULES = 1_000;
const GOAL = { goal_p99_ms: 5, goal_abort_ms: 20 };

/** A request on the large database, other than all before. */
type Heavy = (fixture: Fixture, number: number, stop: StopFlag) => Promise<unknown>;

const HEAVY: readonly { readonly cell: string; readonly request: Heavy }[] = [
  { cell: 'totals at threshold 0', request: counting({ total: true }) },
  {
    cell: 'facets of unique values',
    request: counting({ facets: [{ column: 'title' }] }),
  },
  {
    cell: '1,000 substrings',
    request: ({ large, largeData }, number, stop) =>
      large.search(
        queryOf(largeData, number % 64),
        { filter: substrings(number), threshold: 0, limit: LIMIT, page: 0 },
        {},
        stop,
      ),
  },
];

/** Searches of a small database while a few clients make one kind of heavy requests to a large one. */
export const NEIGHBOURS: Cliff = {
  name: 'searches beside heavy requests',
  async run(fixture: Fixture) {
    const cells: CliffCell[] = [];
    const alone = await searches(fixture, setEnd(MS / 4));
    let number = 0;
    for (const { cell, request } of HEAVY) {
      const end = setEnd(MS);
      const client = async () => {
        while (!end()) await request(fixture, number++, new (native().StopFlag)());
      };
      const clients = Array.from({ length: CLIENTS }, client);
      const micros = await searches(fixture, end);
      await Promise.all(clients);
      const abort = await aborted(fixture, request, () => number++);
      const { records, dimensions } = fixture.smallData;
      const values = { ...valuesOf(alone, micros, GOAL), abort_ms: abort };
      cells.push({ cell: `search beside 4 clients with ${cell}`, records, dimensions, values });
    }
    return cells;
  },
};

/** Times of searches of the small database, one after the other. */
async function searches({ small, smallData }: Fixture, ended: () => boolean): Promise<number[]> {
  const request = { filter: NONE, threshold: 0.2, limit: 10, page: 0 };
  const micros: number[] = [];
  while (!ended()) {
    micros.push(await timed(() => small.search(queryOf(smallData, micros.length % 64), request)));
    await setImmediate();
  }
  return micros;
}

/** The longest time in milliseconds from the abort of one of CLIENTS requests to its end. */
async function aborted(fixture: Fixture, request: Heavy, number: () => number): Promise<number> {
  let longest = 0;
  for (let i = 0; i < ABORTS; i++) {
    const stops = Array.from({ length: CLIENTS }, () => new (native().StopFlag)());
    const ends = stops.map((stop) => request(fixture, number(), stop).catch(() => undefined));
    // The requests are aborted at different points of their work.
    const until = performance.now() + 10 * i;
    while (performance.now() < until) await setImmediate();
    const begun = performance.now();
    for (const stop of stops) stop.stop();
    await Promise.all(ends);
    longest = Math.max(longest, performance.now() - begun);
  }
  return longest;
}

function counting(members: object): Heavy {
  return ({ large, largeData }, number, stop) => {
    // The counts of a search are cached, so each request has a query of its own.
    const query = queryOf(largeData, number % 64).map((value, i) =>
      i === number % 384 ? value + 0.01 : value,
    );
    return large.search(query, { filter: NONE, threshold: 0, limit: LIMIT, page: 0 }, members, stop);
  };
}

/** Records whose title has one of many numbers. */
function substrings(number: number): Filter {
  const random = new Random(number);
  const rules = Array.from({ length: RULES }, () => ({
    column: 'title' as const,
    operator: 'contains' as const,
    value: String(random.below(1_000_000)),
  }));
  return { name: `${RULES} substrings`, keeps: 'few', group: { condition: 'OR', rules } };
}

function setEnd(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() >= end;
}
