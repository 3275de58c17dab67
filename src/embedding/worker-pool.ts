import { Piscina } from 'piscina';
import { CosiftError } from '../errors.js';
import { packageFile } from '../platform/package.js';
import type { Embedded, SplitRequest, TextKind } from './job.js';
import type { ModelDirectory } from './model-directory.js';
import { NativeCalls } from './native-calls.js';
import { loadRuntime } from './runtime.js';
import type { Executor } from './scheduler.js';
import type { Task, WorkerData } from './worker.js';

// The compiled file, even if this module runs from its source, because a worker thread cannot run TypeScript.
const WORKER = packageFile('dist/embedding/worker.js');

export interface PoolOptions {
  workers: number;
  /** JavaScript heap of a worker in MiB, without the model. A worker that needs more ends and is replaced. */
  workerMemoryMb: number;
}

interface SharedPool {
  pool: Promise<WorkerPool>;
  users: number;
}

/** The pools that are open, by what they were opened with. */
const shared = new Map<string, SharedPool>();

/**
 * Opens a pool, or takes the one that this process has open for the same model and options: the model is loaded once,
 * however many directories of records use it. It ends when each of its users has closed it.
 *
 * @throws {CosiftError} `invalid_request` when onnxruntime cannot load the model.
 */
export async function sharedPool(
  directory: ModelDirectory,
  fingerprint: string,
  options: PoolOptions,
): Promise<Executor> {
  const key = JSON.stringify([directory.path, fingerprint, options.workers, options.workerMemoryMb]);
  const open = shared.get(key) ?? { pool: WorkerPool.open(directory, options), users: 0 };
  shared.set(key, open);
  open.users += 1;
  const leave = () => {
    open.users -= 1;
    if (open.users === 0) shared.delete(key);
    return open.users === 0;
  };
  try {
    const pool = await open.pool;
    return {
      concurrency: pool.concurrency,
      sliceSize: pool.sliceSize,
      run: (...slice) => pool.run(...slice),
      close: async () => {
        if (leave()) await pool.close();
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Worker threads, each with a copy of the model. All but the first start when they are needed. */
class WorkerPool {
  readonly concurrency: number;
  // Enough texts to outweigh the cost of a message to a worker, and few enough that other jobs do not wait long.
  readonly sliceSize = { texts: 16, characters: 2_000 };
  readonly #threads: Piscina<Task, Embedded | undefined>;
  readonly #calls = new NativeCalls();

  private constructor(directory: ModelDirectory, { workers, workerMemoryMb }: PoolOptions) {
    this.concurrency = workers;
    this.#threads = new Piscina<Task, Embedded | undefined>({
      filename: WORKER,
      minThreads: 1,
      maxThreads: workers,
      // A loaded model is not given up.
      idleTimeout: Number.POSITIVE_INFINITY,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: workerMemoryMb },
      workerData: { directory, cells: this.#calls.cells } satisfies WorkerData,
    });
    // Emitted when an idle worker ends. No task fails, and piscina replaces the worker.
    this.#threads.on('error', () => undefined);
    process.on('exit', this.#calls.end);
  }

  /**
   * Starts a worker. When this resolves, it has loaded the model.
   *
   * @throws {CosiftError} `invalid_request` when onnxruntime cannot load the model.
   */
  static async open(directory: ModelDirectory, options: PoolOptions): Promise<WorkerPool> {
    await loadRuntime();
    const pool = new WorkerPool(directory, options);
    try {
      await pool.#threads.run({ kind: 'query', texts: [] });
    } catch (cause) {
      await pool.#end();
      throw new CosiftError(
        'invalid_request',
        `the model in ${directory.path} cannot be loaded: ${String(cause)}`,
        {
          cause,
        },
      );
    }
    return pool;
  }

  /** Embeds a slice. A started inference cannot be stopped: piscina would end the worker and its loaded model. */
  async run(
    kind: TextKind,
    texts: readonly string[],
    _signal: AbortSignal,
    split: SplitRequest | undefined,
  ): Promise<Embedded> {
    const task: Task = {
      kind,
      texts,
      ...(split && { ...split, lines: texts.map((_, text) => split.lines(text)) }),
    };
    // One retry, because the worker may have ended and been replaced.
    const embedded = await this.#threads.run(task).catch(() => this.#threads.run(task));
    return embedded!;
  }

  async close(): Promise<void> {
    // All workers are idle, so that piscina gives one task to each.
    const releases = this.#threads.threads.map(() => this.#threads.run({ kind: 'release' }));
    // Waits for all tasks before it throws, because a thread must not be stopped inside onnxruntime.
    await Promise.allSettled(releases);
    await Promise.all(releases);
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#threads.destroy();
    process.off('exit', this.#calls.end);
  }
}
