import { matching } from '../schema/option-checks.js';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** A duration such as `10s`. */
export const DURATION = /^(\d{1,6})(ms|s|m|h)$/;

/** The pause between two passes of a source that is followed. */
export const DEFAULT_EVERY = '10s';

export const duration = matching('a duration such as 10s, 500ms, 5m or 1h', DURATION);

/** The milliseconds of a duration. */
export function millisecondsOf(text: string): number {
  const [, number, unit] = DURATION.exec(text) as unknown as [string, string, keyof typeof UNITS];
  return Number(number) * UNITS[unit];
}
