import type { Job } from './job.js';

/** The jobs of one caller. */
interface Caller {
  /** Queued jobs by call, in the order of the calls' turns. */
  calls: Map<object, Job[]>;
  /** Waiting texts of `calls`. */
  texts: number;
  /** Jobs that wait for room in the queue, in order of arrival. */
  overflow: Job[];
}

/**
 * Jobs of one kind. Callers take turns, the calls of a caller take turns within it, and the jobs of a call keep their
 * order.
 *
 * A job enters the queue while fewer than `limit` texts of its caller wait. It enters as a whole, because a job with more
 * than `limit` texts could otherwise never enter. Room goes first to the call with the fewest waiting texts, so that a
 * single record does not wait for an import.
 */
export class FairQueue {
  readonly #limit: number;
  // In the order of the callers' turns, because a map keeps its insertion order.
  readonly #callers = new Map<string, Caller>();
  /** Waiting texts, including those that wait for room. */
  waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a job. Returns false if the job has to wait for room. */
  push(job: Job): boolean {
    const name = job.origin.caller;
    const caller: Caller = this.#callers.get(name) ?? { calls: new Map(), texts: 0, overflow: [] };
    this.#callers.set(name, caller);
    this.waiting += job.waiting;
    if (caller.texts < this.#limit) {
      enter(caller, job);
      return true;
    }
    caller.overflow.push(job);
    return false;
  }

  /** Whether a job still waits for room. */
  waitsForRoom(job: Job): boolean {
    return this.#callers.get(job.origin.caller)?.overflow.includes(job) ?? false;
  }

  /** Calls `slice` with the job whose turn it is, and passes the turn on. `slice` starts the next texts of the job. */
  take<T>(slice: (job: Job) => T): T | undefined {
    const [first] = this.#callers;
    if (first === undefined) return undefined;
    const [name, caller] = first;
    // A caller without waiting calls is not in the map.
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

  /** Removes the texts of a job that were not started. */
  drop(job: Job): void {
    const { caller: name, call } = job.origin;
    const caller = this.#callers.get(name);
    if (caller === undefined) return;
    const jobs = caller.calls.get(call);
    if (remove(caller.overflow, job)) {
      this.waiting -= job.waiting;
    } else if (jobs !== undefined && remove(jobs, job)) {
      this.waiting -= job.waiting;
      caller.texts -= job.waiting;
      if (jobs.length === 0) caller.calls.delete(call);
    }
    this.#admit(name, caller);
  }

  /** Removes and returns all jobs. */
  clear(): Job[] {
    const callers = [...this.#callers.values()];
    this.#callers.clear();
    this.waiting = 0;
    return callers.flatMap(({ calls, overflow }) => [...[...calls.values()].flat(), ...overflow]);
  }

  /** Moves jobs into the queue while there is room, and removes a caller without jobs. */
  #admit(name: string, caller: Caller): void {
    while (caller.texts < this.#limit && caller.overflow.length > 0) {
      const job = withFewestTexts(caller);
      remove(caller.overflow, job);
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

/** The first job in `overflow` whose call, with this job, would have the fewest waiting texts. */
function withFewestTexts({ calls, overflow }: Caller): Job {
  let best = overflow[0]!;
  let fewest = Number.POSITIVE_INFINITY;
  for (const job of overflow) {
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
