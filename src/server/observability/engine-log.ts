import type { Backend } from '../../backend/backend.js';
import type { Logger } from './logger.js';

/** Milliseconds between two looks for events. */
const INTERVAL_MS = 1000;

/** Writes the events of the engine into the log, with the code, the database and the cause of each. */
export class EngineLog {
  readonly #backend: Pick<Backend, 'takeEvents'>;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;

  constructor(backend: Pick<Backend, 'takeEvents'>, log: Logger) {
    this.#backend = backend;
    this.#log = log;
  }

  start(): void {
    this.#timer = setInterval(() => this.write(), INTERVAL_MS);
    // It must not keep the process alive.
    this.#timer.unref();
  }

  /** Writes what has come since the last call. */
  write(): void {
    const { events, dropped } = this.#backend.takeEvents();
    for (const { at, level, code, database, text } of events) {
      this.#log[level](
        { code, ...(database !== undefined && { database }), at: new Date(at).toISOString(), cause: text },
        'engine event',
      );
    }
    if (dropped > 0) this.#log.warn({ dropped }, 'engine events lost');
  }

  /** Call it once the backend is closed, since closing reports too. */
  stop(): void {
    clearInterval(this.#timer);
    this.write();
  }
}
