// Indexes of `cells`.
const ENDING = 0;
const RUNNING = 1;

/** Longer than any inference takes, so that only a call that hangs reaches it. */
const MAX_WAIT_MS = 5_000;

/**
 * Counts the calls of workers into onnxruntime, so that the process does not end during one.
 *
 * Node ends worker threads with the process. If onnxruntime's addon is ended during a call, it throws an exception that
 * nothing catches, and the process aborts with a core dump instead of its exit code.
 */
export class NativeCalls {
  /** Shared by the main thread and the workers. */
  readonly cells: Int32Array;

  constructor(cells: Int32Array = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))) {
    this.cells = cells;
  }

  /** For workers: runs `call`. Never resolves if the process is ending. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    // Counted before ENDING is read, so that either this call sees ENDING or `end` sees this call.
    Atomics.add(this.cells, RUNNING, 1);
    try {
      if (Atomics.load(this.cells, ENDING) === 0) {
        return await call();
      }
    } finally {
      Atomics.sub(this.cells, RUNNING, 1);
      Atomics.notify(this.cells, RUNNING);
    }
    return new Promise(() => {});
  }

  /** For the main thread, when the process ends: prevents further calls and waits for the running ones. */
  readonly end = (): void => {
    Atomics.store(this.cells, ENDING, 1);
    const deadline = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const count = Atomics.load(this.cells, RUNNING);
      const left = deadline - performance.now();
      if (count === 0 || left <= 0) {
        return;
      }
      Atomics.wait(this.cells, RUNNING, count, left);
    }
  };
}
