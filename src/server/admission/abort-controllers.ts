import { getEventListeners } from 'node:events';

/**
 * Abort controllers that one request after the other uses, because making a controller with its signal costs a tenth of
 * a search of a small database.
 */
export class AbortControllers {
  /** None of these is aborted or has listeners. There are at most as many as requests were in flight at once. */
  readonly #unused: AbortController[] = [];

  take(): AbortController {
    return this.#unused.pop() ?? new AbortController();
  }

  /** Takes back a controller whose call is done. A controller that still has listeners is not used again. */
  giveBack(controller: AbortController): void {
    const { signal } = controller;
    if (!signal.aborted && getEventListeners(signal, 'abort').length === 0) this.#unused.push(controller);
  }
}
