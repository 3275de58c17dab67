import { setMaxListeners } from 'node:events';
import { untilAborted } from '../async/until-aborted.js';
import { CosiftError } from '../errors.js';

/** Counts the calls in progress, so that a close can refuse new calls and wait for the others. */
export class CallTracker {
  readonly #closing = new AbortController();
  #inProgress = 0;
  #onIdle: (() => void) | undefined;

  constructor() {
    // Every stream adds a listener, and Node reports the eleventh as a leak by default.
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
    this.#inProgress += 1;
    return {
      [Symbol.dispose]: () => {
        this.#inProgress -= 1;
        if (this.#inProgress === 0) this.#onIdle?.();
      },
    };
  }

  /**
   * Yields the items of `source` until the close begins.
   *
   * @throws {CosiftError} `not_ready` when the close begins before the end of `source`.
   */
  untilClosing<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    return untilAborted(source, this.closing);
  }

  /** Refuses further calls; resolves once no call is in progress. */
  async close(): Promise<void> {
    this.#closing.abort(closedError());
    if (this.#inProgress === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

/** The error of a call that arrives after the close has begun. */
export function closedError(): CosiftError {
  return new CosiftError('not_ready', 'the data directory is closed, or being closed');
}
