import { randomUUID } from 'node:crypto';
import { LinkedAbort } from '../async/linked-abort.js';
import type { DatabaseService, SyncCallOptions, SyncHold, SyncTarget } from '../databases/index.js';
import { CosiftError, type Problem } from '../errors.js';
import type { SyncCommit } from '../schema/index.js';
import type { FollowedSyncs } from './followed-syncs.js';

/** Holds at the same time, of all callers and of one. Each keeps a connection to a store of several processes. */
const MAX_HOLDS = 24;
const MAX_HOLDS_OF_CALLER = 8;

/** Bytes of keys that wait for a commit, with those that each key takes besides its characters. */
const MAX_KEY_BYTES = 64 << 20;
const KEY_OVERHEAD = 64;

/** The syncs whose passes are made by other processes, by requests. */
export class HeldSyncs {
  readonly #databases: Pick<DatabaseService, 'aliases' | 'catalog' | 'writer'>;
  readonly #followed: FollowedSyncs;
  readonly #holdMs: number;
  readonly #holds = new Map<string, HeldSync>();
  /** The callers whose holds are not given yet. */
  readonly #taking: string[] = [];

  /** A hold ends after `holdMs` without a request: its runner may be gone. */
  constructor(
    databases: Pick<DatabaseService, 'aliases' | 'catalog' | 'writer'>,
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
   * @throws {CosiftError} `busy` while another runner has it, or its `caller` has too many; `database_not_found`;
   * `invalid_request` for a source that the service follows itself.
   */
  async take(database: string, name: string, caller: string, signal: AbortSignal): Promise<HeldSync> {
    await this.#databases.catalog.check(database);
    for (const followed of this.#followed.all) {
      if (followed.name !== name || (await this.#databases.aliases.resolve(followed.database)) !== database)
        continue;
      throw new CosiftError(
        'invalid_request',
        `the service itself follows a source "${name}" into database "${database}": remove it from its config file, or take another name`,
      );
    }
    const callers = [...Array.from(this.#holds.values(), (held) => held.caller), ...this.#taking];
    if (callers.length >= MAX_HOLDS) throw tooMany(`${MAX_HOLDS} syncs have a runner`);
    if (callers.filter((other) => other === caller).length >= MAX_HOLDS_OF_CALLER) {
      throw tooMany(`${MAX_HOLDS_OF_CALLER} syncs have a runner with this key`);
    }
    this.#taking.push(caller);
    try {
      return await this.#take(database, name, caller, signal);
    } finally {
      this.#taking.splice(this.#taking.indexOf(caller), 1);
    }
  }

  async #take(database: string, name: string, caller: string, signal: AbortSignal): Promise<HeldSync> {
    const target = this.#databases.writer.openSync(database, name);
    let hold: SyncHold;
    try {
      hold = await target.hold(signal);
    } catch (error) {
      await target.release();
      throw error;
    }
    const place = `${database}/${name}`;
    const held = new HeldSync({ place, caller, target, hold, holdMs: this.#holdMs }, () =>
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

  /** @throws {CosiftError} `hold_lost`, `database_not_found` */
  async renew(database: string, held: HeldSync): Promise<void> {
    await this.#databases.catalog.check(database);
    held.renew();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#holds.values(), (held) => held.release()));
  }
}

interface Held {
  place: string;
  /** The path of the key of the runner. */
  caller: string;
  target: SyncTarget;
  hold: SyncHold;
  holdMs: number;
}

/** A sync that a runner holds, until it releases it or is gone. */
export class HeldSync {
  readonly id = randomUUID();
  readonly place: string;
  readonly caller: string;
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
  constructor({ place, caller, target, hold, holdMs }: Held, forget: () => void) {
    this.place = place;
    this.caller = caller;
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
    const other = keys.findIndex((key) => !key.startsWith(`${name}/`));
    if (other !== -1) throw invalid(`/keys/${other}`, `the keys of the sync begin with "${name}/"`);
    this.#keyBytes += keys.reduce((sum, key) => sum + key.length + KEY_OVERHEAD, 0);
    if (this.#keyBytes > MAX_KEY_BYTES) {
      this.#forgetKeys();
      const detail = `the keys of a commit have more than ${MAX_KEY_BYTES} bytes; all are forgotten`;
      throw new CosiftError('too_large', detail);
    }
    this.#keys.push(...keys);
    if (state === undefined) return 0;
    const ids = this.#keys.map((key) => `key:${key}`);
    if (version !== undefined && ids.length > 0)
      throw invalid('/unwritten_since', 'not together with `keys`');
    // Before anything is waited for, because further keys may arrive meanwhile.
    this.#forgetKeys();
    if (version !== undefined && version > (await this.#target.state()).version) {
      throw invalid('/unwritten_since', 'is no version that the database has had');
    }
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

  #forgetKeys(): void {
    this.#keys = [];
    this.#keyBytes = 0;
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

function tooMany(detail: string): CosiftError {
  return new CosiftError('busy', detail, { fields: { retry_after: 5 } });
}

function invalid(pointer: string, detail: string): CosiftError {
  const problems: Problem[] = [{ pointer, code: 'invalid_value', detail }];
  return new CosiftError('invalid_request', `${pointer}: ${detail}`, { problems });
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
