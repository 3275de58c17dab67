/** Options of a call that can be stopped. */
export interface Stoppable {
  /**
   * Stops the call once it is aborted. It may be a getter that makes the signal, which costs more than a short call: read it
   * only before a wait.
   */
  readonly signal?: AbortSignal | undefined;
  /** Whether the call is stopped, where that is known without the signal. Default: as the signal says. */
  readonly isStopped?: boolean;
}

/** Stops a call. Node makes its signal when it is read, so a call that never reads it saves that time. */
export class Stop implements Stoppable {
  readonly #controller = new AbortController();
  #isStopped = false;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(reason: unknown): void {
    this.#isStopped = true;
    this.#controller.abort(reason);
  }
}

/** @throws the reason of the signal when the call is stopped. */
export function throwIfStopped(stoppable: Stoppable): void {
  if (stoppable.isStopped !== false) stoppable.signal?.throwIfAborted();
}
