import type { Dataset } from '../../data/dataset.js';
import type { Cosift } from '../../peers/adapters/cosift.js';
import type { Values } from '../../report/measurement.js';
import { latency, median } from '../../report/statistics.js';

/** A case off the usual path that once cost ten times the usual case or more. */
export interface Cliff {
  /** What is measured, for the progress. */
  readonly name: string;
  run(fixture: Fixture): Promise<readonly CliffCell[]>;
}

/** A measured case: the values of a row of the report, with the goal among them. */
export interface CliffCell extends Pick<Dataset, 'records' | 'dimensions'> {
  readonly cell: string;
  readonly values: Values;
}

/** The engine of the suite, with a large and a small database of the usual kind. A cliff may add databases. */
export interface Fixture {
  readonly large: Cosift;
  readonly largeData: Dataset;
  readonly small: Cosift;
  readonly smallData: Dataset;
}

/** The goal of a cell: the largest accepted ratio to the usual case, or the largest accepted time. */
export type Goal = Pick<
  Values,
  'goal_times' | 'goal_p50_ms' | 'goal_p99_ms' | 'goal_mean_ms' | 'goal_abort_ms'
>;

/** Microseconds of an operation. */
export async function timed(operation: () => Promise<unknown>): Promise<number> {
  const start = process.hrtime.bigint();
  await operation();
  return Number(process.hrtime.bigint() - start) / 1_000;
}

/** Runs the usual case and the case in turn, `rounds` times each after a warm-up, and compares them. */
export async function compared(
  usual: (round: number) => Promise<unknown>,
  unusual: (round: number) => Promise<unknown>,
  rounds: number,
  goal: Goal,
): Promise<Values> {
  const [usualMicros, micros]: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    const pair = [await timed(() => usual(round)), await timed(() => unusual(round))] as const;
    if (round < 0) continue;
    usualMicros.push(pair[0]);
    micros.push(pair[1]);
  }
  return valuesOf(usualMicros, micros, goal);
}

/** The values of a case whose times, and those of the usual case, were taken in the same run. */
export function valuesOf(usual: readonly number[], micros: readonly number[], goal: Goal): Values {
  return { ...latency(micros), times_usual: median(micros) / median(usual), ...goal };
}
