import { sleep } from '../async/sleep.js';
import type { Reembedding } from '../schema/index.js';
import type { ReembeddingLeases, SharedReembedding } from '../store/reembedding-store.js';

/** How often leases are renewed, and the re-embeddings of other processes are looked at. Milliseconds. */
const RENEW_MS = 1_500;

/** A re-embedding that this process does. */
export interface OwnReembedding {
  describe(): Promise<Reembedding>;
  /** Called when another process has taken over or cancelled the re-embedding. */
  lost(): void;
}

/** The re-embeddings of all processes that use one store. */
export class SharedReembeddings {
  readonly #leases: ReembeddingLeases;
  readonly #own = new Map<string, OwnReembedding>();
  readonly #closing = new AbortController();
  #renewing: Promise<void> | undefined;
  #onAbandoned: (shared: SharedReembedding) => Promise<void> = async () => undefined;
  /** The re-embeddings as this process saw them last. */
  #seen = new Map<string, SharedReembedding>();

  constructor(leases: ReembeddingLeases) {
    this.#leases = leases;
  }

  /** Calls `onAbandoned` with what a process that ended has left, until the close. */
  watch(onAbandoned: (shared: SharedReembedding) => Promise<void>): void {
    this.#onAbandoned = onAbandoned;
    this.#renewing ??= this.#run();
  }

  /** The last re-embedding of a database. */
  async find(database: string): Promise<SharedReembedding | undefined> {
    await this.#look();
    return this.#seen.get(database);
  }

  /** Like {@link find}, as it was a moment ago. */
  seen(database: string): SharedReembedding | undefined {
    return this.#seen.get(database);
  }

  /** Takes a re-embedding for this process; false while another process has it. */
  async take(database: string, own: OwnReembedding): Promise<boolean> {
    if (!(await this.#leases.take(database, await own.describe()))) return false;
    this.#own.set(database, own);
    this.#renewing ??= this.#run();
    return true;
  }

  /** Stores the state of a re-embedding that has ended or stopped in this process. */
  async release(database: string, own: OwnReembedding): Promise<void> {
    if (this.#own.get(database) !== own) return;
    this.#own.delete(database);
    await this.#leases.release(database, await own.describe());
  }

  async remove(database: string): Promise<void> {
    this.#own.delete(database);
    await this.#leases.remove(database);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#renewing;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(RENEW_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      // A failure is tried again.
      await this.#renew().catch(() => undefined);
    }
  }

  async #renew(): Promise<void> {
    for (const [database, own] of this.#own) {
      const isKept = await this.#leases.renew(database, await own.describe());
      if (isKept || this.#own.get(database) !== own) continue;
      this.#own.delete(database);
      own.lost();
    }
    await this.#look();
    for (const shared of this.#seen.values()) {
      const isEnded = shared.state.state === 'done' || shared.state.state === 'failed';
      if (!isEnded && !shared.isElsewhere && !this.#own.has(shared.database)) await this.#onAbandoned(shared);
    }
  }

  async #look(): Promise<void> {
    const all = await this.#leases.all();
    this.#seen = new Map(all.map((shared) => [shared.database, shared]));
  }
}
