import { nanosecondsOf, satisfies } from '../../bench/data/predicate.js';
import type { FilterGroup } from '../../src/schema/index.js';
import type { Random } from '../helpers/random.js';
import type { KnownRecord } from './oracle.js';
import { DAY, randomFilter, START, TIMES } from './random-records.js';

/** A boost as a request has it. */
export interface Boost {
  weight: number;
  filter?: FilterGroup;
  column?: string;
  time?: string;
  target?: number | string;
  scale?: number | string;
}

const HOUR = DAY / 24;

/** The scales that random boosts have as texts, with their milliseconds. */
const SCALES: Readonly<Record<string, number>> = {
  P40D: 40 * DAY,
  PT36H: 36 * HOUR,
  P1W: 7 * DAY,
  PT45S: 45_000,
};

/** The published rule of the score: weights and parts in steps of 1e-9, and their sum rounded half up. */
export function boostedScore(meaning: number, boosts: readonly Boost[], record: KnownRecord): number {
  const steps = (part: number) => BigInt(Math.round(part * 1e9));
  let rest = 1_000_000_000n;
  let sum = 0n;
  for (const boost of boosts) {
    rest -= steps(boost.weight);
    sum += steps(boost.weight) * steps(boostOf(boost, record));
  }
  sum += rest * steps(meaning);
  return Number((sum + 500_000_000n) / 1_000_000_000n) / 1e9;
}

/** A boost of a record, from 0 to 1 in steps of 1e-9. */
export function boostOf({ filter, column, time, target, scale }: Boost, record: KnownRecord): number {
  if (filter !== undefined) return satisfies(record.data, filter) ? 1 : 0;
  const value = time === undefined ? cellOf(record, column as string, target) : record[TIME_MEMBERS[time]!];
  if (value === undefined) return 0;
  const aim = typeof target === 'string' ? millisecondsOf(target)! : target!;
  const width = typeof scale === 'string' ? SCALES[scale]! : scale!;
  return Math.floor(Math.max(0, 1 - Math.abs(value - aim) / width) * 1e9 + 0.5) / 1e9;
}

const TIME_MEMBERS: Readonly<Record<string, 'created' | 'changed' | 'synced'>> = {
  created_at: 'created',
  changed_at: 'changed',
  synced_at: 'synced',
  first_seen_time: 'created',
  last_changed_time: 'changed',
  last_seen_time: 'synced',
};

function cellOf({ data }: KnownRecord, column: string, target: unknown): number | undefined {
  const cell = Object.hasOwn(data, column) ? data[column] : undefined;
  if (typeof target === 'number') return typeof cell === 'number' ? cell : undefined;
  return typeof cell === 'string' ? millisecondsOf(cell) : undefined;
}

/** Whole milliseconds since 1970. */
function millisecondsOf(text: string): number | undefined {
  const nanoseconds = nanosecondsOf(text);
  if (nanoseconds === undefined) return undefined;
  const rest = ((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return Number((nanoseconds - rest) / 1_000_000n);
}

/** Up to four boosts of every kind for a request of a form. */
export function randomBoosts(random: Random, isOfVariantB: boolean): Boost[] {
  const boosts: Boost[] = [];
  let left = 1;
  for (let count = random.below(5); count > 0; count--) {
    const weight = Math.floor(left * random.pick([0, 0.1, 0.3, 0.5, 1]) * 1e9) / 1e9;
    left -= weight;
    boosts.push({ weight, ...randomPart(random, isOfVariantB) });
  }
  return boosts;
}

function randomPart(random: Random, isOfVariantB: boolean): Omit<Boost, 'weight'> {
  const span = () => random.pick<number | string>([...Object.keys(SCALES), 1, 0.5, 3 * DAY, 1e300]);
  switch (random.below(5)) {
    case 0:
      return { filter: randomFilter(random, 2) };
    case 1:
      return {
        column: random.pick(['visited', 'mixed', 'colour']),
        target: random.pick(TIMES),
        scale: span(),
      };
    case 2: {
      const names = Object.keys(TIME_MEMBERS).filter((name) => name.endsWith('_time') === isOfVariantB);
      const at = START + random.below(40) * DAY;
      const target = random.pick<number | string>([at, new Date(at).toISOString()]);
      return { time: random.pick(names), target, scale: span() };
    }
    default: {
      const column = random.pick(['size', 'size', 'mixed', 'rare', 'never given']);
      const target = random.pick([random.below(40) / 3 - 3, 0.3, 1e300, -1e300, 2 ** 53]);
      return { column, target, scale: random.pick([5e-324, 0.7, 3, 12, 1e16, 1.7e308]) };
    }
  }
}
