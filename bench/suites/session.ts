import type { DatasetKey } from '../data/dataset.js';
import type { Measurement } from '../report/measurement.js';

/** The options of a run, and its measurements so far. */
export interface Session {
  /** Runs the full matrix instead of the default, which takes about nine minutes. */
  readonly full: boolean;
  readonly datasets: readonly DatasetKey[];
  /** Datasets of the suites that measure only cosift: all, or the largest synthetic one. */
  readonly deep: readonly DatasetKey[];
  /** Names of the peers to measure. */
  readonly systems: ReadonlySet<string>;
  readonly measurements: Measurement[];
  readonly failures: string[];
  /** Prints the progress on the terminal. */
  say(text: string): void;
}

/** A part of the bench. */
export interface Suite {
  readonly name: string;
  /** One line about what the suite measures. */
  readonly about: string;
  /** Whether it measures peers too. */
  readonly peers?: true;
  run(session: Session): Promise<void>;
}

/** Default limit of a search. */
export const LIMIT = 50;

/** The properties of the dataset that every row contains. */
export function factsOf({
  source,
  records,
  dimensions,
}: DatasetKey): Pick<Measurement, 'data' | 'records' | 'dimensions'> {
  return { ...(source === undefined ? {} : { data: source }), records, dimensions };
}
