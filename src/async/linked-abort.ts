/**
 * An abort controller whose signal is aborted with the first of other signals, until it is disposed of.
 *
 * Dispose of it in place of `AbortSignal.any` where one of the signals lives long: that signal keeps an entry for each
 * call of `AbortSignal.any` for as long as it lives.
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

  /** Leaves the other signals; the own one is not aborted. */
  [Symbol.dispose](): void {
    for (const unlink of this.#links.splice(0)) unlink();
  }
}
