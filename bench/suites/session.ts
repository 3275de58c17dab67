import type { DatasetKey } from '../data/dataset.js';
import type { Measurement } from '../report/measurement.js';

/** What a run was asked for, and what it has found so far. */
export interface Session {
  /** The whole matrix instead of about five minutes. */
  readonly full: boolean;
  readonly datasets: readonly DatasetKey[];
  /** Names of the systems to measure beside ours. */
  readonly systems: ReadonlySet<string>;
  readonly measurements: Measurement[];
  readonly failures: string[];
  /** Tells on the terminal what is being done. */
  say(text: string): void;
}

/** A part of the bench. */
export interface Suite {
  readonly name: string;
  /** What it measures, in a line. */
  readonly about: string;
  run(session: Session): Promise<void>;
}

/** Limit of every search, unless said. */
export const LIMIT = 50;

/** What every row says of its dataset. */
export function factsOf({
  source,
  records,
  dimensions,
}: DatasetKey): Pick<Measurement, 'data' | 'records' | 'dimensions'> {
  return { ...(source === undefined ? {} : { data: source }), records, dimensions };
}
