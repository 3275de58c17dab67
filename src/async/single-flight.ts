import { unlessAborted } from './until-aborted.js';

interface Flight<T> {
  result: Promise<T>;
  callers: number;
  controller: AbortController;
}

/** Runs one call per key at a time. Callers that ask for the same key while its call runs share the result. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** Whether a call for `key` is running. */
  has(key: string): boolean {
    return this.#flights.has(key);
  }

  /**
   * Returns the result of the running call for `key`; starts one with `start` if none is running.
   *
   * A caller leaves when its `signal` is aborted, and gets the signal's reason. The signal that `start` receives is
   * aborted once every caller has left.
   */
  async run(key: string, start: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#begin(key, start);
    flight.callers += 1;
    try {
      return await (signal === undefined ? flight.result : unlessAborted(flight.result, signal));
    } finally {
      flight.callers -= 1;
      if (flight.callers === 0) {
        this.#forget(key, flight);
        flight.controller.abort();
      }
    }
  }

  #begin(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight: Flight<T> = { result: start(controller.signal), callers: 0, controller };
    this.#flights.set(key, flight);
    const forget = () => this.#forget(key, flight);
    flight.result.then(forget, forget);
    return flight;
  }

  #forget(key: string, flight: Flight<T>): void {
    // A new call for the key may have begun since the last caller of this one left.
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
