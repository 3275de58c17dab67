import { FairLimiter } from '../async/fair-limiter.js';
import { LinkedAbort } from '../async/linked-abort.js';
import { unlessAborted } from '../async/until-aborted.js';
import { CosiftError } from '../errors.js';
import { heldTooLong, MAX_HELD_MS } from '../store/store-errors.js';

/** Writes that may wait at a closed barrier; a further write is refused as busy. */
const MAX_WAITING = 1024;
/** Writes that run concurrently after they waited, so that they leave room for others. */
const MAX_RESUMED = 4;

/** Options of a write that may have to wait for a re-embedding. */
export interface WriteOptions {
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** Called when the write has to wait, so that the caller gives up what other writes need. */
  onWait?: (() => void) | undefined;
}

/** Runs the writes of a database at once while it is open, and lets them wait while it is closed. */
export class WriteBarrier {
  #running = 0;
  #waiting = 0;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  /** The writes that wait, and those that have waited and run. */
  readonly #resumed = new FairLimiter({ total: MAX_RESUMED, perCaller: MAX_RESUMED });

  /**
   * Runs `write` once the barrier is open.
   *
   * @throws {CosiftError} `busy` when too many writes wait, or this one has waited for {@link MAX_HELD_MS}; the signal's
   * reason.
   */
  async run<T>(write: () => Promise<T>, { signal, onWait }: WriteOptions = {}): Promise<T> {
    signal?.throwIfAborted();
    if (this.#closed === undefined) return this.#run(write);
    if (this.#waiting >= MAX_WAITING) {
      throw new CosiftError('busy', `too many writes are waiting (limit ${MAX_WAITING})`);
    }
    onWait?.();
    const late = new AbortController();
    using stop = new LinkedAbort(late.signal, signal);
    const timer = setTimeout(() => late.abort(heldTooLong()), MAX_HELD_MS);
    let isWaiting = true;
    const endWait = () => {
      clearTimeout(timer);
      if (isWaiting) this.#waiting -= 1;
      isWaiting = false;
    };
    const untilOpen = async () => {
      while (this.#closed !== undefined) await unlessAborted(this.#closed, stop.signal);
      endWait();
      return this.#run(write);
    };
    this.#waiting += 1;
    try {
      return await this.#resumed.run('', untilOpen, stop);
    } finally {
      endWait();
    }
  }

  async #run<T>(write: () => Promise<T>): Promise<T> {
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
