import { groupOf, shareOf } from '../async/caller-path.js';
import type { Job } from './job.js';

interface Caller {
  /** Queued jobs by call, in the order of the calls' turns. */
  calls: Map<object, Job[]>;
  /** Waiting texts of `calls`. */
  texts: number;
}

/** The jobs of all callers whose paths begin with the same key. */
interface Group {
  /** Callers with queued jobs, in the order of their turns. */
  callers: Map<string, Caller>;
  /** Waiting texts of `callers`. */
  texts: number;
  /** Jobs that wait for room in the queue, in order of arrival. */
  overflow: Job[];
}

/**
 * Jobs of one kind. Groups of callers take turns, the callers of a group take turns within it, and so do the calls of a
 * caller. The jobs of a call keep their order.
 *
 * A job enters the queue while fewer than `limit` texts of its group wait, and fewer than the share of its caller. It
 * enters as a whole, because a job with more texts could otherwise never enter. Room goes first to the call with the
 * fewest waiting texts, so that a single record does not wait for an import.
 */
export class FairQueue {
  readonly #limit: number;
  // In the order of the groups' turns, because a map keeps its insertion order.
  readonly #groups = new Map<string, Group>();
  /** Waiting texts, including those that wait for room. */
  waiting = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a job. Returns false if the job has to wait for room. */
  push(job: Job): boolean {
    const name = groupOf(job.origin.caller);
    const group: Group = this.#groups.get(name) ?? { callers: new Map(), texts: 0, overflow: [] };
    this.#groups.set(name, group);
    this.waiting += job.waiting;
    if (this.#hasRoom(group, job)) {
      enter(group, job);
      return true;
    }
    group.overflow.push(job);
    return false;
  }

  waitsForRoom(job: Job): boolean {
    return this.#groups.get(groupOf(job.origin.caller))?.overflow.includes(job) ?? false;
  }

  /** Calls `slice` with the job whose turn it is, and passes the turn on. `slice` starts the next texts of the job. */
  take<T>(slice: (job: Job) => T): T | undefined {
    const [first] = this.#groups;
    if (first === undefined) return undefined;
    const [name, group] = first;
    // A group without queued jobs is not in the map, nor are such callers and calls.
    const [[path, caller]] = group.callers as unknown as [[string, Caller]];
    const [[call, jobs]] = caller.calls as unknown as [[object, Job[]]];
    const job = jobs[0]!;
    const before = job.waiting;
    const taken = slice(job);
    this.#leave(group, caller, before - job.waiting);
    if (job.waiting === 0) jobs.shift();
    caller.calls.delete(call);
    if (jobs.length > 0) caller.calls.set(call, jobs);
    group.callers.delete(path);
    if (caller.calls.size > 0) group.callers.set(path, caller);
    this.#groups.delete(name);
    this.#admit(name, group);
    return taken;
  }

  /** Removes the texts of a job that were not started. */
  drop(job: Job): void {
    const { caller: path, call } = job.origin;
    const name = groupOf(path);
    const group = this.#groups.get(name);
    if (group === undefined) return;
    const caller = group.callers.get(path);
    const jobs = caller?.calls.get(call);
    if (remove(group.overflow, job)) {
      this.waiting -= job.waiting;
    } else if (caller !== undefined && jobs !== undefined && remove(jobs, job)) {
      this.#leave(group, caller, job.waiting);
      if (jobs.length === 0) caller.calls.delete(call);
      if (caller.calls.size === 0) group.callers.delete(path);
    }
    this.#admit(name, group);
  }

  clear(): Job[] {
    const jobs: Job[] = [];
    for (const { callers, overflow } of this.#groups.values()) {
      for (const { calls } of callers.values()) jobs.push(...[...calls.values()].flat());
      jobs.push(...overflow);
    }
    this.#groups.clear();
    this.waiting = 0;
    return jobs;
  }

  #hasRoom(group: Group, { origin: { caller } }: Job): boolean {
    const texts = group.callers.get(caller)?.texts ?? 0;
    return group.texts < this.#limit && texts < shareOf(caller, this.#limit);
  }

  #leave(group: Group, caller: Caller, texts: number): void {
    this.waiting -= texts;
    group.texts -= texts;
    caller.texts -= texts;
  }

  /** Moves jobs into the queue while there is room, and removes a group without jobs. */
  #admit(name: string, group: Group): void {
    for (;;) {
      const job = shortestJob(group, (other) => this.#hasRoom(group, other));
      if (job === undefined) break;
      remove(group.overflow, job);
      enter(group, job);
    }
    if (group.callers.size > 0) this.#groups.set(name, group);
    else this.#groups.delete(name);
  }
}

function enter(group: Group, job: Job): void {
  const { caller: path, call } = job.origin;
  const caller: Caller = group.callers.get(path) ?? { calls: new Map(), texts: 0 };
  group.callers.set(path, caller);
  const jobs = caller.calls.get(call) ?? [];
  jobs.push(job);
  caller.calls.set(call, jobs);
  caller.texts += job.waiting;
  group.texts += job.waiting;
}

/** The first waiting job that has room and whose call, with this job, would have the fewest waiting texts. */
function shortestJob({ callers, overflow }: Group, hasRoom: (job: Job) => boolean): Job | undefined {
  let best: Job | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const job of overflow) {
    const before = callers.get(job.origin.caller)?.calls.get(job.origin.call) ?? [];
    const texts = before.reduce((sum, { waiting }) => sum + waiting, job.waiting);
    if (texts < fewest && hasRoom(job)) [best, fewest] = [job, texts];
    if (fewest === 1) break;
  }
  return best;
}

function remove(jobs: Job[], job: Job): boolean {
  const index = jobs.indexOf(job);
  if (index >= 0) jobs.splice(index, 1);
  return index >= 0;
}
