import { randomUUID } from 'node:crypto';
import { LinkedAbort } from '../async/linked-abort.js';
import type { DatabaseService, SyncCallOptions, SyncHold, SyncTarget } from '../databases/index.js';
import { CosiftError } from '../errors.js';
import type { SyncCommit } from '../schema/index.js';
import type { FollowedSyncs } from './followed-syncs.js';

/** Holds at the same time. Each keeps a connection to a store of several processes. */
const MAX_HOLDS = 24;

/** Bytes of keys that wait for a commit. */
const MAX_KEY_BYTES = 64 << 20;

/** The syncs whose passes are made by other processes, by requests. */
export class HeldSyncs {
  readonly #databases: Pick<DatabaseService, 'aliases' | 'writer'>;
  readonly #followed: FollowedSyncs;
  readonly #holdMs: number;
  readonly #holds = new Map<string, HeldSync>();

  /** A hold ends after `holdMs` without a request: its runner may be gone. */
  constructor(
    databases: Pick<DatabaseService, 'aliases' | 'writer'>,
    followed: FollowedSyncs,
    holdMs: number,
  ) {
    this.#databases = databases;
    this.#followed = followed;
    this.#holdMs = holdMs;
  }

  /** The seconds after which a hold without a request ends. */
  get seconds(): number {
    return this.#holdMs / 1_000;
  }

  /**
   * Gives a runner the right to make the passes of a sync.
   *
   * @throws {CosiftError} `busy` while another runner has it; `invalid_request` for a source that the service follows itself.
   */
  async take(database: string, name: string, signal: AbortSignal): Promise<HeldSync> {
    for (const followed of this.#followed.all) {
      if (followed.name !== name || (await this.#databases.aliases.resolve(followed.database)) !== database)
        continue;
      throw new CosiftError(
        'invalid_request',
        `the service itself follows a source "${name}" into database "${database}": remove it from its config file, or take another name`,
      );
    }
    if (this.#holds.size >= MAX_HOLDS) {
      throw new CosiftError('busy', `${MAX_HOLDS} syncs have a runner`, { fields: { retry_after: 5 } });
    }
    const target = this.#databases.writer.openSync(database, name);
    let hold: SyncHold;
    try {
      hold = await target.hold(signal);
    } catch (error) {
      await target.release();
      throw error;
    }
    const place = `${database}/${name}`;
    const held = new HeldSync({ place, target, hold, holdMs: this.#holdMs }, () =>
      this.#holds.delete(held.id),
    );
    this.#holds.set(held.id, held);
    return held;
  }

  /** @throws {CosiftError} `hold_lost` for one that has ended. */
  find(database: string, name: string, id: string): HeldSync {
    const held = this.#holds.get(id);
    if (held?.place === `${database}/${name}`) return held;
    throw new CosiftError(
      'hold_lost',
      `the sync "${name}" has no such hold: it has ended, or another process of the service has it`,
    );
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#holds.values(), (held) => held.release()));
  }
}

interface Held {
  place: string;
  target: SyncTarget;
  hold: SyncHold;
  holdMs: number;
}

/** A sync that a runner holds, until it releases it or is gone. */
export class HeldSync {
  readonly id = randomUUID();
  readonly place: string;
  readonly #target: SyncTarget;
  readonly #hold: SyncHold;
  readonly #end: LinkedAbort;
  readonly #timer: NodeJS.Timeout;
  readonly #forget: () => void;
  #running = 0;
  #onIdle: () => void = () => undefined;
  #keys: string[] = [];
  #keyBytes = 0;
  #released: Promise<void> | undefined;

  /** `forget` is called once another runner may take the sync. */
  constructor({ place, target, hold, holdMs }: Held, forget: () => void) {
    this.place = place;
    this.#target = target;
    this.#hold = hold;
    this.#forget = forget;
    this.#end = new LinkedAbort(hold.lost, target.closing);
    this.#timer = setTimeout(() => {
      // A request may take any time, and ends with its connection.
      if (this.#running > 0) this.renew();
      else this.release().catch(() => undefined);
    }, holdMs).unref();
    this.#end.signal.addEventListener('abort', () => this.release().catch(() => undefined), { once: true });
  }

  renew(): void {
    this.#end.signal.throwIfAborted();
    this.#timer.refresh();
  }

  /** Upserts lines as the target does. They end with the hold. */
  async *upsert(chunks: AsyncIterable<Uint8Array>, readAt: number, options: SyncCallOptions) {
    using call = this.#begin(options);
    yield* this.#target.upsert(chunks, readAt, { ...options, signal: call.signal });
  }

  /** Commits, or keeps keys for the next commit. Returns how many records were deleted. */
  async commit(
    name: string,
    { keys = [], state, unwritten_since: version, epoch, max }: SyncCommit,
    options: SyncCallOptions,
  ): Promise<number> {
    using call = this.#begin(options);
    this.#keyBytes += keys.reduce((sum, key) => sum + key.length, 0);
    if (this.#keyBytes > MAX_KEY_BYTES) {
      throw new CosiftError('too_large', `the keys of a commit have more than ${MAX_KEY_BYTES} bytes`);
    }
    this.#keys.push(...keys);
    if (state === undefined) return 0;
    const ids = this.#keys.map((key) => `key:${key}`);
    if (version !== undefined && ids.length > 0) {
      throw new CosiftError('invalid_request', '/unwritten_since: not together with `keys`');
    }
    this.#keys = [];
    this.#keyBytes = 0;
    const gone = version === undefined ? { ids } : { unwritten: { version, prefix: `${name}/` } };
    const kept = { name, text: JSON.stringify(state) };
    return await this.#target.remove(
      { ...gone, ...(epoch !== undefined && { epoch }), ...(max !== undefined && { max }), state: kept },
      { ...options, signal: call.signal },
    );
  }

  /** Ends the hold after its running calls, which are aborted. Each call returns the same promise. */
  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  async #release(): Promise<void> {
    clearTimeout(this.#timer);
    this.#end.abort(new CosiftError('hold_lost', 'the hold was released'));
    this.#end.unlink();
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    try {
      await this.#hold.release();
    } finally {
      await this.#target.release();
      this.#forget();
    }
  }

  #begin({ signal }: SyncCallOptions): LinkedAbort {
    this.renew();
    this.#running += 1;
    return new HeldCall(
      () => {
        this.#running -= 1;
        if (this.#running === 0) this.#onIdle();
        if (!this.#end.signal.aborted) this.#timer.refresh();
      },
      signal,
      this.#end.signal,
    );
  }
}

/** The signal of a call with a hold. */
class HeldCall extends LinkedAbort {
  readonly #onEnd: () => void;

  constructor(onEnd: () => void, ...signals: readonly AbortSignal[]) {
    super(...signals);
    this.#onEnd = onEnd;
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#onEnd();
  }
}
