import { FairLimiter } from '../async/fair-limiter.js';
import type { Stoppable } from '../async/stoppable.js';
import type { RecordStore } from '../store/record-store.js';

/** Lets callers take turns in a store that runs a limited number of calls at once. */
export class CallerTurns {
  readonly #limiter: FairLimiter | undefined;

  constructor({ maxCalls }: RecordStore) {
    if (maxCalls === undefined) return;
    this.#limiter = new FairLimiter({ total: maxCalls, perCaller: Math.ceil((maxCalls * 3) / 4) });
  }

  /** Whether the store needs no turns, because it schedules its work itself. */
  get isUnlimited(): boolean {
    return this.#limiter === undefined;
  }

  /** Runs `call` when it is the turn of the caller. */
  run<T>(caller: string | undefined, call: () => Promise<T>, stoppable?: Stoppable): Promise<T> {
    return this.#limiter === undefined ? call() : this.#limiter.run(caller ?? '', call, stoppable);
  }

  /** Waits for the turn of the caller. The returned function ends it. */
  async begin(caller: string | undefined, stoppable?: Stoppable): Promise<() => void> {
    return (await this.#limiter?.begin(caller ?? '', stoppable)) ?? (() => undefined);
  }
}
