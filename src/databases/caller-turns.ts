import { FairLimiter } from '../async/fair-limiter.js';
import type { Stoppable } from '../async/stoppable.js';
import type { RecordStore } from '../store/record-store.js';

/** Lets callers take turns at each server of a store that runs a limited number of calls at once. */
export class CallerTurns {
  readonly #store: RecordStore;
  readonly #limiters = new Map<string, FairLimiter>();

  constructor(store: RecordStore) {
    this.#store = store;
  }

  /** The turns at the server of a database; undefined in a store that schedules its work itself. */
  of(id: string): FairLimiter | undefined {
    const calls = this.#store.callsOf(id);
    if (calls === undefined) return undefined;
    const { server, atOnce } = calls;
    const known = this.#limiters.get(server);
    if (known?.total === atOnce) return known;
    const limiter = new FairLimiter({ total: atOnce, perCaller: Math.ceil((atOnce * 3) / 4) });
    this.#limiters.set(server, limiter);
    return limiter;
  }

  /** Runs `call` for a database when it is the turn of the caller. */
  run<T>(id: string, caller: string | undefined, call: () => Promise<T>, stoppable?: Stoppable): Promise<T> {
    return this.of(id)?.run(caller ?? '', call, stoppable) ?? call();
  }

  /** Waits for the turn of the caller. The returned function ends it. */
  async begin(id: string, caller: string | undefined, stoppable?: Stoppable): Promise<() => void> {
    return (await this.of(id)?.begin(caller ?? '', stoppable)) ?? (() => undefined);
  }
}
