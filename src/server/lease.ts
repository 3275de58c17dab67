import { CosiftError } from '../errors.js';

/** What a request has taken. All of it is given back, once, when nothing works on the request any more. */
export class Lease {
  readonly #releases: (() => void)[] = [];
  /** One for the request itself, and one for each {@link hold}. */
  #holders = 1;
  #running = false;
  #ended = false;

  /** Gives back `release` with the rest; at once when that is over already. */
  add(release: () => void): void {
    if (this.#holders === 0) release();
    else this.#releases.push(release);
  }

  /** Keeps everything until the function that it returns is called. */
  hold(): () => void {
    this.#holders += 1;
    let held = true;
    return () => {
      if (held) this.#leave();
      held = false;
    };
  }

  /** Runs the handler of the request. */
  async run<T>(handler: () => Promise<T>): Promise<T> {
    if (this.#ended) throw new CosiftError('stopped', 'the caller went away');
    this.#running = true;
    try {
      return await handler();
    } finally {
      this.end();
    }
  }

  /** The caller is gone: ends the request, unless its handler runs. */
  abandon(): void {
    if (!this.#running) this.end();
  }

  /** The result is there; holders may still be at work. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#leave();
  }

  #leave(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    for (const release of this.#releases.splice(0)) release();
  }
}
