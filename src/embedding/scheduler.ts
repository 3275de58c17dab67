import { CosiftError } from '../errors.js';
import { type Embedded, Job, type Origin, type SplitRequest, type TextKind } from './job.js';
import { type Slice, type SliceSize, WorkQueue } from './work-queue.js';

/** Embeds slices of texts: with worker threads, an endpoint or a function. */
export interface Executor {
  /** Maximum number of slices that run at once. */
  readonly concurrency: number;
  readonly sliceSize: SliceSize;
  /**
   * Returns the vectors of a slice. An executor that knows the window of the model splits longer texts as `split` says.
   *
   * `signal` is aborted once nobody waits for them. An executor that cannot stop may ignore it. An error that is no
   * {@link CosiftError} becomes `internal`.
   */
  run(
    kind: TextKind,
    texts: readonly string[],
    signal: AbortSignal,
    split: SplitRequest | undefined,
  ): Promise<Embedded>;
  /** Frees the model. No slice is running. */
  close(): Promise<void>;
}

export interface SchedulerOptions {
  /** Number of values of a vector. */
  dimensions: number;
  /** Queue length of one caller for each kind of text; see `FairQueue`. */
  maxQueue: number;
  /** How long a call waits for room in the queue before it fails with `busy`. */
  maxWaitMs: number;
}

/** Options of one call of {@link EmbeddingScheduler.embed}. */
export interface EmbedCall {
  origin: Origin;
  /** Whether to wait for room in the queue without a time limit. */
  waitForRoom: boolean;
  signal: AbortSignal | undefined;
  /** How long texts are split. Default: as one value, into any number of passages. */
  split?: SplitRequest | undefined;
}

/** Embeds the texts of all calls from one queue, in slices. */
export class EmbeddingScheduler {
  readonly #executor: Executor;
  readonly #dimensions: number;
  readonly #maxWaitMs: number;
  readonly #queue: WorkQueue;
  readonly #tasks = new Set<Promise<void>>();
  #closed = false;
  #running = 0;
  #inferences = 0;
  #totalMs = 0;

  /** Takes over `executor`, and closes it in `close`. */
  constructor(executor: Executor, { dimensions, maxQueue, maxWaitMs }: SchedulerOptions) {
    this.#executor = executor;
    this.#dimensions = dimensions;
    this.#maxWaitMs = maxWaitMs;
    this.#queue = new WorkQueue(maxQueue, executor.sliceSize);
  }

  get stats(): { queued: number; running: number; inferences: number; totalMs: number } {
    return {
      queued: this.#queue.waiting,
      running: this.#running,
      inferences: this.#inferences,
      totalMs: this.#totalMs,
    };
  }

  /**
   * The vectors of `texts` in their order.
   *
   * @throws {CosiftError} `busy` when the queue stays full for `maxWaitMs`; `stopped` when the pool is closed; the
   * signal's reason.
   */
  async embed(kind: TextKind, texts: readonly string[], call: EmbedCall): Promise<Embedded> {
    const { origin, waitForRoom, signal, split } = call;
    signal?.throwIfAborted();
    if (this.#closed) {
      throw closedError();
    }
    const job = new Job(kind, texts, origin, this.#dimensions, split);
    if (texts.length === 0) {
      return { vectors: new Float32Array(0), splits: [] };
    }
    const abandon = (reason: unknown) => {
      this.#queue.drop(job);
      job.fail(reason);
    };
    const mayTimeOut = !this.#queue.push(job) && !waitForRoom;
    const refuse = () => {
      if (this.#queue.waitsForRoom(job)) abandon(this.#busy());
    };
    if (mayTimeOut && this.#maxWaitMs === 0) refuse();
    const timer = mayTimeOut ? setTimeout(refuse, this.#maxWaitMs) : undefined;
    const abort = () => abandon(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    this.#dispatch();
    try {
      return await job.embedded;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    for (const job of this.#queue.clear()) {
      job.fail(closedError());
    }
    await Promise.all(this.#tasks);
    await this.#executor.close();
  }

  /** Starts slices until `concurrency` of them run. */
  #dispatch(): void {
    while (this.#tasks.size < this.#executor.concurrency) {
      const slice = this.#queue.take();
      if (slice === undefined) {
        return;
      }
      const task = this.#run(slice).finally(() => {
        this.#tasks.delete(task);
        this.#dispatch();
      });
      this.#tasks.add(task);
    }
  }

  async #run({ job, start, texts }: Slice): Promise<void> {
    const begin = performance.now();
    this.#running += texts.length;
    try {
      const { split } = job;
      const ofSlice = split && { ...split, lines: (text: number) => split.lines(start + text) };
      job.finish(start, await this.#executor.run(job.kind, texts, job.signal, ofSlice));
      if (!split?.onlySplits) this.#inferences += texts.length;
    } catch (cause) {
      this.#queue.drop(job);
      const detail = `a text could not be embedded: ${String(cause)}`;
      job.fail(cause instanceof CosiftError ? cause : new CosiftError('internal', detail, { cause }));
    } finally {
      this.#running -= texts.length;
      this.#totalMs += performance.now() - begin;
    }
  }

  #busy(): CosiftError {
    const detail = `too many texts wait to be embedded: no room within ${this.#maxWaitMs} ms; try again`;
    return new CosiftError('busy', detail, { fields: { waiting: this.#queue.waiting } });
  }
}

function closedError(): CosiftError {
  return new CosiftError('stopped', 'the embedder is closed');
}
