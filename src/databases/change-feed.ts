import { FairLimiter } from '../async/fair-limiter.js';
import { LinkedAbort } from '../async/linked-abort.js';
import { type Changes, parseJson } from '../schema/index.js';
import type { StoreChangesRequest } from '../store/record-store.js';
import type { Dependencies } from './dependencies.js';
import type { ScopedOptions } from './scope.js';

export interface ChangesRequest extends Pick<StoreChangesRequest, 'after' | 'limit' | 'epoch'> {
  /** How long a response without changes may wait for a first change, in milliseconds. */
  waitMs: number;
}

/** The start of a response without changes. */
const EMPTY = /^\{"changes":\[\]/;

/** Reads the change feeds of the databases, and lets a reader wait for the next change. */
export class ChangeFeed {
  readonly #dependencies: Dependencies;
  /** What wakes the readers that wait, by database. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Reads are limited, because one read through a filter may test 10,000 changes. */
  readonly #reads = new FairLimiter({ total: 8, perCaller: 6 });

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Wakes the readers that wait for a change of a database; undefined: those of all databases. */
  notify(id: string | undefined): void {
    const woken = id === undefined ? [...this.#waiting.values()] : [this.#waiting.get(id) ?? []];
    for (const wakes of woken) for (const wake of wakes) wake();
  }

  /** Returns the JSON of a `Changes`; waits up to `waitMs` for a first change after `after`, or until a close. */
  async read(
    id: string,
    request: ChangesRequest,
    { scope, signal }: ScopedOptions = {},
  ): Promise<Uint8Array> {
    const { store, turns, calls } = this.#dependencies;
    using _call = calls.begin();
    const { limit, waitMs } = request;
    const deadline = performance.now() + waitMs;
    for (let { after, epoch } = request; ; ) {
      // The reader listens before it reads, so that it misses no commit in between.
      using stop = new LinkedAbort(calls.closing, signal);
      const written = this.#nextChange(id, stop.signal);
      try {
        const read = { after, limit, epoch, forced_filter: scope?.forcedFilter };
        const ask = () => turns.run(id, scope?.caller, () => store.changes(id, read, signal), { signal });
        const body = await this.#reads.run(scope?.caller ?? '', ask, { signal });
        const remainingMs = deadline - performance.now();
        if (
          remainingMs <= 0 ||
          signal?.aborted ||
          calls.closing.aborted ||
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

  /** Resolves after the next change of a database, and once the signal is aborted. */
  #nextChange(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set();
      this.#waiting.set(id, waiting);
      const wake = () => {
        waiting.delete(wake);
        if (waiting.size === 0) this.#waiting.delete(id);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal.addEventListener('abort', wake);
      if (signal.aborted) wake();
    });
  }
}
