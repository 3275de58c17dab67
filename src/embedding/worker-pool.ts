import { join } from 'node:path';
import { Piscina } from 'piscina';
import { CosiftError } from '../errors.js';
import { type ModelDirectory, PACKAGE_ROOT } from './model-directory.js';
import { NativeCalls } from './native-calls.js';
import { loadRuntime } from './runtime.js';
import { Job, type Kind, type Slice, WorkQueue } from './work-queue.js';
import type { Task, WorkerData } from './worker.js';

// Compiled, also when this module runs from its source: a worker thread takes no TypeScript.
const WORKER = join(PACKAGE_ROOT, 'dist', 'embedding', 'worker.js');

/** Threads that each hold the model, fed from one queue. Lives as long as its embedder. */
export class WorkerPool {
  readonly #threads: Piscina<Task, Float32Array>;
  readonly #workers: number;
  readonly #dimensions: number;
  readonly #queue: WorkQueue;
  readonly #calls = new NativeCalls();
  readonly #tasks = new Set<Promise<void>>();
  #closed = false;
  #running = 0;
  #inferences = 0;
  #totalMs = 0;

  private constructor(directory: ModelDirectory, workers: number, maxQueue: number) {
    this.#workers = workers;
    this.#dimensions = directory.dimensions;
    this.#queue = new WorkQueue(maxQueue);
    this.#threads = new Piscina<Task, Float32Array>({
      filename: WORKER,
      minThreads: workers,
      maxThreads: workers,
      // Only for tasks that meet a thread being replaced: no more are given out than there are workers.
      maxQueue: workers,
      recordTiming: false,
      workerData: { directory, cells: this.#calls.cells } satisfies WorkerData,
    });
    process.on('exit', this.#calls.end);
  }

  /**
   * Starts the workers; the model is loaded in all of them once this resolves.
   *
   * @throws {CosiftError} `invalid_request` when onnxruntime cannot load it.
   */
  static async open(directory: ModelDirectory, workers: number, maxQueue: number): Promise<WorkerPool> {
    await loadRuntime();
    const pool = new WorkerPool(directory, workers, maxQueue);
    try {
      await pool.#everyWorker({ kind: 'embed', texts: [] });
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
   * @throws {CosiftError} `busy` at the queue's limit, `stopped` once the pool is closed; the signal's reason.
   */
  async embed(kind: Kind, texts: readonly string[], signal?: AbortSignal): Promise<Float32Array> {
    signal?.throwIfAborted();
    if (this.#closed) {
      throw closed();
    }
    const job = new Job(texts, this.#dimensions);
    if (texts.length === 0) {
      return new Float32Array(0);
    }
    this.#queue.push(kind, job);
    this.#give();
    // piscina must not see the signal: it would kill the worker, and its model with it.
    const abandon = () => {
      this.#queue.drop(job);
      job.fail(signal?.reason);
    };
    signal?.addEventListener('abort', abandon, { once: true });
    try {
      return await job.vectors;
    } finally {
      signal?.removeEventListener('abort', abandon);
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
    try {
      job.finish(start, await this.#threads.run({ kind: 'embed', texts }));
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

  async #end(): Promise<void> {
    await this.#threads.destroy();
    process.off('exit', this.#calls.end);
  }
}

function closed(): CosiftError {
  return new CosiftError('stopped', 'the embedder is closed');
}
