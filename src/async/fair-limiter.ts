import { CosiftError } from '../errors.js';
import { type Stoppable, throwIfStopped } from './stoppable.js';

/** Calls that may wait by default. */
const MAX_WAITING = 4096;

export interface FairLimiterOptions {
  /** Calls of all callers that run at once. */
  total: number;
  /** Calls of one caller that run at once. */
  perCaller: number;
  /** Calls of all callers that may wait; a further call is refused as busy. Default: 4,096. */
  waiting?: number;
  /** Calls of one caller that may wait. Default: as many as all callers together may have. */
  waitingPerCaller?: number;
}

/** Runs a limited number of calls at once; further calls wait, and callers take turns. */
export class FairLimiter {
  readonly #options: FairLimiterOptions;
  readonly #runningOf = new Map<string, number>();
  /** The waiting calls of each caller in the order of their arrival. The next caller comes first in the map. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #running = 0;
  #waitingCount = 0;

  constructor(options: FairLimiterOptions) {
    this.#options = options;
  }

  /**
   * Runs `call` once the limits allow it.
   *
   * @throws {CosiftError} `busy` when too many calls wait; the signal's reason when it is aborted before `call` runs.
   */
  async run<T>(caller: string, call: () => Promise<T>, stoppable: Stoppable = {}): Promise<T> {
    throwIfStopped(stoppable);
    if (this.#mayRun(caller)) this.#start(caller);
    else await this.#wait(caller, stoppable.signal);
    try {
      return await call();
    } finally {
      this.#end(caller);
    }
  }

  #mayRun(caller: string): boolean {
    const { total, perCaller } = this.#options;
    return this.#running < total && (this.#runningOf.get(caller) ?? 0) < perCaller;
  }

  #start(caller: string): void {
    this.#running += 1;
    this.#runningOf.set(caller, (this.#runningOf.get(caller) ?? 0) + 1);
  }

  #end(caller: string): void {
    this.#running -= 1;
    const remaining = (this.#runningOf.get(caller) ?? 0) - 1;
    if (remaining > 0) this.#runningOf.set(caller, remaining);
    else this.#runningOf.delete(caller);
    for (const [next, calls] of this.#waiting) {
      if (!this.#mayRun(next)) continue;
      const [begin] = calls;
      // The caller moves to the end of the map.
      this.#waiting.delete(next);
      if (calls.size > 1) this.#waiting.set(next, calls);
      begin?.();
      return;
    }
  }

  #wait(caller: string, signal: AbortSignal | undefined): Promise<void> {
    const { waiting = MAX_WAITING, waitingPerCaller = waiting } = this.#options;
    if (this.#waitingCount >= waiting) {
      throw new CosiftError('busy', `too many calls are waiting (limit ${waiting})`);
    }
    if ((this.#waiting.get(caller)?.size ?? 0) >= waitingPerCaller) {
      throw new CosiftError('busy', `too many calls of this key are waiting (limit ${waitingPerCaller})`);
    }
    this.#waitingCount += 1;
    return new Promise((resolve, reject) => {
      const calls = this.#waiting.get(caller) ?? new Set();
      this.#waiting.set(caller, calls);
      const stopWaiting = () => {
        this.#waitingCount -= 1;
        calls.delete(begin);
        signal?.removeEventListener('abort', abort);
      };
      const begin = () => {
        stopWaiting();
        this.#start(caller);
        resolve();
      };
      const abort = () => {
        stopWaiting();
        if (calls.size === 0 && this.#waiting.get(caller) === calls) this.#waiting.delete(caller);
        reject(signal?.reason);
      };
      calls.add(begin);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
