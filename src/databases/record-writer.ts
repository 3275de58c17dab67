import { FairLimiter } from '../async/fair-limiter.js';
import { CosiftError } from '../errors.js';
import type { DeleteRequest, LineEvent } from '../schema/index.js';
import type {
  LineRules,
  RecordForm,
  StoreDeleteRequest,
  SyncHold,
  SyncState,
  SyncStateRequest,
  Unwritten,
  WriteMark,
} from '../store/record-store.js';
import type { ChangeFeed } from './change-feed.js';
import { type CommitOptions, commitRecords, type Destination } from './commit-records.js';
import type { WriteOrigin } from './database-embedder.js';
import type { Dependencies } from './dependencies.js';
import { replaceRecords } from './replace-records.js';
import type { ScopedOptions } from './scope.js';
import { upsertLines } from './upsert-lines.js';

export interface PatchOptions extends CommitOptions {
  /** The path of the caller's key, under which it takes turns. */
  caller?: string;
}

export interface BatchOptions extends PatchOptions {
  /** The vectors of records that come without a vector, one after the other. */
  vectors?: Float32Array;
}

/** `check` is called before each batch is embedded and committed. */
export type LinesOptions = Omit<PatchOptions, 'onWait'>;

export interface ReplaceOptions extends LinesOptions {
  /** How many records may be deleted. Default: a tenth of those at the start, or ten; none if there are no lines. */
  maxDeletes?: number | undefined;
}

export type DeleteOptions = ScopedOptions & CommitOptions;

/** The records that a caller passes. */
export type Source<R> = Iterable<R> | AsyncIterable<R>;

export type UpsertBatch = RecordWriter['upsertBatch'];

export type { SyncHold, SyncState } from '../store/record-store.js';

/** What a database has of a sync, and the last commit before it was read. */
export type SyncPosition = SyncState & Pick<WriteMark, 'epoch' | 'version'>;

/** Which records of a sync to delete. */
export type SyncGone = ({ ids: string[] } | { unwritten: Unwritten }) & Pick<StoreDeleteRequest, 'max'>;

/** The records of a sync to delete, and what the sync keeps. Both are one commit. */
export type SyncDeletion = SyncGone &
  Pick<StoreDeleteRequest, 'epoch'> &
  Required<Pick<StoreDeleteRequest, 'state'>>;

/** The options of the writes of a sync. */
export interface SyncCallOptions extends PatchOptions {
  signal: AbortSignal;
}

/** What a sync does in a database. */
export interface SyncTarget {
  /** Aborted once the service closes. */
  readonly closing: AbortSignal;
  state(request?: Omit<SyncStateRequest, 'name'>): Promise<SyncPosition>;
  /** Upserts NDJSON in committed batches; `readAt` is when the source was read, in milliseconds since 1970. */
  upsert(
    chunks: AsyncIterable<Uint8Array>,
    readAt: number,
    options: SyncCallOptions,
  ): AsyncIterable<LineEvent>;
  remove(deletion: SyncDeletion, options: SyncCallOptions): Promise<number>;
  /**
   * Keeps other processes from passes until it is released.
   *
   * @throws {CosiftError} `busy` while another process makes one.
   */
  hold(signal: AbortSignal): Promise<SyncHold>;
  /** Allows another sync of the name. */
  release(): void | Promise<void>;
}

/** Upserts, patches and deletes records, and notifies the readers of the change feed. */
export class RecordWriter {
  readonly #dependencies: Dependencies;
  readonly #feed: ChangeFeed;
  /** The open syncs, by database and name. */
  readonly #syncs = new Set<string>();
  /**
   * Patches that change the text of the same record take turns. Otherwise the first commit makes the text outdated that
   * the others are embedding.
   */
  readonly #textPatches = new FairLimiter({ total: Number.POSITIVE_INFINITY, perCaller: 1 });

  constructor(dependencies: Dependencies, feed: ChangeFeed) {
    this.#dependencies = dependencies;
    this.#feed = feed;
  }

  /** Upserts `{"records": […]}`, all records or none; resolves with the JSON of a `BatchResult`. */
  async upsertBatch(id: string, body: Uint8Array, options?: BatchOptions): Promise<Uint8Array> {
    using _call = this.#dependencies.calls.begin();
    return await this.#upsertBatch(id, body, options);
  }

  /**
   * Runs `work`, which upserts `records` batch by batch, as one call: a close waits until all records of an array are
   * written. When a close begins, an asynchronous source of records ends with `not_ready`.
   */
  async runUpsert<R, T>(
    records: Source<R>,
    work: (records: Source<R>, upsertBatch: UpsertBatch) => Promise<T>,
  ): Promise<T> {
    const { calls } = this.#dependencies;
    using _call = calls.begin();
    // `upsertBatch` would refuse the batches of this call once a close has begun.
    return await work(calls.untilClosing(records), (...batch) => this.#upsertBatch(...batch));
  }

  async #upsertBatch(id: string, body: Uint8Array, options: BatchOptions = {}): Promise<Uint8Array> {
    const { embedder } = this.#dependencies;
    // Before the records are parsed, because a model that cannot embed texts fails most upserts.
    await embedder.load(id);
    const destination = this.#destination(id, {
      caller: options.caller,
      waitForRoom: false,
      allOrNothing: true,
    });
    const prepared = await destination.store.prepareBatch(id, body, options.vectors);
    const committed = await commitRecords(destination, prepared, options);
    const { at, created, changed, unchanged, results } = committed;
    this.#feed.notify(id);
    const counts = `,"created":${created},"changed":${changed},"unchanged":${unchanged}`;
    const startedAt = `,"started_at":"${new Date(at).toISOString()}"}`;
    return Buffer.concat([Buffer.from('{"results":'), results, Buffer.from(counts + startedAt)]);
  }

  /**
   * Merges `{"data": {…}}` into one record (RFC 7396): a column with null is removed, and the columns that the patch
   * lacks stay as they are. The text is embedded only if the patch changes it.
   *
   * Resolves with the JSON of the record right after the patch. `recordId` is an integer, a UUID or `key:` and a key.
   *
   * @throws {CosiftError} `record_not_found`; `invalid_record` and the other codes of records.
   */
  async patchRecord(
    id: string,
    recordId: string,
    form: RecordForm,
    body: Uint8Array,
    { caller, ...options }: PatchOptions = {},
  ): Promise<Uint8Array> {
    using _call = this.#dependencies.calls.begin();
    const destination = this.#destination(id, { caller, waitForRoom: false, allOrNothing: true });
    const { store } = destination;
    const prepared = await store.preparePatch(id, recordId, form, body);
    const commitAgain = async () =>
      commitRecords(destination, await store.preparePatch(id, recordId, form, body), options);
    const { record } =
      prepared.texts().length === 0
        ? await commitRecords(destination, prepared, options)
        : await this.#textPatches.run(`${id}/${recordId}`, commitAgain, { signal: options.signal });
    this.#feed.notify(id);
    if (record === undefined) throw new CosiftError('internal', 'the store returned no patched record');
    return record;
  }

  /** Upserts NDJSON in committed batches; the last event is the summary. */
  upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options: LinesOptions = {},
  ): AsyncGenerator<LineEvent, void, undefined> {
    return this.#dependencies.calls.runToEnd(() => this.#upsertLines(id, chunks, options));
  }

  /**
   * Upserts NDJSON like {@link upsertLines}, then deletes the records that no call has written since the start of this
   * one. The summary says how many.
   *
   * @throws {CosiftError} `deletion_refused` after the last line, when a line has a problem or more than `maxDeletes` records
   * would be deleted.
   */
  replaceLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    { maxDeletes, ...options }: ReplaceOptions = {},
  ): AsyncGenerator<LineEvent, void, undefined> {
    const { store, turns, calls } = this.#dependencies;
    const { caller, signal } = options;
    const replacement = {
      mark: () => turns.run(id, caller, () => store.mark(id), { signal }),
      upsert: () => this.#upsertLines(id, chunks, options, { needsIdentity: true }),
      remove: (deletion: StoreDeleteRequest) => this.#delete(id, deletion, { ...options, scope: { caller } }),
      maxDeletes,
    };
    return calls.runToEnd(() => replaceRecords(replacement));
  }

  /**
   * The calls of a sync on the records whose keys begin with its name and `/`.
   *
   * @throws {CosiftError} `busy` while the database has another sync of the name.
   */
  openSync(id: string, name: string): SyncTarget {
    const { store, calls } = this.#dependencies;
    const place = `${id}/${name}`;
    if (this.#syncs.has(place)) {
      throw new CosiftError('busy', `database "${id}" has another open sync of the name "${name}"`);
    }
    this.#syncs.add(place);
    return {
      closing: calls.closing,
      state: (request = {}) => this.syncPosition(id, { name, ...request }),
      upsert: (chunks, readAt, options) =>
        calls.runToEnd(() => this.#upsertLines(id, chunks, options, { needsIdentity: true, readAt })),
      remove: (deletion, { caller, ...options }) =>
        calls.run(() => this.#delete(id, deletion, { ...options, scope: { caller } })),
      hold: (signal) => calls.run(() => store.holdSync(id, name, signal)),
      release: () => {
        this.#syncs.delete(place);
      },
    };
  }

  /** What a database has of a sync, which need not be open. */
  async syncPosition(id: string, request: SyncStateRequest): Promise<SyncPosition> {
    const { store, turns, calls } = this.#dependencies;
    return await calls.run(() =>
      turns.run(id, undefined, async () => {
        // Before the state is read: a database that is dropped and created again meanwhile gets no state.
        const { epoch, version } = await store.mark(id);
        return { epoch, version, ...(await store.syncState(id, request)) };
      }),
    );
  }

  async *#upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options: LinesOptions,
    rules?: LineRules,
  ): AsyncGenerator<LineEvent, void, undefined> {
    const { embedder, limits } = this.#dependencies;
    await embedder.load(id);
    const origin = { caller: options.caller, waitForRoom: true, allOrNothing: false };
    const destination = { ...this.#destination(id, origin), rules };
    for await (const event of upsertLines(destination, chunks, limits.batch_bytes, options)) {
      if (event.type === 'progress') this.#feed.notify(id);
      yield event;
    }
  }

  /** Deletes nothing once `signal` is aborted before the commit. */
  async deleteRecords(
    id: string,
    request: DeleteRequest,
    options: DeleteOptions = {},
  ): Promise<{ deleted: number }> {
    const { infos, calls } = this.#dependencies;
    using _call = calls.begin();
    await infos.get(id);
    const deletion = { ...request, forced_filter: options.scope?.forcedFilter };
    return { deleted: await this.#delete(id, deletion, options) };
  }

  async #delete(
    id: string,
    deletion: StoreDeleteRequest,
    { scope, signal, check, onWait }: DeleteOptions,
  ): Promise<number> {
    const { store, barriers, turns } = this.#dependencies;
    const remove = async () => {
      await check?.();
      return turns.run(id, scope?.caller, () => store.deleteRecords(id, deletion, signal), { signal });
    };
    const deleted = await barriers.of(id).run(remove, { signal, onWait });
    if (deleted > 0) this.#feed.notify(id);
    return deleted;
  }

  #destination(id: string, origin: WriteOrigin) {
    const { infos, embedder, barriers, calls } = this.#dependencies;
    const store = this.#storeOf(id, origin.caller);
    const embed = embedder.forWrite(id, origin);
    const refresh = () => infos.refresh(id);
    const barrier = () => barriers.of(id);
    return { store, id, barrier, embed, refresh, closing: calls.closing } satisfies Destination;
  }

  /** The functions of the store that a write calls. They wait for the turn of the caller. */
  #storeOf(id: string, caller: string | undefined) {
    const { store, turns } = this.#dependencies;
    const waiting =
      <Parameters extends unknown[], T>(call: (...parameters: Parameters) => Promise<T>) =>
      (...parameters: Parameters) =>
        turns.run(id, caller, () => call(...parameters));
    return {
      prepareBatch: waiting(store.prepareBatch.bind(store)),
      prepareLines: waiting(store.prepareLines.bind(store)),
      preparePatch: waiting(store.preparePatch.bind(store)),
      commit: waiting(store.commit.bind(store)),
    };
  }
}
