interface Run<T> {
  result: Promise<T>;
  callers: number;
  stop: AbortController;
}

/** Runs under way, by key: who asks for one that has begun waits for it instead of beginning another. */
export class SharedRuns<T> {
  readonly #runs = new Map<string, Run<T>>();

  has(key: string): boolean {
    return this.#runs.has(key);
  }

  /** The result of the run of `key`. A caller may leave by `signal`; the run is stopped when the last one has. */
  async join(key: string, start: (stop: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const run = this.#runs.get(key) ?? this.#begin(key, start);
    run.callers += 1;
    try {
      return await (signal === undefined ? run.result : unlessAborted(run.result, signal));
    } finally {
      run.callers -= 1;
      if (run.callers === 0) {
        this.#forget(key, run);
        run.stop.abort();
      }
    }
  }

  #begin(key: string, start: (stop: AbortSignal) => Promise<T>): Run<T> {
    const stop = new AbortController();
    const run: Run<T> = { result: start(stop.signal), callers: 0, stop };
    this.#runs.set(key, run);
    const forget = () => this.#forget(key, run);
    run.result.then(forget, forget);
    return run;
  }

  #forget(key: string, run: Run<T>): void {
    // Another may have begun since the last caller of this one left.
    if (this.#runs.get(key) === run) {
      this.#runs.delete(key);
    }
  }
}

function unlessAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
