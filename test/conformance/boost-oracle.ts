import { nanosecondsOf, satisfies } from '../../bench/data/predicate.js';
import type { Data, FilterGroup } from '../../src/schema/index.js';
import { elementsOf } from './elements.js';

/** A boost as a request has it. */
export interface Boost {
  weight: number;
  filter?: FilterGroup;
  column?: string;
  time?: string;
  target?: number | string;
  scale?: number | string;
}

/** What the boosts of a record depend on; times in milliseconds since 1970. */
interface Boosted {
  data: Data;
  created: number;
  changed: number;
  synced: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The scales that random boosts have as texts, with their milliseconds. */
export const SCALES: Readonly<Record<string, number>> = {
  P40D: 40 * DAY,
  PT36H: 36 * HOUR,
  P1W: 7 * DAY,
  PT45S: 45_000,
};

/** The published rule of the score: weights and parts in steps of 1e-9, and their sum rounded half up. */
export function boostedScore(meaning: number, boosts: readonly Boost[], record: Boosted): number {
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
export function boostOf({ filter, column, time, target, scale }: Boost, record: Boosted): number {
  if (filter !== undefined) return satisfies(record.data, filter) ? 1 : 0;
  const values =
    time === undefined ? valuesOf(record, column as string, target) : [record[TIME_MEMBERS[time]!]];
  const aim = typeof target === 'string' ? millisecondsOf(target)! : target!;
  const width = typeof scale === 'string' ? SCALES[scale]! : scale!;
  const nearness = (value: number) =>
    Math.floor(Math.max(0, 1 - Math.abs(value - aim) / width) * 1e9 + 0.5) / 1e9;
  return Math.max(0, ...values.map(nearness));
}

/** The members that times have, by their names in requests. */
export const TIME_MEMBERS: Readonly<Record<string, 'created' | 'changed' | 'synced'>> = {
  created_at: 'created',
  changed_at: 'changed',
  synced_at: 'synced',
  first_seen_time: 'created',
  last_changed_time: 'changed',
  last_seen_time: 'synced',
};

/** The numbers in a column, or the times for a target that is a time. */
function valuesOf(record: Boosted, column: string, target: unknown): number[] {
  return elementsOf(record, column).flatMap((value) => {
    if (typeof target === 'number') return typeof value === 'number' ? value : [];
    return typeof value === 'string' ? (millisecondsOf(value) ?? []) : [];
  });
}

/** Whole milliseconds since 1970. */
function millisecondsOf(text: string): number | undefined {
  const nanoseconds = nanosecondsOf(text);
  if (nanoseconds === undefined) return undefined;
  const rest = ((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return Number((nanoseconds - rest) / 1_000_000n);
}
