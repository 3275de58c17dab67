import { FairQueue } from './fair-queue.js';
import type { Job, TextKind } from './job.js';

/** Consecutive texts of one job that are embedded at a time. */
export interface Slice {
  job: Job;
  start: number;
  texts: readonly string[];
}

/** When a slice is full. A single text may have more characters. */
export interface SliceSize {
  texts: number;
  characters: number;
}

/** Shares of the work while texts of both kinds wait. */
const WEIGHTS: Readonly<Record<TextKind, number>> = { query: 3, passage: 1 };

// Approximate cost of a text, in characters: `TEXT_COST` plus its length. The input size of the model bounds the length.
const TEXT_COST = 40;
const MAX_LENGTH_COST = 1_200;

/**
 * Texts that wait to be embedded.
 *
 * While texts of both kinds wait, each kind gets its share of the work. A kind gains no credit while none of its texts
 * wait, and its work counts only while texts of the other kind wait.
 */
export class WorkQueue {
  readonly #queues: Readonly<Record<TextKind, FairQueue>>;
  /** Work done, in characters, divided by the weight of the kind. The kind with the smaller value is next. */
  readonly #served: Record<TextKind, number> = { query: 0, passage: 0 };

  readonly #sliceSize: SliceSize;

  /** `limit` is the limit of each of the two {@link FairQueue}s. */
  constructor(limit: number, sliceSize: SliceSize) {
    this.#sliceSize = sliceSize;
    this.#queues = { query: new FairQueue(limit), passage: new FairQueue(limit) };
  }

  get waiting(): number {
    return this.#queues.query.waiting + this.#queues.passage.waiting;
  }

  push(job: Job): boolean {
    const other = job.kind === 'query' ? 'passage' : 'query';
    if (this.waiting === 0) {
      // Work of one kind while no text of the other waited does not count.
      this.#served.query = 0;
      this.#served.passage = 0;
    } else if (this.#queues[job.kind].waiting === 0) {
      this.#served[job.kind] = Math.max(this.#served[job.kind], this.#served[other]);
    }
    return this.#queues[job.kind].push(job);
  }

  waitsForRoom(job: Job): boolean {
    return this.#queues[job.kind].waitsForRoom(job);
  }

  /** Removes and returns the next slice; undefined if no text waits. */
  take(): Slice | undefined {
    const { query, passage } = this.#queues;
    const kind =
      passage.waiting === 0 || (query.waiting > 0 && this.#served.query <= this.#served.passage)
        ? 'query'
        : 'passage';
    return this.#queues[kind].take((job) => this.#slice(job));
  }

  drop(job: Job): void {
    this.#queues[job.kind].drop(job);
  }

  clear(): Job[] {
    return [...this.#queues.query.clear(), ...this.#queues.passage.clear()];
  }

  #slice(job: Job): Slice {
    const { texts: maxTexts, characters: maxCharacters } = this.#sliceSize;
    const start = job.next;
    let characters = 0;
    let cost = 0;
    do {
      const { length } = job.texts[job.next]!;
      characters += length;
      cost += TEXT_COST + Math.min(length, MAX_LENGTH_COST);
      job.next += 1;
    } while (job.waiting > 0 && job.next - start < maxTexts && characters < maxCharacters);
    this.#served[job.kind] += cost / WEIGHTS[job.kind];
    return { job, start, texts: job.texts.slice(start, job.next) };
  }
}
