/**
 * An abort controller whose signal is aborted with the first of other signals, until the controller is disposed of.
 *
 * Use it instead of `AbortSignal.any` when one of the signals lives long: each call of `AbortSignal.any` adds an entry
 * to its signals that is freed only with the signals.
 */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #links: (() => void)[] = [];

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    for (const signal of signals) {
      if (signal === undefined) continue;
      const abort = () => this.#controller.abort(signal.reason);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
      this.#links.push(() => signal.removeEventListener('abort', abort));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.#controller.abort();
  }

  /** Stops listening to the other signals, and does not abort its own signal. */
  [Symbol.dispose](): void {
    for (const unlink of this.#links.splice(0)) unlink();
  }
}
