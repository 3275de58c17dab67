import { FairQueue } from './fair-queue.js';
import type { Job, Kind } from './job.js';

/** Consecutive texts of one job, enough to be worth a message and few enough that others need not wait long. */
export interface Slice {
  job: Job;
  start: number;
  texts: readonly string[];
}

const SLICE_TEXTS = 16;
const SLICE_CHARACTERS = 2_000;

/** Shares of the workers' time while both kinds wait: an import leaves searches three quarters, and no more is lost. */
const WEIGHTS: Readonly<Record<Kind, number>> = { query: 3, passage: 1 };

/** What a text costs, about, in characters: the model's window bounds it, and no text is free. */
const TEXT_COST = 40;
const LARGEST_COST = 1_200;

/**
 * Texts that wait for a worker.
 *
 * While both kinds wait, each gets its share of the work, whatever waits of the other. A kind that has not waited
 * gains no credit by that, and one that was alone owes nothing.
 */
export class WorkQueue {
  readonly #queues: Readonly<Record<Kind, FairQueue>>;
  /** Work done per share, in characters: the kind that has had less is next. */
  readonly #served: Record<Kind, number> = { query: 0, passage: 0 };

  /** `limit`: see {@link FairQueue}; it holds for each kind. */
  constructor(limit: number) {
    this.#queues = { query: new FairQueue(limit), passage: new FairQueue(limit) };
  }

  get waiting(): number {
    return this.#queues.query.waiting + this.#queues.passage.waiting;
  }

  /** Adds a job; false when it waits for room. */
  push(job: Job): boolean {
    const other = job.kind === 'query' ? 'passage' : 'query';
    if (this.waiting === 0) {
      // What a kind was served while it was alone took nothing from the other.
      this.#served.query = 0;
      this.#served.passage = 0;
    } else if (this.#queues[job.kind].waiting === 0) {
      this.#served[job.kind] = Math.max(this.#served[job.kind], this.#served[other]);
    }
    return this.#queues[job.kind].push(job);
  }

  /** Whether a job still waits for room. */
  isOutside(job: Job): boolean {
    return this.#queues[job.kind].isOutside(job);
  }

  /** Removes the next slice; undefined when nothing waits. */
  take(): Slice | undefined {
    const { query, passage } = this.#queues;
    const kind =
      passage.waiting === 0 || (query.waiting > 0 && this.#served.query <= this.#served.passage)
        ? 'query'
        : 'passage';
    return this.#queues[kind].take((job) => this.#slice(job));
  }

  /** Removes what of a job nobody has begun. */
  drop(job: Job): void {
    this.#queues[job.kind].drop(job);
  }

  /** Removes and returns everything. */
  clear(): Job[] {
    return [...this.#queues.query.clear(), ...this.#queues.passage.clear()];
  }

  #slice(job: Job): Slice {
    const start = job.next;
    let characters = 0;
    let cost = 0;
    do {
      const { length } = job.texts[job.next]!;
      characters += length;
      cost += TEXT_COST + Math.min(length, LARGEST_COST);
      job.next += 1;
    } while (job.waiting > 0 && job.next - start < SLICE_TEXTS && characters < SLICE_CHARACTERS);
    this.#served[job.kind] += cost / WEIGHTS[job.kind];
    return { job, start, texts: job.texts.slice(start, job.next) };
  }
}
