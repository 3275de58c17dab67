import { setTimeout } from 'node:timers/promises';
import { CallTracker } from '../async/call-tracker.js';
import { FairLimiter } from '../async/fair-limiter.js';
import { LinkedAbort } from '../async/linked-abort.js';
import { SingleFlight } from '../async/single-flight.js';
import { CosiftError, isCode, type Problem } from '../errors.js';
import type {
  DatabaseDescription,
  DatabaseSettings,
  DeleteRequest,
  DoctorCheck,
  Limits,
  LineEvent,
  MapRequest,
  QueryRequest,
  Reembedding,
  SearchRequest,
} from '../schema/index.js';
import type { RecordForm, RecordStore, StoredDatabase } from '../store/record-store.js';
import type { DatabaseProgress, StoreEvents } from '../store/store-state.js';
import type {
  Backend,
  BackendStats,
  BackupArchive,
  BatchOptions,
  ChangesRequest,
  DatabaseState,
  DeleteOptions,
  DescribeOptions,
  ExportRequest,
  LinesOptions,
  PageOptions,
  PageReply,
  PatchOptions,
  Readiness,
  Scope,
  ScopedOptions,
  Source,
  UpsertBatch,
} from './backend.js';
import { beginBackup } from './backup.js';
import { CallerTurns } from './caller-turns.js';
import { ChangeFeed } from './change-feed.js';
import { DatabaseEmbedder } from './database-embedder.js';
import { DatabaseInfoCache } from './database-info-cache.js';
import { type ExamineAllCall, examineAll } from './doctor/index.js';
import { Models } from './models.js';
import { PageReader } from './page-reader.js';
import { RecordWriter } from './record-writer.js';
import { Reembeddings } from './reembeddings.js';
import { WriteBarriers } from './write-barrier.js';

/** Exports in progress, because each keeps the records of its moment in memory. */
const MAX_EXPORTS = 32;
/** Milliseconds that statistics wait for the store. Programs that ask for metrics wait for seconds only. */
const PROGRESS_MS = 2_000;
/** Milliseconds between two looks at databases that were not open at the start. */
const RESUME_MS = 1_000;

export interface EmbeddingBackendOptions {
  limits: Limits;
  /** Whether interrupted re-embeddings continue by themselves. */
  resume: boolean;
}

/** A backend that embeds texts with its models and keeps the records in a store. */
export class EmbeddingBackend implements Backend {
  readonly #store: RecordStore;
  readonly #models: Models;
  readonly #infos: DatabaseInfoCache;
  readonly #barriers = new WriteBarriers();
  readonly #calls = new CallTracker('the store');
  readonly #turns: CallerTurns;
  readonly #pages: PageReader;
  readonly #feed: ChangeFeed;
  readonly #writer: RecordWriter;
  readonly #reembeddings: Reembeddings;
  /** A description of many columns takes so long that other calls must run between two descriptions. */
  readonly #descriptions = new FairLimiter({ total: 1, perCaller: 1 });
  /** A store that does not answer is asked once at a time. */
  readonly #progress = new SingleFlight<DatabaseProgress[]>();
  #exports = 0;
  readonly ready: Promise<void>;
  /** Why requests are not served yet. */
  #starting: string | undefined = 'databases are being loaded';
  #closed: Promise<void> | undefined;

  /** Takes over `store` and `models`, begins to load the databases, and closes both in `close`. */
  constructor(store: RecordStore, models: Models, { limits, resume }: EmbeddingBackendOptions) {
    this.#store = store;
    this.#models = models;
    const infos = new DatabaseInfoCache(store);
    const embedder = new DatabaseEmbedder(infos, models, limits);
    const barriers = this.#barriers;
    const { closing } = this.#calls;
    const turns = new CallerTurns(store);
    const feed = new ChangeFeed(store, closing, turns);
    store.watch?.((id) => feed.notify(id));
    this.#infos = infos;
    this.#feed = feed;
    this.#turns = turns;
    this.#pages = new PageReader(store, infos, embedder, turns);
    const maxLineBytes = limits.record_bytes;
    this.#writer = new RecordWriter({ store, infos, embedder, barriers, turns, feed, closing, maxLineBytes });
    this.#reembeddings = new Reembeddings(
      { store, infos, barriers, maxPassages: limits.passages_per_record },
      models,
    );
    this.ready = this.#start(resume);
    // Callers that need the databases await `ready`; a failure before that must not count as unhandled.
    this.ready.catch(() => undefined);
  }

  async #start(resume: boolean): Promise<void> {
    await this.#store.load();
    for (const database of await this.#store.listDatabases()) this.#infos.set(database.id, database);
    if (resume) {
      const ids = this.#infos.ids();
      for (const id of ids) await this.#reembeddings.resume(id);
      this.#reembeddings.watch();
      this.#resumeLater(new Set(ids)).catch(() => undefined);
    }
    this.#starting = undefined;
  }

  /** Continues the re-embeddings of databases that could not be opened at the start, as soon as they are. */
  async #resumeLater(resumed: Set<string>): Promise<void> {
    const { closing } = this.#calls;
    for (let areAllOpen = false; !areAllOpen; ) {
      const databases = await this.#readProgress(false, closing);
      for (const { id } of databases.filter(({ id, loaded }) => loaded && !resumed.has(id))) {
        await this.#reembeddings.resume(id);
        resumed.add(id);
      }
      areAllOpen = databases.every(({ loaded }) => loaded);
      if (!areAllOpen) await setTimeout(RESUME_MS, undefined, { signal: closing, ref: false });
    }
  }

  async loadModels(): Promise<{ model: string; error: unknown }[]> {
    const failed = [];
    for (const model of this.#infos.models()) {
      try {
        await this.#models.embedder(model);
      } catch (error) {
        failed.push({ model, error });
      }
    }
    return failed;
  }

  readiness(): Readiness {
    const reasons = [
      ...(this.#starting === undefined ? [] : [this.#starting]),
      ...(this.#closed === undefined ? [] : ['the service is stopping']),
    ];
    return { ready: reasons.length === 0, reasons };
  }

  async databases(signal?: AbortSignal): Promise<DatabaseState[]> {
    const databases = await this.#readProgress(false, signal);
    return databases.map(({ id, loaded, writable, records, problem }) => ({
      id,
      loaded,
      writable,
      records,
      ...(problem && { problem }),
    }));
  }

  async listDatabases({ caller = '' }: DescribeOptions = {}): Promise<DatabaseDescription[]> {
    using _call = this.#calls.begin();
    const databases = await this.#descriptions.run(caller, () => this.#store.listDatabases());
    return databases.map((database) => this.#describe(database));
  }

  async createDatabase(
    id: string,
    settings: DatabaseSettings,
  ): Promise<{ created: boolean; database: DatabaseDescription }> {
    using _call = this.#calls.begin();
    const ownVectors = settings.model === undefined && settings.dimensions !== undefined;
    const model = ownVectors ? null : (settings.model ?? Models.builtIn);
    const embedder = model === null ? undefined : await this.#models.embedder(model);
    const dimensions = embedder?.dimensions ?? settings.dimensions ?? 0;
    if (settings.dimensions !== undefined && settings.dimensions !== dimensions) {
      const detail = `model "${model}" makes vectors of ${dimensions} values`;
      const problems: Problem[] = [{ pointer: '/dimensions', code: 'invalid_value', detail }];
      throw new CosiftError('invalid_request', detail, { problems });
    }
    const { created, database } = await this.#store.createDatabase(id, {
      ...(settings.embed && { embed: settings.embed }),
      model,
      fingerprint: embedder?.fingerprint ?? null,
      dimensions,
      ...(settings.approximate !== undefined && { approximate: settings.approximate }),
      ...(settings.lexical !== undefined && { lexical: settings.lexical }),
    });
    this.#infos.set(database.id, database);
    return { created, database: this.#describe(database) };
  }

  async describeDatabase(id: string, options?: DescribeOptions): Promise<DatabaseDescription> {
    return this.#describe(await this.#inTurn(id, options, () => this.#store.describeDatabase(id)));
  }

  async databaseJson(id: string, options?: DescribeOptions): Promise<Uint8Array> {
    // A description with a re-embedding is not the one of the store.
    if (this.#reembeddings.unfinished(id, 0) !== undefined) {
      return Buffer.from(JSON.stringify(await this.describeDatabase(id, options)));
    }
    return await this.#inTurn(id, options, () => this.#store.databaseJson(id));
  }

  async #inTurn<T>(id: string, { caller = '' }: DescribeOptions = {}, call: () => Promise<T>): Promise<T> {
    using _call = this.#calls.begin();
    return await (this.#turns.of(id) ?? this.#descriptions).run(caller, call);
  }

  async dropDatabase(id: string): Promise<void> {
    using _call = this.#calls.begin();
    await this.#reembeddings.drop(id, () => this.#store.dropDatabase(id));
    this.#infos.delete(id);
    this.#barriers.delete(id);
    // Readers that wait for changes learn at once that the database is gone.
    this.#feed.notify(id);
  }

  async startReembedding(id: string, model: string): Promise<Reembedding> {
    using _call = this.#calls.begin();
    return await this.#reembeddings.start(id, model);
  }

  async reembedding(id: string): Promise<Reembedding> {
    using _call = this.#calls.begin();
    await this.#infos.get(id);
    const state = await this.#reembeddings.state(id);
    if (state !== undefined) return state;
    throw new CosiftError('reembedding_not_found', `database "${id}" has no re-embedding`);
  }

  async cancelReembedding(id: string): Promise<void> {
    using _call = this.#calls.begin();
    await this.#reembeddings.cancel(id);
  }

  async upsertBatch(id: string, body: Uint8Array, options?: BatchOptions): Promise<Uint8Array> {
    using _call = this.#calls.begin();
    return await this.#writer.upsertBatch(id, body, options);
  }

  async runUpsert<R, T>(
    records: Source<R>,
    work: (records: Source<R>, upsertBatch: UpsertBatch) => Promise<T>,
  ): Promise<T> {
    using _call = this.#calls.begin();
    const source = this.#calls.untilClosing(records);
    // `this.upsertBatch` would refuse the batches of this call once a close has begun.
    return await work(source, (id, body, options) => this.#writer.upsertBatch(id, body, options));
  }

  upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options: LinesOptions = {},
  ): AsyncGenerator<LineEvent, void, undefined> {
    return this.#calls.runToEnd(() => this.#writer.upsertLines(id, chunks, options));
  }

  async patchRecord(
    id: string,
    recordId: string,
    form: RecordForm,
    body: Uint8Array,
    options?: PatchOptions,
  ): Promise<Uint8Array> {
    using _call = this.#calls.begin();
    return await this.#writer.patchRecord(id, recordId, form, body, options);
  }

  async record(id: string, recordId: string, form: RecordForm, scope: Scope): Promise<Uint8Array> {
    using _call = this.#calls.begin();
    const request = { form, forced_filter: scope.forcedFilter };
    return await this.#turns.run(id, scope.caller, () => this.#store.record(id, recordId, request));
  }

  async deleteRecords(
    id: string,
    request: DeleteRequest,
    options: DeleteOptions = {},
  ): Promise<{ deleted: number }> {
    using _call = this.#calls.begin();
    return await this.#writer.deleteRecords(id, request, options);
  }

  search(id: string, request: SearchRequest, options: PageOptions): Promise<PageReply> {
    return this.#calls.run(() => this.#pages.search(id, request, options));
  }

  query(id: string, request: QueryRequest, options: PageOptions): Promise<PageReply> {
    return this.#calls.run(() => this.#pages.query(id, request, options));
  }

  map(id: string, request: MapRequest, options: PageOptions): Promise<PageReply> {
    return this.#calls.run(() => this.#pages.map(id, request, options));
  }

  async changes(id: string, request: ChangesRequest, options: ScopedOptions = {}): Promise<Uint8Array> {
    using _call = this.#calls.begin();
    return await this.#feed.read(id, request, options);
  }

  async *exportLines(
    id: string,
    { filter, vectors = false }: ExportRequest,
    { scope, signal }: ScopedOptions = {},
  ): AsyncGenerator<Uint8Array, void, undefined> {
    this.#calls.closing.throwIfAborted();
    if (this.#exports >= MAX_EXPORTS) {
      throw new CosiftError('busy', `too many exports are in progress (limit ${MAX_EXPORTS})`);
    }
    this.#exports += 1;
    // An export is no call that a close waits for, because nobody may be reading it.
    using stop = new LinkedAbort(this.#calls.closing, signal);
    let isCounted = true;
    const end = () => {
      if (isCounted) this.#exports -= 1;
      isCounted = false;
    };
    // The store frees what an aborted export holds, even if nobody reads on.
    stop.signal.addEventListener('abort', end, { once: true });
    try {
      const endTurn = await this.#turns.begin(id, scope?.caller, stop);
      try {
        const request = { filter, vectors, forced_filter: scope?.forcedFilter };
        yield* this.#store.exportLines(id, request, stop.signal);
      } finally {
        endTurn();
      }
    } finally {
      end();
    }
  }

  async backup(database: string | undefined, signal?: AbortSignal): Promise<BackupArchive> {
    const call = this.#calls.begin();
    const { closing } = this.#calls;
    return beginBackup(this.#store, database, [closing, signal], () => call[Symbol.dispose]());
  }

  async *examine(ids: readonly string[], call: ExamineAllCall): AsyncGenerator<DoctorCheck, void, undefined> {
    this.#calls.closing.throwIfAborted();
    const examine = this.#store.examine?.bind(this.#store);
    if (examine === undefined) return;
    // An examination is no call that a close waits for, because nobody may be reading it.
    using stop = new LinkedAbort(this.#calls.closing, call.signal);
    yield* examineAll(ids, examine, this.#models, { ...call, signal: stop.signal });
  }

  async stats(): Promise<BackendStats> {
    const [databases, { searches, commits }] = await Promise.all([
      this.#progressIfReached(),
      this.#store.stats(),
    ]);
    const embedder = this.#models.stats();
    return {
      ...(databases && {
        databases: databases.map(({ problem: _, ...database }) => {
          const reembedding = this.#reembeddings.unfinished(database.id, database.records);
          return { ...database, ...(reembedding && { reembedding }) };
        }),
      }),
      searches,
      commits,
      ...(embedder && { embedder }),
    };
  }

  /** The databases; undefined while the store cannot be reached, or does not answer in time. */
  async #progressIfReached(): Promise<DatabaseProgress[] | undefined> {
    const late = AbortSignal.timeout(PROGRESS_MS);
    try {
      return await this.#readProgress(true, late);
    } catch (error) {
      if (late.aborted || isCode(error, 'store_failed') || isCode(error, 'timed_out')) return undefined;
      throw error;
    }
  }

  /** Callers at the same time share one reading, which ends when all of them have left. */
  #readProgress(sizes: boolean, signal: AbortSignal | undefined): Promise<DatabaseProgress[]> {
    const read = (left: AbortSignal) => this.#store.progress({ sizes, signal: left });
    return this.#progress.run(sizes ? 'with sizes' : 'without', read, signal);
  }

  takeEvents(): StoreEvents {
    return this.#store.takeEvents();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const calls = this.#calls.close();
    const results = await Promise.allSettled([calls, this.#reembeddings.close()]);
    // The store and the models close last, because the calls in progress need both.
    results.push(...(await Promise.allSettled([this.#store.close()])));
    results.push(...(await Promise.allSettled([this.#models.close()])));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  #describe(database: StoredDatabase): DatabaseDescription {
    const reembedding = this.#reembeddings.unfinished(database.id, database.records);
    return reembedding === undefined ? database : { ...database, reembedding };
  }
}
