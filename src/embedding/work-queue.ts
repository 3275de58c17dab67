import { CosiftError } from '../errors.js';

/** Whose texts wait: those of searches go before those of records. */
export type Kind = 'query' | 'passage';

/** One caller's texts, from the moment they are queued until the last has its vector. */
export class Job {
  readonly texts: readonly string[];
  readonly vectors: Promise<Float32Array>;
  readonly #dimensions: number;
  readonly #out: Float32Array;
  #resolve!: (vectors: Float32Array) => void;
  #reject!: (reason: unknown) => void;
  #unfinished: number;
  /** The first text that no worker has begun. */
  next = 0;

  constructor(texts: readonly string[], dimensions: number) {
    this.texts = texts;
    this.#dimensions = dimensions;
    this.#unfinished = texts.length;
    this.#out = new Float32Array(texts.length * dimensions);
    this.vectors = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get waiting(): number {
    return this.texts.length - this.next;
  }

  /** Takes the vectors of the texts from `start` on. */
  finish(start: number, vectors: Float32Array): void {
    this.#out.set(vectors, start * this.#dimensions);
    this.#unfinished -= vectors.length / this.#dimensions;
    if (this.#unfinished === 0) {
      this.#resolve(this.#out);
    }
  }

  fail(reason: unknown): void {
    this.#reject(reason);
  }
}

/** Consecutive texts of one job, enough to be worth a message and few enough that a query need not wait long. */
export interface Slice {
  job: Job;
  start: number;
  texts: readonly string[];
}

const SLICE_TEXTS = 16;
const SLICE_CHARACTERS = 2_000;

/** Jobs in the order they are served: queries first, then the jobs of records a slice each in turn. */
export class WorkQueue {
  readonly #limit: number;
  readonly #jobs: Record<Kind, Job[]> = { query: [], passage: [] };

  /** `limit` is in texts and holds for each kind. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get waiting(): number {
    return this.#waiting('query') + this.#waiting('passage');
  }

  /**
   * Appends a job. One is taken whole while fewer texts than the limit wait, so that none is too long for ever.
   *
   * @throws {CosiftError} `busy` at the limit.
   */
  push(kind: Kind, job: Job): void {
    const waiting = this.#waiting(kind);
    if (waiting >= this.#limit) {
      throw new CosiftError('busy', `${waiting} texts wait to be embedded; the limit is ${this.#limit}`, {
        fields: { waiting, limit: this.#limit },
      });
    }
    this.#jobs[kind].push(job);
  }

  /** Removes the next slice; undefined when nothing waits. */
  take(): Slice | undefined {
    const line = this.#jobs.query.length > 0 ? this.#jobs.query : this.#jobs.passage;
    const job = line.shift();
    if (job === undefined) {
      return undefined;
    }
    const start = job.next;
    let characters = 0;
    do {
      characters += job.texts[job.next]!.length;
      job.next += 1;
    } while (job.waiting > 0 && job.next - start < SLICE_TEXTS && characters < SLICE_CHARACTERS);
    if (job.waiting > 0) {
      // To the end: a long import and a single record take turns.
      line.push(job);
    }
    return { job, start, texts: job.texts.slice(start, job.next) };
  }

  /** Removes what of a job nobody has begun. */
  drop(job: Job): void {
    for (const line of Object.values(this.#jobs)) {
      const index = line.indexOf(job);
      if (index >= 0) {
        line.splice(index, 1);
      }
    }
  }

  /** Removes and returns everything. */
  clear(): Job[] {
    return [...this.#jobs.query.splice(0), ...this.#jobs.passage.splice(0)];
  }

  #waiting(kind: Kind): number {
    return this.#jobs[kind].reduce((sum, job) => sum + job.waiting, 0);
  }
}
