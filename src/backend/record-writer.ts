import { FairLimiter } from '../async/fair-limiter.js';
import { CosiftError } from '../errors.js';
import type { DeleteRequest, LineEvent } from '../schema/index.js';
import type { RecordForm, RecordStore } from '../store/record-store.js';
import type { BatchOptions, DeleteOptions, LinesOptions, PatchOptions } from './backend.js';
import type { CallerTurns } from './caller-turns.js';
import type { ChangeFeed } from './change-feed.js';
import { commitRecords, type Destination } from './commit-records.js';
import type { DatabaseEmbedder, WriteOrigin } from './database-embedder.js';
import type { DatabaseInfoCache } from './database-info-cache.js';
import { upsertLines } from './upsert-lines.js';
import type { WriteBarriers } from './write-barrier.js';

export interface RecordWriterDependencies {
  store: RecordStore;
  infos: DatabaseInfoCache;
  embedder: DatabaseEmbedder;
  barriers: WriteBarriers;
  turns: CallerTurns;
  feed: ChangeFeed;
  /** Aborted once the backend closes. */
  closing: AbortSignal;
  /** Maximum number of bytes of one line of a stream. */
  maxLineBytes: number;
}

/** Upserts, patches and deletes records, and notifies the readers of the change feed. */
export class RecordWriter {
  readonly #dependencies: RecordWriterDependencies;
  /**
   * Patches that change the text of the same record take turns. Otherwise the first commit makes the text outdated that
   * the others are embedding.
   */
  readonly #textPatches = new FairLimiter({ total: Number.POSITIVE_INFINITY, perCaller: 1 });

  constructor(dependencies: RecordWriterDependencies) {
    this.#dependencies = dependencies;
  }

  /** See `Backend.upsertBatch`. */
  async upsertBatch(id: string, body: Uint8Array, options: BatchOptions = {}): Promise<Uint8Array> {
    const { embedder, feed } = this.#dependencies;
    // Before the records are parsed, because a model that cannot embed texts fails most upserts.
    await embedder.load(id);
    const destination = this.#destination(id, {
      caller: options.caller,
      waitForRoom: false,
      allOrNothing: true,
    });
    const prepared = await destination.store.prepareBatch(id, body, options.vectors);
    const { at, created, changed, unchanged, results } = await commitRecords(destination, prepared, {
      signal: options.signal,
      onWait: options.onWait,
      check: options.check,
    });
    feed.notify(id);
    const counts = `,"created":${created},"changed":${changed},"unchanged":${unchanged}`;
    const startedAt = `,"started_at":"${new Date(at).toISOString()}"}`;
    return Buffer.concat([Buffer.from('{"results":'), results, Buffer.from(counts + startedAt)]);
  }

  /** See `Backend.patchRecord`. */
  async patchRecord(
    id: string,
    recordId: string,
    form: RecordForm,
    body: Uint8Array,
    { caller, ...options }: PatchOptions = {},
  ): Promise<Uint8Array> {
    const { feed } = this.#dependencies;
    const destination = this.#destination(id, { caller, waitForRoom: false, allOrNothing: true });
    const { store } = destination;
    const prepared = await store.preparePatch(id, recordId, form, body);
    const commitAgain = async () =>
      commitRecords(destination, await store.preparePatch(id, recordId, form, body), options);
    const { record } =
      prepared.texts().length === 0
        ? await commitRecords(destination, prepared, options)
        : await this.#textPatches.run(`${id}/${recordId}`, commitAgain, { signal: options.signal });
    feed.notify(id);
    if (record === undefined) throw new CosiftError('internal', 'the store returned no patched record');
    return record;
  }

  /** See `Backend.upsertLines`. */
  async *upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options: LinesOptions,
  ): AsyncGenerator<LineEvent, void, undefined> {
    const { embedder, feed, maxLineBytes } = this.#dependencies;
    await embedder.load(id);
    const destination = this.#destination(id, {
      caller: options.caller,
      waitForRoom: true,
      allOrNothing: false,
    });
    for await (const event of upsertLines(destination, chunks, maxLineBytes, options)) {
      if (event.type === 'progress') feed.notify(id);
      yield event;
    }
  }

  /** See `Backend.deleteRecords`. */
  async deleteRecords(
    id: string,
    request: DeleteRequest,
    { scope, signal, check, onWait }: DeleteOptions,
  ): Promise<{ deleted: number }> {
    const { store, infos, barriers, turns, feed } = this.#dependencies;
    await infos.get(id);
    const deletion = { ...request, forced_filter: scope?.forcedFilter };
    const remove = async () => {
      await check?.();
      return turns.run(id, scope?.caller, () => store.deleteRecords(id, deletion, signal), { signal });
    };
    const deleted = await barriers.of(id).run(remove, { signal, onWait });
    if (deleted > 0) feed.notify(id);
    return { deleted };
  }

  /** Returns the destination of one write. */
  #destination(id: string, origin: WriteOrigin) {
    const { infos, embedder, barriers, closing } = this.#dependencies;
    const store = this.#storeOf(id, origin.caller);
    const embed = embedder.forWrite(id, origin);
    const refresh = () => infos.refresh(id);
    const barrier = () => barriers.of(id);
    return { store, id, barrier, embed, refresh, closing } satisfies Destination;
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
