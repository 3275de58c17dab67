import type { Job } from './job.js';

/** One caller's jobs. */
interface Caller {
  /** By call, in the order of their turns. */
  calls: Map<object, Job[]>;
  /** Texts that wait in `calls`. */
  texts: number;
  /** Jobs without room, in the order they came. */
  outside: Job[];
}

/**
 * Jobs of one kind. Callers take turns, the calls of a caller take turns within it, and the jobs of a call keep their
 * order.
 *
 * A caller has room for a job while fewer than `limit` of its texts wait: one job is taken whole, so that none is too
 * long for ever. Room goes to the call that has the fewest texts with it, so that a single record does not wait for an
 * import's.
 */
export class FairQueue {
  readonly #limit: number;
  // In the order of their turns: a map keeps that of insertion.
  readonly #callers = new Map<string, Caller>();
  /** Texts that wait, those without room too. */
  waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a job; false when there is no room for it yet. */
  push(job: Job): boolean {
    const name = job.origin.caller;
    const caller: Caller = this.#callers.get(name) ?? { calls: new Map(), texts: 0, outside: [] };
    this.#callers.set(name, caller);
    this.waiting += job.waiting;
    if (caller.texts < this.#limit) {
      enter(caller, job);
      return true;
    }
    caller.outside.push(job);
    return false;
  }

  /** Whether a job still waits for room. */
  isOutside(job: Job): boolean {
    return this.#callers.get(job.origin.caller)?.outside.includes(job) ?? false;
  }

  /** The job whose turn it is: `slice` begins the next of its texts, and the turn passes on. */
  take<T>(slice: (job: Job) => T): T | undefined {
    const [first] = this.#callers;
    if (first === undefined) return undefined;
    const [name, caller] = first;
    // A caller is kept only while one of its calls waits.
    const [turn] = caller.calls;
    const [call, jobs] = turn!;
    const job = jobs[0]!;
    const before = job.waiting;
    const taken = slice(job);
    this.waiting -= before - job.waiting;
    caller.texts -= before - job.waiting;
    if (job.waiting === 0) jobs.shift();
    caller.calls.delete(call);
    if (jobs.length > 0) caller.calls.set(call, jobs);
    this.#callers.delete(name);
    this.#admit(name, caller);
    return taken;
  }

  /** Removes what of a job nobody has begun. */
  drop(job: Job): void {
    const { caller: name, call } = job.origin;
    const caller = this.#callers.get(name);
    if (caller === undefined) return;
    const jobs = caller.calls.get(call);
    if (remove(caller.outside, job)) {
      this.waiting -= job.waiting;
    } else if (jobs !== undefined && remove(jobs, job)) {
      this.waiting -= job.waiting;
      caller.texts -= job.waiting;
      if (jobs.length === 0) caller.calls.delete(call);
    }
    this.#admit(name, caller);
  }

  /** Removes and returns everything. */
  clear(): Job[] {
    const callers = [...this.#callers.values()];
    this.#callers.clear();
    this.waiting = 0;
    return callers.flatMap(({ calls, outside }) => [...[...calls.values()].flat(), ...outside]);
  }

  /** Gives jobs the room that there is now; a caller without jobs is forgotten. */
  #admit(name: string, caller: Caller): void {
    while (caller.texts < this.#limit && caller.outside.length > 0) {
      const job = withFewestTexts(caller);
      remove(caller.outside, job);
      enter(caller, job);
    }
    if (caller.calls.size > 0) this.#callers.set(name, caller);
    else this.#callers.delete(name);
  }
}

function enter(caller: Caller, job: Job): void {
  const { call } = job.origin;
  const jobs = caller.calls.get(call) ?? [];
  jobs.push(job);
  caller.calls.set(call, jobs);
  caller.texts += job.waiting;
}

/** Of the jobs without room, the first whose call would have the fewest texts that wait. */
function withFewestTexts({ calls, outside }: Caller): Job {
  let best = outside[0]!;
  let fewest = Number.POSITIVE_INFINITY;
  for (const job of outside) {
    const before = calls.get(job.origin.call) ?? [];
    const texts = before.reduce((sum, { waiting }) => sum + waiting, job.waiting);
    if (texts < fewest) [best, fewest] = [job, texts];
    if (fewest === 1) break;
  }
  return best;
}

function remove(jobs: Job[], job: Job): boolean {
  const index = jobs.indexOf(job);
  if (index >= 0) jobs.splice(index, 1);
  return index >= 0;
}
