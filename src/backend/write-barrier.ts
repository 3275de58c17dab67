import { CosiftError } from '../errors.js';

/** Writes that may wait at a closed gate; one more is refused as busy. */
const MAX_WAITING = 1024;

/** Lets the writes of a database pass, unless it is closed: then they wait. */
export class WriteGate {
  #inside = 0;
  #waiting = 0;
  #closed: Promise<void> | undefined;
  #emptied: (() => void) | undefined;

  /**
   * Runs `write` once the gate is open.
   *
   * @throws {CosiftError} `busy` when too many wait; the signal's reason.
   */
  async pass<T>(write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    while (this.#closed !== undefined) {
      if (this.#waiting >= MAX_WAITING) {
        throw new CosiftError('busy', `too many writes are waiting (limit ${MAX_WAITING})`);
      }
      this.#waiting += 1;
      await this.#closed;
      this.#waiting -= 1;
    }
    signal?.throwIfAborted();
    this.#inside += 1;
    try {
      return await write();
    } finally {
      this.#inside -= 1;
      if (this.#inside === 0) this.#emptied?.();
    }
  }

  /** Closes it; resolves once no write is under way, with what opens it again. */
  async close(): Promise<() => void> {
    let open = () => {};
    this.#closed = new Promise((resolve) => {
      open = () => {
        this.#closed = undefined;
        resolve();
      };
    });
    if (this.#inside > 0) {
      await new Promise<void>((resolve) => {
        this.#emptied = resolve;
      });
      this.#emptied = undefined;
    }
    return open;
  }
}
