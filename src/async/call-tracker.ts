import { CosiftError } from '../errors.js';
import { nodeModule } from './node-module.js';
import { untilAborted } from './until-aborted.js';

/** Counts the calls in progress, so that a close can refuse new calls and wait for the others. */
export class CallTracker {
  readonly #closing = new AbortController();
  readonly #what: string;
  #inProgress = 0;
  #onIdle: (() => void) | undefined;

  /** `what` names that which is closed in the error of a later call. */
  constructor(what: string) {
    this.#what = what;
    // Every stream adds a listener, and Node reports the eleventh as a leak by default.
    nodeModule('node:events')?.setMaxListeners(0, this.#closing.signal);
  }

  /** Aborted with `not_ready` once the close has begun. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /**
   * Counts a call until the returned object is disposed of.
   *
   * @throws {CosiftError} `not_ready` once the close has begun.
   */
  begin(): Disposable {
    this.#begin();
    return { [Symbol.dispose]: () => this.#end() };
  }

  /** Counts a call like {@link begin}. It is faster, and works in browsers without `using`. */
  async run<T>(call: () => Promise<T>): Promise<T> {
    this.#begin();
    try {
      return await call();
    } finally {
      this.#end();
    }
  }

  /**
   * Yields the results of a call that is counted like {@link begin} from the first of them on. A close runs the call to
   * its end and keeps its results, because nobody may be reading them.
   */
  async *runToEnd<T>(call: () => AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    const results = call()[Symbol.asyncIterator]();
    this.#begin();
    const ahead: Promise<IteratorResult<T>>[] = [];
    let hasEnded = false;
    const end = () => {
      if (hasEnded) return;
      hasEnded = true;
      this.closing.removeEventListener('abort', readAhead);
      this.#end();
    };
    const next = async () => {
      try {
        const result = await results.next();
        if (result.done) end();
        return result;
      } catch (error) {
        end();
        throw error;
      }
    };
    const readAhead = async () => {
      while (!hasEnded) {
        const result = next();
        ahead.push(result);
        // Whoever reads the results gets the failure.
        await result.catch(() => undefined);
      }
    };
    this.closing.addEventListener('abort', readAhead, { once: true });
    try {
      for (;;) {
        const { done, value } = await (ahead.shift() ?? next());
        if (done) return;
        yield value;
      }
    } finally {
      try {
        await results.return?.();
      } finally {
        end();
      }
    }
  }

  /**
   * Returns the items of `source`. An array is read to its end; any other source until the close begins, and it fails then
   * with `not_ready` if it has not ended.
   */
  untilClosing<T>(source: Iterable<T> | AsyncIterable<T>): Iterable<T> | AsyncIterable<T> {
    // A program in plain JavaScript may pass what is no source: its reader reports it.
    if (typeof source !== 'object' || source === null || Array.isArray(source)) return source;
    if (Symbol.asyncIterator in source) return untilAborted(source, this.closing);
    return Symbol.iterator in source ? this.#whileOpen(source) : source;
  }

  *#whileOpen<T>(source: Iterable<T>): Generator<T, void, undefined> {
    for (const item of source) {
      this.closing.throwIfAborted();
      yield item;
    }
  }

  /** Refuses further calls; resolves once no call is in progress. */
  async close(): Promise<void> {
    this.#closing.abort(this.#closedError());
    if (this.#inProgress === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #begin(): void {
    if (this.closing.aborted) throw this.#closedError();
    this.#inProgress += 1;
  }

  #closedError(): CosiftError {
    return new CosiftError('not_ready', `${this.#what} is closed, or being closed`);
  }

  #end(): void {
    this.#inProgress -= 1;
    if (this.#inProgress === 0) this.#onIdle?.();
  }
}
