import type { Facet, FacetCounts } from '../../src/schema/index.js';
import { elementsOf } from './elements.js';
import { compareValues, iso, type KnownRecord } from './oracle.js';

/** The naive counts of one facet over all matches. */
export function countFacet(matches: readonly KnownRecord[], facet: Facet): FacetCounts {
  if (facet.time !== undefined) {
    const starts = matches.map((record) => iso(startOf(facet.interval, record[facet.time])));
    const buckets = [...tally(starts)].sort().map(([from, count]) => ({ from, count }));
    return { time: facet.time, interval: facet.interval, buckets };
  }
  const { column } = facet;
  // A record counts once for each of its distinct values.
  const held = matches.map((record) => [...new Set(elementsOf(record, column))]);
  if (facet.type === 'histogram') {
    const { interval } = facet;
    const bucketsOf = (values: readonly unknown[]) =>
      new Set(
        values.filter((value) => typeof value === 'number').map((number) => bucketOf(number, interval)),
      );
    const counted = held.map(bucketsOf).filter(({ size }) => size > 0);
    const starts = tally(counted.flatMap((buckets) => [...buckets]));
    const buckets = [...starts].sort(([a], [b]) => a - b).map(([from, count]) => ({ from, count }));
    return { column, type: 'histogram', interval, buckets, missing: held.length - counted.length };
  }
  const all = held.flat();
  const values = [...tally(all)]
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || compareValues(a, b))
    .slice(0, facet.limit ?? 10)
    .map(([value, count]) => ({ value, count }));
  const listed = values.reduce((sum, { count }) => sum + count, 0);
  const missing = held.filter(({ length }) => length === 0).length;
  return { column, type: 'values', values, other: all.length - listed, missing };
}

function tally<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The largest multiple of the interval, as a double, that is not above the number. */
export function bucketOf(number: number, interval: number): number {
  let k = Math.floor(number / interval);
  // The quotient is rounded, so the number may belong to a neighbour.
  while (k * interval > number) k -= 1;
  while ((k + 1) * interval <= number) k += 1;
  // Adding zero turns -0 into 0.
  return k * interval + 0;
}

/** The first millisecond of the calendar interval that a time belongs to, in UTC. */
function startOf(interval: string, ms: number): number {
  const date = new Date(ms);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (interval) {
    case 'minute':
      return ms - (ms % 60_000);
    case 'hour':
      return ms - (ms % 3_600_000);
    case 'day':
      return Date.UTC(year, month, day);
    case 'week':
      // Weeks begin on Monday.
      return Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7));
    case 'month':
      return Date.UTC(year, month, 1);
    case 'year':
      return Date.UTC(year, 0, 1);
    default:
      throw new Error(`no interval is called ${interval}`);
  }
}
