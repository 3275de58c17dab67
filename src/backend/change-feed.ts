import { EventEmitter, once } from 'node:events';
import { FairLimiter } from '../async/fair-limiter.js';
import { LinkedAbort } from '../async/linked-abort.js';
import { type Changes, parseJson } from '../schema/index.js';
import type { RecordStore } from '../store/record-store.js';
import type { ChangesRequest, ScopedOptions } from './backend.js';

/** The start of a response without changes. */
const EMPTY = /^\{"changes":\[\]/;

/** Reads the change feeds of the databases, and lets a reader wait for the next change. */
export class ChangeFeed {
  readonly #store: RecordStore;
  /** Aborted once the backend closes, which ends every wait. */
  readonly #closing: AbortSignal;
  readonly #written = new EventEmitter().setMaxListeners(0);
  /** Reads are limited, because one read through a filter may test 10,000 changes. */
  readonly #reads = new FairLimiter({ total: 8, perCaller: 6 });

  constructor(store: RecordStore, closing: AbortSignal) {
    this.#store = store;
    this.#closing = closing;
  }

  /** Wakes the readers that wait for a change of a database; undefined: those of all databases. */
  notify(id: string | undefined): void {
    const events = id === undefined ? this.#written.eventNames() : [eventOf(id)];
    for (const event of events) this.#written.emit(event);
  }

  /** See `Backend.changes`. */
  async read(id: string, request: ChangesRequest, { scope, signal }: ScopedOptions): Promise<Uint8Array> {
    const { limit, waitMs } = request;
    const deadline = performance.now() + waitMs;
    for (let { after, epoch } = request; ; ) {
      // The reader listens before it reads, so that it misses no commit in between.
      using stop = new LinkedAbort(this.#closing, signal);
      const written = once(this.#written, eventOf(id), { signal: stop.signal }).catch(() => undefined);
      try {
        const read = { after, limit, epoch, forced_filter: scope?.forcedFilter };
        const body = await this.#reads.run(
          scope?.caller ?? '',
          () => this.#store.changes(id, read, signal),
          signal,
        );
        const remainingMs = deadline - performance.now();
        if (
          remainingMs <= 0 ||
          signal?.aborted ||
          this.#closing.aborted ||
          !EMPTY.test(Buffer.from(body).toString('latin1', 0, 16))
        ) {
          return body;
        }
        const feed = parseJson<Changes>(body);
        // Changes that a filter hides are not read again.
        after = feed.position;
        // A database that is dropped and created again during the wait has another feed.
        epoch = feed.epoch;
        if (feed.has_more) continue;
        const timer = setTimeout(() => stop.abort(), remainingMs);
        await written;
        clearTimeout(timer);
        if (signal?.aborted) return body;
      } finally {
        stop.abort();
      }
    }
  }
}

/** Event names have a prefix, because emitters treat some names specially, such as `error`. */
const eventOf = (id: string) => `written:${id}`;
