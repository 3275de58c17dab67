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

/** A call that waits, and the places that it takes. */
interface Waiting {
  readonly places: number;
  begin(): void;
}

/**
 * Runs a limited number of calls at once; further calls wait, and callers take turns. A call of many parts takes several
 * places, each as one call.
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
  readonly #waiting = new Map<string, Map<string, Set<Waiting>>>();
  #running = 0;
  /** Whether a call waits that its caller may run, but for which there are too few places. */
  #blocked = false;
  #waitingCount = 0;

  constructor(options: FairLimiterOptions) {
    this.#options = options;
  }

  /** Calls of all callers that run at once. */
  get total(): number {
    return this.#options.total;
  }

  /**
   * Runs `call` once the limits allow it. A call that takes more `places` than its caller may have takes all of those.
   *
   * @throws {CosiftError} `busy` when too many calls wait; the signal's reason when it is aborted before `call` runs.
   */
  async run<T>(caller: string, call: () => Promise<T>, stoppable: Stoppable = {}, places = 1): Promise<T> {
    const taken = Math.min(places, this.#shareOf(caller));
    const turn = this.#turn(caller, stoppable, taken);
    if (turn !== undefined) await turn;
    try {
      return await call();
    } finally {
      this.#end(caller, taken);
    }
  }

  /** Waits until a call may run. The returned function, which is called once, ends the call. */
  async begin(caller: string, stoppable: Stoppable = {}): Promise<() => void> {
    await this.#turn(caller, stoppable, 1);
    return () => this.#end(caller, 1);
  }

  /** Starts a call; returns a promise if it has to wait. */
  #turn(caller: string, stoppable: Stoppable, places: number): Promise<void> | undefined {
    throwIfStopped(stoppable);
    if (this.#blocked || !this.#mayRun(caller, places)) return this.#wait(caller, stoppable.signal, places);
    this.#start(caller, places);
    return undefined;
  }

  #mayRun(caller: string, places: number): boolean {
    return this.#running + places <= this.#options.total && this.#isWithinShare(caller, places);
  }

  #isWithinShare(caller: string, places: number): boolean {
    const group = groupOf(caller);
    if ((this.#runningOf.get(group) ?? 0) + places > this.#options.perCaller) return false;
    return caller === group || (this.#runningOf.get(caller) ?? 0) + places <= this.#shareOf(caller);
  }

  /** Calls of a caller that run at once. */
  #shareOf(caller: string): number {
    const { perCaller } = this.#options;
    return caller === groupOf(caller) ? perCaller : Math.max(1, Math.floor(perCaller * PART_OF_ISSUER));
  }

  #start(caller: string, places: number): void {
    this.#running += places;
    this.#count(caller, places);
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

  #end(caller: string, places: number): void {
    this.#running -= places;
    this.#count(caller, -places);
    while (this.#beginNext());
  }

  /** Begins the next call that waits; false if none may run. */
  #beginNext(): boolean {
    this.#blocked = false;
    for (const [group, callers] of this.#waiting) {
      for (const [next, calls] of callers) {
        const [call] = calls;
        if (call === undefined || !this.#isWithinShare(next, call.places)) continue;
        if (!this.#mayRun(next, call.places)) {
          // Calls that take fewer places must not overtake a call for ever.
          this.#blocked = true;
          return false;
        }
        // The group moves to the end of its map, and the caller to the end of that of the group.
        this.#waiting.delete(group);
        this.#waiting.set(group, callers);
        callers.delete(next);
        callers.set(next, calls);
        call.begin();
        return true;
      }
    }
    return false;
  }

  #wait(caller: string, signal: AbortSignal | undefined, places: number): Promise<void> {
    const { waiting = MAX_WAITING, waitingPerCaller = waiting } = this.#options;
    if (this.#waitingCount >= waiting) {
      throw new CosiftError('busy', `too many calls are waiting (limit ${waiting})`);
    }
    const group = groupOf(caller);
    const callers = this.#waiting.get(group) ?? new Map<string, Set<Waiting>>();
    let ofGroup = 0;
    for (const { size } of callers.values()) ofGroup += size;
    if (ofGroup >= waitingPerCaller) {
      throw new CosiftError('busy', `too many calls of this key are waiting (limit ${waitingPerCaller})`);
    }
    this.#waitingCount += 1;
    return new Promise((resolve, reject) => {
      const calls = callers.get(caller) ?? new Set<Waiting>();
      callers.set(caller, calls);
      this.#waiting.set(group, callers);
      const stopWaiting = () => {
        this.#waitingCount -= 1;
        signal?.removeEventListener('abort', abort);
        calls.delete(call);
        if (calls.size === 0) callers.delete(caller);
        if (callers.size === 0) this.#waiting.delete(group);
      };
      const begin = () => {
        stopWaiting();
        this.#start(caller, places);
        resolve();
      };
      const abort = () => {
        stopWaiting();
        reject(signal?.reason);
        while (this.#beginNext());
      };
      const call = { places, begin };
      calls.add(call);
      if (this.#isWithinShare(caller, places)) this.#blocked = true;
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}
