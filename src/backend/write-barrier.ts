import { unlessAborted } from '../async/until-aborted.js';
import { CosiftError } from '../errors.js';

/** Writes that may wait at a closed barrier; a further write is refused as busy. */
const MAX_WAITING = 1024;

/** Runs the writes of a database at once while it is open, and lets them wait while it is closed. */
export class WriteBarrier {
  #running = 0;
  #waiting = 0;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /**
   * Runs `write` once the barrier is open. A write whose signal is aborted no longer waits.
   *
   * @throws {CosiftError} `busy` when too many writes wait; the signal's reason.
   */
  async run<T>(write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    while (this.#closed !== undefined) {
      if (this.#waiting >= MAX_WAITING) {
        throw new CosiftError('busy', `too many writes are waiting (limit ${MAX_WAITING})`);
      }
      this.#waiting += 1;
      try {
        await (signal === undefined ? this.#closed : unlessAborted(this.#closed, signal));
      } finally {
        this.#waiting -= 1;
      }
    }
    signal?.throwIfAborted();
    this.#running += 1;
    try {
      return await write();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#onIdle?.();
    }
  }

  /** Closes the barrier. Resolves once no write is running, with a function that opens the barrier again. */
  async close(): Promise<() => void> {
    let open = () => {};
    this.#closed = new Promise((resolve) => {
      open = () => {
        this.#closed = undefined;
        resolve();
      };
    });
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      this.#onIdle = undefined;
    }
    return open;
  }
}

/** One write barrier per database. */
export class WriteBarriers {
  readonly #barriers = new Map<string, WriteBarrier>();

  of(id: string): WriteBarrier {
    const barrier = this.#barriers.get(id) ?? new WriteBarrier();
    this.#barriers.set(id, barrier);
    return barrier;
  }

  /** Forgets the barrier of a database that was dropped. */
  delete(id: string): void {
    this.#barriers.delete(id);
  }
}
