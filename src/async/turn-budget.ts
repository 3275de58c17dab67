// Not the global one: tests of a caller may replace it with one that never runs.
import { setImmediate } from 'node:timers/promises';

/** Milliseconds of a turn of the event loop that work of many parts takes, before others have their turn. */
const BUDGET_MS = 0.25;

/** Divides work of many parts among turns of the event loop. */
export class TurnBudget {
  #began = performance.now();

  /** Whether the next part should wait for another turn. */
  get isUsed(): boolean {
    return performance.now() - this.#began > BUDGET_MS;
  }

  /** Waits for another turn. */
  async next(): Promise<void> {
    await setImmediate();
    this.#began = performance.now();
  }
}
