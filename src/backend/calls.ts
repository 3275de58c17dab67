import { setMaxListeners } from 'node:events';
import { CosiftError } from '../errors.js';

/** The calls under way, so that a close can refuse new ones and wait for these. */
export class Calls {
  readonly #closing = new AbortController();
  #underWay = 0;
  #ended: (() => void) | undefined;

  constructor() {
    // Every stream listens: by default, the eleventh listener is reported as a leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Aborted once the close has begun. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Counts a call until it is disposed of.
   *
   * @throws {CosiftError} `not_ready` once the close has begun.
   */
  begin(): Disposable {
    if (this.closing.aborted) throw closed();
    this.#underWay += 1;
    return {
      [Symbol.dispose]: () => {
        this.#underWay -= 1;
        if (this.#underWay === 0) this.#ended?.();
      },
    };
  }

  /**
   * What `source` gives, until the close begins.
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
      // Not awaited: a source that is waited for ends only when it gives something.
      iterator.return?.().catch(() => undefined);
    }
  }

  /** Refuses further calls; resolves once none is under way. */
  async close(): Promise<void> {
    this.#closing.abort(closed());
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
  }

  #unlessClosing<T>(result: Promise<T>): Promise<T> {
    const { closing } = this;
    return new Promise((resolve, reject) => {
      const leave = () => reject(closed());
      if (closing.aborted) leave();
      closing.addEventListener('abort', leave, { once: true });
      result.then(resolve, reject).finally(() => closing.removeEventListener('abort', leave));
    });
  }
}

/** What a call gets that comes too late. */
export function closed(): CosiftError {
  return new CosiftError('not_ready', 'the data directory is closed, or being closed');
}
