import { nodeModule } from './node-module.js';

const events = nodeModule('node:events');

/**
 * An abort controller whose signal follows other signals, until the controller is disposed of: it is aborted as soon as
 * one of them is.
 *
 * It replaces `AbortSignal.any` where one of the signals lives long, because `AbortSignal.any` adds an entry to each of
 * its signals, and the entry is freed only with the signal.
 */
export class LinkedAbort implements Disposable {
  readonly #controller = new AbortController();
  readonly #links: (() => void)[] = [];

  constructor(...signals: readonly (AbortSignal | undefined)[]) {
    for (const signal of signals) {
      if (signal === undefined) continue;
      const abort = () => this.#controller.abort(signal.reason);
      allowAnyNumber(signal);
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
      this.#links.push(() => signal.removeEventListener('abort', abort));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Stops listening to the other signals, and does not abort its own signal. */
  unlink(): void {
    for (const unlink of this.#links.splice(0)) unlink();
  }

  [Symbol.dispose](): void {
    this.unlink();
  }
}

/** Any number of calls may have the same signal, but by default Node reports its eleventh listener as a leak. */
export function allowAnyNumber(signal: AbortSignal): void {
  try {
    events?.setMaxListeners(0, signal);
  } catch {
    // A signal of another implementation has no such limit.
  }
}
