import { setMaxListeners } from 'node:events';
import { CosiftError } from '../errors.js';

/** Counts the calls under way, so that a close can refuse new calls and wait for the others. */
export class CallTracker {
  readonly #closing = new AbortController();
  #underWay = 0;
  #onIdle: (() => void) | undefined;

  constructor() {
    // Every stream listens: by default, Node reports the eleventh listener as a leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Aborted once the close has begun. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Counts a call until the returned object is disposed of.
   *
   * @throws {CosiftError} `not_ready` once the close has begun.
   */
  begin(): Disposable {
    if (this.closing.aborted) throw closedError();
    this.#underWay += 1;
    return {
      [Symbol.dispose]: () => {
        this.#underWay -= 1;
        if (this.#underWay === 0) this.#onIdle?.();
      },
    };
  }

  /**
   * Yields the items of `source` until the close begins.
   *
   * @throws {CosiftError} `not_ready` when the close begins before the end of `source`.
   */
  async *untilClosing<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const iterator = source[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#unlessClosing(iterator.next());
        if (next.done) return;
        yield next.value;
      }
    } finally {
      // Not awaited: a generator that waits for its next item ends only after that item.
      iterator.return?.().catch(() => undefined);
    }
  }

  /** Refuses further calls; resolves once no call is under way. */
  async close(): Promise<void> {
    this.#closing.abort(closedError());
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #unlessClosing<T>(result: Promise<T>): Promise<T> {
    const { closing } = this;
    return new Promise((resolve, reject) => {
      const leave = () => reject(closedError());
      if (closing.aborted) leave();
      closing.addEventListener('abort', leave, { once: true });
      result.then(resolve, reject).finally(() => closing.removeEventListener('abort', leave));
    });
  }
}

/** The error of a call that arrives after the close has begun. */
export function closedError(): CosiftError {
  return new CosiftError('not_ready', 'the data directory is closed, or being closed');
}
