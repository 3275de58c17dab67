import { join } from 'node:path';
import { Piscina } from 'piscina';
import { CosiftError } from '../errors.js';
import { type Embedded, Job, type Kind, type Origin } from './job.js';
import { type ModelDirectory, PACKAGE_ROOT } from './model-directory.js';
import { NativeCalls } from './native-calls.js';
import { loadRuntime } from './runtime.js';
import { type Slice, WorkQueue } from './work-queue.js';
import type { Task, WorkerData } from './worker.js';

// Compiled, also when this module runs from its source: a worker thread takes no TypeScript.
const WORKER = join(PACKAGE_ROOT, 'dist', 'embedding', 'worker.js');

/** How a pool works. */
export interface PoolOptions {
  workers: number;
  /** Texts of one caller that may wait, of each kind; see `FairQueue`. */
  maxQueue: number;
  /** How long a call waits for room in the queue until it gets `busy`. */
  maxWaitMs: number;
  /** JavaScript memory of a worker, MiB. A worker that needs more ends and is replaced. The model's is not counted. */
  workerMemoryMb: number;
}

/** Who asks for vectors, and for how long they wait. */
export interface EmbedCall {
  origin: Origin;
  /** Whether to wait for room for as long as it takes. */
  patient: boolean;
  signal: AbortSignal | undefined;
}

/** Threads that each hold the model, fed from one queue. Lives as long as its embedder. */
export class WorkerPool {
  readonly #threads: Piscina<Task, Embedded | undefined>;
  readonly #workers: number;
  readonly #maxWaitMs: number;
  readonly #dimensions: number;
  readonly #queue: WorkQueue;
  readonly #calls = new NativeCalls();
  readonly #tasks = new Set<Promise<void>>();
  #closed = false;
  #running = 0;
  #inferences = 0;
  #totalMs = 0;

  private constructor(directory: ModelDirectory, options: PoolOptions) {
    const { workers, maxQueue, maxWaitMs, workerMemoryMb } = options;
    this.#workers = workers;
    this.#maxWaitMs = maxWaitMs;
    this.#dimensions = directory.dimensions;
    this.#queue = new WorkQueue(maxQueue);
    this.#threads = new Piscina<Task, Embedded | undefined>({
      filename: WORKER,
      minThreads: workers,
      maxThreads: workers,
      // Only for tasks that meet a thread being replaced: no more are given out than there are workers.
      maxQueue: workers,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: workerMemoryMb },
      workerData: { directory, cells: this.#calls.cells } satisfies WorkerData,
    });
    // The death of a worker that has nothing to do is nobody's failure: piscina replaces it.
    this.#threads.on('error', () => undefined);
    process.on('exit', this.#calls.end);
  }

  /**
   * Starts the workers; the model is loaded in all of them once this resolves.
   *
   * @throws {CosiftError} `invalid_request` when onnxruntime cannot load it.
   */
  static async open(directory: ModelDirectory, options: PoolOptions): Promise<WorkerPool> {
    await loadRuntime();
    const pool = new WorkerPool(directory, options);
    try {
      await pool.#everyWorker({ kind: 'query', texts: [] });
    } catch (cause) {
      await pool.#end();
      throw new CosiftError(
        'invalid_request',
        `the model ${directory.graph} cannot be loaded: ${String(cause)}`,
        {
          cause,
        },
      );
    }
    return pool;
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
   * @throws {CosiftError} `busy` when there is no room for too long, `stopped` once the pool is closed; the signal's
   * reason.
   */
  async embed(kind: Kind, texts: readonly string[], call: EmbedCall): Promise<Embedded> {
    const { origin, patient, signal } = call;
    signal?.throwIfAborted();
    if (this.#closed) {
      throw closed();
    }
    const job = new Job(kind, texts, origin, this.#dimensions);
    if (texts.length === 0) {
      return { vectors: new Float32Array(0), truncated: 0 };
    }
    const abandon = (reason: unknown) => {
      this.#queue.drop(job);
      job.fail(reason);
    };
    const waits = !this.#queue.push(job) && !patient;
    const refuse = () => {
      if (this.#queue.isOutside(job)) abandon(this.#busy());
    };
    if (waits && this.#maxWaitMs === 0) refuse();
    const timer = waits ? setTimeout(refuse, this.#maxWaitMs) : undefined;
    // piscina must not see the signal: it would kill the worker, and its model with it.
    const leave = () => abandon(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    this.#give();
    try {
      return await job.embedded;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    for (const job of this.#queue.clear()) {
      job.fail(closed());
    }
    await Promise.all(this.#tasks);
    await this.#everyWorker({ kind: 'release' });
    await this.#end();
  }

  /** Hands out slices while a worker is free. */
  #give(): void {
    while (this.#tasks.size < this.#workers) {
      const slice = this.#queue.take();
      if (slice === undefined) {
        return;
      }
      const task = this.#run(slice).finally(() => {
        this.#tasks.delete(task);
        this.#give();
      });
      this.#tasks.add(task);
    }
  }

  async #run({ job, start, texts }: Slice): Promise<void> {
    const begin = performance.now();
    this.#running += texts.length;
    const task: Task = { kind: job.kind, texts };
    try {
      // Once more when it fails: the worker may have ended, and another has taken its place.
      const embedded = await this.#threads.run(task).catch(() => this.#threads.run(task));
      job.finish(start, embedded!);
      this.#inferences += texts.length;
    } catch (cause) {
      this.#queue.drop(job);
      job.fail(new CosiftError('internal', `a text could not be embedded: ${String(cause)}`, { cause }));
    } finally {
      this.#running -= texts.length;
      this.#totalMs += performance.now() - begin;
    }
  }

  /** Runs `task` once in each worker. All must be idle: then piscina gives each the next one. */
  async #everyWorker(task: Task): Promise<void> {
    const runs = Array.from({ length: this.#workers }, () => this.#threads.run(task));
    // All have ended before one's failure is passed on: a thread must not be stopped inside onnxruntime.
    await Promise.allSettled(runs);
    await Promise.all(runs);
  }

  #busy(): CosiftError {
    const detail = `too many texts wait to be embedded: no room within ${this.#maxWaitMs} ms; try again`;
    return new CosiftError('busy', detail, { fields: { waiting: this.#queue.waiting } });
  }

  async #end(): Promise<void> {
    await this.#threads.destroy();
    process.off('exit', this.#calls.end);
  }
}

function closed(): CosiftError {
  return new CosiftError('stopped', 'the embedder is closed');
}
