import type { DatabaseService } from '../../databases/index.js';
import type { Logger } from './log-stream.js';

/** Milliseconds between two reads of the event queue. */
const INTERVAL_MS = 1000;

/** Writes the events of the engine to the log, each with its code, database and cause. */
export class EngineLog {
  readonly #events: DatabaseService['events'];
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;

  constructor(events: DatabaseService['events'], log: Logger) {
    this.#events = events;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => this.write(), INTERVAL_MS);
    // The timer must not keep the process alive.
    this.#timer.unref();
  }

  /** Writes the events since the last call. */
  write(): void {
    const { events, dropped } = this.#events.takeEvents();
    for (const { at, level, code, database, text } of events) {
      this.#log[level](
        { code, ...(database !== undefined && { database }), at: new Date(at).toISOString(), cause: text },
        'engine event',
      );
    }
    if (dropped > 0) this.#log.warn({ dropped }, 'engine events lost');
  }

  /** Stops, after a last write. Call it after the store is closed, because closing emits events. */
  stop(): void {
    clearInterval(this.#timer);
    this.write();
  }
}
