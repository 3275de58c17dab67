const ENDING = 0;
const UNDER_WAY = 1;

// Longer than any text takes, so that only a hang meets it.
const PATIENCE_MS = 5_000;

/**
 * Counts the calls of workers into onnxruntime, so that the process does not end inside one.
 *
 * Node ends worker threads with the process. onnxruntime's addon, ended in the middle of a call, throws with nobody to
 * catch it, and the process would abort with a core dump instead of leaving with its exit code.
 */
export class NativeCalls {
  /** Shared by the main thread and the workers. */
  readonly cells: Int32Array;

  constructor(cells: Int32Array = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))) {
    this.cells = cells;
  }

  /** In a worker: makes a call, or waits for the end once this has begun. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    // Before the look at ENDING: one of the two sides always sees the other.
    Atomics.add(this.cells, UNDER_WAY, 1);
    try {
      if (Atomics.load(this.cells, ENDING) === 0) {
        return await call();
      }
    } finally {
      Atomics.sub(this.cells, UNDER_WAY, 1);
      Atomics.notify(this.cells, UNDER_WAY);
    }
    return new Promise(() => {});
  }

  /** In the main thread, when the process ends: lets no further call begin and waits for those under way. */
  readonly end = (): void => {
    Atomics.store(this.cells, ENDING, 1);
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const count = Atomics.load(this.cells, UNDER_WAY);
      const left = deadline - performance.now();
      if (count === 0 || left <= 0) {
        return;
      }
      Atomics.wait(this.cells, UNDER_WAY, count, left);
    }
  };
}
