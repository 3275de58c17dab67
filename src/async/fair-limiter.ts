import { CosiftError } from '../errors.js';
import { groupOf, PART_OF_ISSUER } from './caller-path.js';
import { type Stoppable, throwIfStopped } from './stoppable.js';

/** Calls that may wait by default. */
const MAX_WAITING = 4096;

export interface FairLimiterOptions {
  /** Calls of all callers that run at once. */
  total: number;
  /** Calls of one caller, or of one group of callers, that run at once. */
  perCaller: number;
  /** Calls of all callers that may wait; a further call is refused as busy. Default: 4,096. */
  waiting?: number;
  /** Calls of one caller, or of one group of callers, that may wait. Default: as many as all together may have. */
  waitingPerCaller?: number;
}

/**
 * Runs a limited number of calls at once; further calls wait, and callers take turns.
 *
 * A caller is a path of ids such as `a/b`. All whose path begins with the same id are a group: groups take turns, and so
 * do the callers of a group.
 */
export class FairLimiter {
  readonly #options: FairLimiterOptions;
  readonly #runningOf = new Map<string, number>();
  /**
   * The waiting calls of each caller in the order of their arrival, by group. The next group comes first in its map, and the
   * next caller of a group in that of the group.
   */
  readonly #waiting = new Map<string, Map<string, Set<() => void>>>();
  #running = 0;
  #waitingCount = 0;

  constructor(options: FairLimiterOptions) {
    this.#options = options;
  }

  /** Calls of all callers that run at once. */
  get total(): number {
    return this.#options.total;
  }

  /**
   * Runs `call` once the limits allow it.
   *
   * @throws {CosiftError} `busy` when too many calls wait; the signal's reason when it is aborted before `call` runs.
   */
  async run<T>(caller: string, call: () => Promise<T>, stoppable: Stoppable = {}): Promise<T> {
    const turn = this.#turn(caller, stoppable);
    if (turn !== undefined) await turn;
    try {
      return await call();
    } finally {
      this.#end(caller);
    }
  }

  /** Waits until a call may run. The returned function, which is called once, ends the call. */
  async begin(caller: string, stoppable: Stoppable = {}): Promise<() => void> {
    await this.#turn(caller, stoppable);
    return () => this.#end(caller);
  }

  /** Starts a call; returns a promise if it has to wait. */
  #turn(caller: string, stoppable: Stoppable): Promise<void> | undefined {
    throwIfStopped(stoppable);
    if (!this.#mayRun(caller)) return this.#wait(caller, stoppable.signal);
    this.#start(caller);
    return undefined;
  }

  #mayRun(caller: string): boolean {
    const { total, perCaller } = this.#options;
    const group = groupOf(caller);
    if (this.#running >= total || (this.#runningOf.get(group) ?? 0) >= perCaller) return false;
    if (caller === group) return true;
    return (this.#runningOf.get(caller) ?? 0) < Math.max(1, Math.floor(perCaller * PART_OF_ISSUER));
  }

  #start(caller: string): void {
    this.#running += 1;
    this.#count(caller, 1);
  }

  #count(caller: string, change: number): void {
    const group = groupOf(caller);
    this.#countOf(group, change);
    if (caller !== group) this.#countOf(caller, change);
  }

  #countOf(id: string, change: number): void {
    const running = (this.#runningOf.get(id) ?? 0) + change;
    if (running > 0) this.#runningOf.set(id, running);
    else this.#runningOf.delete(id);
  }

  #end(caller: string): void {
    this.#running -= 1;
    this.#count(caller, -1);
    for (const [group, callers] of this.#waiting) {
      for (const [next, calls] of callers) {
        if (!this.#mayRun(next)) continue;
        const [begin] = calls;
        // The group moves to the end of its map, and the caller to the end of that of the group.
        this.#waiting.delete(group);
        this.#waiting.set(group, callers);
        callers.delete(next);
        callers.set(next, calls);
        begin?.();
        return;
      }
    }
  }

  #wait(caller: string, signal: AbortSignal | undefined): Promise<void> {
    const { waiting = MAX_WAITING, waitingPerCaller = waiting } = this.#options;
    if (this.#waitingCount >= waiting) {
      throw new CosiftError('busy', `too many calls are waiting (limit ${waiting})`);
    }
    const group = groupOf(caller);
    const callers = this.#waiting.get(group) ?? new Map<string, Set<() => void>>();
    let ofGroup = 0;
    for (const { size } of callers.values()) ofGroup += size;
    if (ofGroup >= waitingPerCaller) {
      throw new CosiftError('busy', `too many calls of this key are waiting (limit ${waitingPerCaller})`);
    }
    this.#waitingCount += 1;
    return new Promise((resolve, reject) => {
      const calls = callers.get(caller) ?? new Set();
      callers.set(caller, calls);
      this.#waiting.set(group, callers);
      const stopWaiting = () => {
        this.#waitingCount -= 1;
        signal?.removeEventListener('abort', abort);
        calls.delete(begin);
        if (calls.size === 0) callers.delete(caller);
        if (callers.size === 0) this.#waiting.delete(group);
      };
      const begin = () => {
        stopWaiting();
        this.#start(caller);
        resolve();
      };
      const abort = () => {
        stopWaiting();
        reject(signal?.reason);
      };
      calls.add(begin);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
