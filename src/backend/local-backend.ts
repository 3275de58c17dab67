import { EventEmitter, once } from 'node:events';
import { FairLimiter } from '../async/fair-limiter.js';
import { LinkedAbort } from '../async/linked-abort.js';
import { CosiftError, type Problem } from '../errors.js';
import {
  type Changes,
  type DatabaseDescription,
  type DatabaseSettings,
  DEFAULTS,
  type DeleteRequest,
  LIMITS,
  type Limits,
  type LineEvent,
  type QueryRequest,
  type Reembedding,
  type SearchRequest,
  type Variant,
} from '../schema/index.js';
import { Engine, type EngineDescription, type EngineEvents } from '../store/local/index.js';
import type {
  Backend,
  BackendStats,
  ChangesRequest,
  DatabaseState,
  DescribeOptions,
  PageOptions,
  PageReply,
  Readiness,
  Scope,
} from './backend.js';
import { Calls } from './calls.js';
import { DatabaseModels } from './database-models.js';
import { type ModelDirectories, Models } from './models.js';
import { isStale, Reembeddings } from './reembeddings.js';
import { type Destination, embedAndCommit, upsertLines } from './upsert.js';
import { WriteGate } from './write-barrier.js';

export interface LocalOptions {
  /** Where the databases are; made when missing. */
  directory: string;
  /** Scan threads. Default: one a core. */
  threads?: number | undefined;
  /** Threads that embed. Default: one a core, four at most. */
  embedWorkers?: number | undefined;
  /** What requests may hold at most. */
  limits?: Limits | undefined;
  /** Models beside the built-in one: directories in sentence-transformers layout by the name they are to have. */
  models?: ModelDirectories | undefined;
  /** Whether interrupted re-embeddings go on by themselves. Default: true. */
  resume?: boolean | undefined;
}

/** How a batch comes. */
export interface BatchOptions {
  signal?: AbortSignal;
  /** The vectors of records that come without, one after the other. */
  vectors?: Float32Array;
  /** The id of the key that asks. */
  caller?: string;
}

/** Answers from the engine in this process. */
export class LocalBackend implements Backend {
  readonly #engine: Engine;
  readonly #models: Models;
  readonly #limits: Limits;
  readonly #databases: DatabaseModels;
  readonly #written = new EventEmitter().setMaxListeners(0);
  readonly #reembeddings: Reembeddings;
  readonly #gates = new Map<string, WriteGate>();
  /** Searches share passes over the vectors, so that many at once are faster than one after the other. */
  readonly #searches = new FairLimiter({ total: 128, perCaller: 96 });
  readonly #queries = new FairLimiter({ total: 16, perCaller: 12 });
  /** A description of many columns takes long enough that other calls must get in between two of them. */
  readonly #descriptions = new FairLimiter({ total: 1, perCaller: 1 });
  /** One read of the feed through a filter may test 10,000 changes. */
  readonly #feeds = new FairLimiter({ total: 8, perCaller: 6 });
  readonly #calls = new Calls();
  /** Settles once every database is in memory, or known to be one that cannot be. */
  readonly ready: Promise<void>;
  #starting: string | undefined = 'databases are being loaded';
  #closed: Promise<void> | undefined;

  private constructor(engine: Engine, models: Models, limits: Limits, resume: boolean) {
    this.#engine = engine;
    this.#models = models;
    this.#limits = limits;
    this.#databases = new DatabaseModels(engine, models);
    this.#reembeddings = new Reembeddings({
      engine,
      models,
      modelOf: (id) => this.#databases.find(id),
      gateOf: (id) => this.#gate(id),
      switched: (id) => this.#databases.refresh(id),
    });
    this.ready = this.#start(resume);
    // Whoever needs the databases awaits it; a close meanwhile must not count as unhandled.
    this.ready.catch(() => undefined);
  }

  /**
   * Takes a data directory and begins to bring its databases to memory: await `ready` before the first call.
   *
   * @throws {CosiftError} `data_locked` when another process has it open.
   */
  static begin(options: LocalOptions): LocalBackend {
    const limits = options.limits ?? LIMITS;
    const models = new Models(options.models, options.embedWorkers);
    const engine = Engine.open(options.directory, limits, options.threads);
    return new LocalBackend(engine, models, limits, options.resume ?? true);
  }

  /** As {@link begin}, with every database in memory. */
  static async open(options: LocalOptions): Promise<LocalBackend> {
    const backend = LocalBackend.begin(options);
    try {
      await backend.ready;
    } catch (error) {
      await backend.close();
      throw error;
    }
    return backend;
  }

  async #start(resume: boolean): Promise<void> {
    await this.#engine.load();
    for (const database of await this.#engine.listDatabases()) this.#databases.know(database);
    if (resume) await this.#reembeddings.resume(this.#databases.ids());
    this.#starting = undefined;
  }

  /**
   * Loads the models of the databases, so that no search has to wait for it. Returns those that cannot be loaded:
   * only what needs them fails.
   */
  async loadModels(): Promise<{ model: string; error: unknown }[]> {
    const failed = [];
    for (const model of this.#databases.models()) {
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

  databases(): DatabaseState[] {
    return this.#engine.progress().databases.map(({ id, loaded, writable, records, problem }) => ({
      id,
      loaded,
      writable,
      records,
      ...(problem && { problem }),
    }));
  }

  async listDatabases({ caller = '' }: DescribeOptions = {}): Promise<DatabaseDescription[]> {
    using _call = this.#calls.begin();
    const databases = await this.#descriptions.run(caller, () => this.#engine.listDatabases());
    return databases.map((database) => this.#described(database));
  }

  async createDatabase(
    id: string,
    settings: DatabaseSettings,
  ): Promise<{ created: boolean; database: DatabaseDescription }> {
    using _call = this.#calls.begin();
    const own = settings.model === undefined && settings.dimensions !== undefined;
    const model = own ? null : (settings.model ?? Models.builtIn);
    const embedder = model === null ? undefined : await this.#models.embedder(model);
    const dimensions = embedder?.dimensions ?? settings.dimensions ?? 0;
    if (settings.dimensions !== undefined && settings.dimensions !== dimensions) {
      const detail = `model "${model}" makes vectors of ${dimensions} values`;
      const problems: Problem[] = [{ pointer: '/dimensions', code: 'invalid_value', detail }];
      throw new CosiftError('invalid_request', detail, { problems });
    }
    const { created, database } = await this.#engine.createDatabase(id, {
      ...(settings.embed && { embed: settings.embed }),
      model,
      fingerprint: embedder?.fingerprint ?? null,
      dimensions,
      ...(settings.approximate !== undefined && { approximate: settings.approximate }),
    });
    this.#databases.know(database);
    return { created, database: this.#described(database) };
  }

  async describeDatabase(id: string, { caller = '' }: DescribeOptions = {}): Promise<DatabaseDescription> {
    using _call = this.#calls.begin();
    return this.#described(await this.#descriptions.run(caller, () => this.#engine.describeDatabase(id)));
  }

  async dropDatabase(id: string): Promise<void> {
    using _call = this.#calls.begin();
    await this.#reembeddings.forget(id);
    await this.#engine.dropDatabase(id);
    this.#databases.forget(id);
    this.#gates.delete(id);
    // Who waits for changes is told at once that there is no database.
    this.#written.emit(writtenTo(id));
  }

  async startReembedding(id: string, model: string): Promise<Reembedding> {
    using _call = this.#calls.begin();
    return await this.#reembeddings.start(id, model);
  }

  async reembedding(id: string): Promise<Reembedding> {
    using _call = this.#calls.begin();
    this.#databases.find(id);
    const state = this.#reembeddings.state(id);
    if (state !== undefined) return state;
    throw new CosiftError('reembedding_not_found', `database "${id}" is not being embedded again`);
  }

  async cancelReembedding(id: string): Promise<void> {
    using _call = this.#calls.begin();
    await this.#reembeddings.cancel(id);
  }

  async upsertBatch(id: string, body: Uint8Array, options: BatchOptions = {}): Promise<Uint8Array> {
    using _call = this.#calls.begin();
    return await this.#upsertBatch(id, body, options);
  }

  /**
   * Runs a call that upserts `records` batch by batch, as one: a close waits for it. Records that come asynchronously
   * end with `not_ready` at the close.
   */
  async upserting<R, T>(
    records: Iterable<R> | AsyncIterable<R>,
    work: (
      records: Iterable<R> | AsyncIterable<R>,
      upsertBatch: (id: string, body: Uint8Array, options: BatchOptions) => Promise<Uint8Array>,
    ) => Promise<T>,
  ): Promise<T> {
    using _call = this.#calls.begin();
    const isAsync = (of: typeof records): of is AsyncIterable<R> => Symbol.asyncIterator in Object(of);
    const source = isAsync(records) ? this.#calls.untilClosing(records) : records;
    return await work(source, (id, body, options) => this.#upsertBatch(id, body, options));
  }

  async #upsertBatch(id: string, body: Uint8Array, options: BatchOptions): Promise<Uint8Array> {
    const destination = await this.#destination(id, { caller: options.caller, patient: false });
    const prepared = await this.#engine.prepareBatch(id, body, options.vectors);
    const { native: committed, truncated } = await embedAndCommit(destination, prepared, options);
    this.#written.emit(writtenTo(id));
    const { created, changed, unchanged, results } = committed;
    const counts = `,"created":${created},"changed":${changed},"unchanged":${unchanged},"truncated":${truncated}}`;
    return Buffer.concat([Buffer.from('{"results":'), results, Buffer.from(counts)]);
  }

  async *upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options: { signal?: AbortSignal; check?: () => void; caller?: string } = {},
  ): AsyncIterable<LineEvent> {
    using _call = this.#calls.begin();
    const destination = await this.#destination(id, { caller: options.caller, patient: true });
    const events = upsertLines(destination, chunks, this.#limits.record_bytes, options);
    for await (const event of events) {
      if (event.type === 'progress') this.#written.emit(writtenTo(id));
      yield event;
    }
  }

  async record(id: string, recordId: string, variant: Variant, scope: Scope): Promise<Uint8Array> {
    using _call = this.#calls.begin();
    return await this.#engine.record(id, recordId, { variant, forced_filter: scope.forcedFilter });
  }

  async deleteRecords(
    id: string,
    request: DeleteRequest,
    options: { scope?: Scope; signal?: AbortSignal } = {},
  ): Promise<{ deleted: number }> {
    using _call = this.#calls.begin();
    this.#databases.find(id);
    const { scope, signal } = options;
    const deletion = { ...request, forced_filter: scope?.forcedFilter };
    const deleted = await this.#gate(id).pass(() => this.#engine.deleteRecords(id, deletion, signal));
    if (deleted > 0) this.#written.emit(writtenTo(id));
    return { deleted };
  }

  async search(id: string, request: SearchRequest, options: PageOptions): Promise<PageReply> {
    using _call = this.#calls.begin();
    const start = performance.now();
    const { search, pagination, ...rest } = request;
    for (;;) {
      const { vector, fingerprint } = await this.#databases.queryVector(id, search, {
        signal: options.signal,
        caller: options.scope?.caller,
      });
      const embedded = performance.now();
      try {
        const wanted = {
          variant: options.variant,
          threshold: search.threshold ?? DEFAULTS.threshold,
          ...DEFAULT_PAGE,
          ...pagination,
          ...rest,
          forced_filter: options.scope?.forcedFilter,
          embedded_by: fingerprint,
        };
        const page = await this.#inTurn(this.#searches, options, () =>
          this.#engine.search(id, wanted, vector, options.signal),
        );
        const end = performance.now();
        const timings = {
          embedMs: embedded - start,
          searchMs: page.totalMicros / 1000,
          totalMs: end - start,
        };
        return { body: page.body, timings };
      } catch (error) {
        // The database has got another model since the text was embedded.
        if (!isStale(error)) throw error;
        await this.#databases.refresh(id);
      }
    }
  }

  async query(id: string, request: QueryRequest, options: PageOptions): Promise<PageReply> {
    using _call = this.#calls.begin();
    const start = performance.now();
    const { pagination, ...rest } = request;
    const wanted = {
      variant: options.variant,
      ...DEFAULT_PAGE,
      ...pagination,
      ...rest,
      forced_filter: options.scope?.forcedFilter,
    };
    const page = await this.#inTurn(this.#queries, options, () =>
      this.#engine.query(id, wanted, options.signal),
    );
    const totalMs = performance.now() - start;
    return { body: page.body, timings: { embedMs: 0, searchMs: page.totalMicros / 1000, totalMs } };
  }

  async changes(
    id: string,
    request: ChangesRequest,
    options: { scope?: Scope; signal?: AbortSignal } = {},
  ): Promise<Uint8Array> {
    using _call = this.#calls.begin();
    const { limit, waitMs } = request;
    const forced_filter = options.scope?.forcedFilter;
    const deadline = performance.now() + waitMs;
    for (let { after, epoch } = request; ; ) {
      // Listening starts before the look: a commit in between must not be slept through.
      using stop = new LinkedAbort(this.#calls.closing, options.signal);
      const written = once(this.#written, writtenTo(id), { signal: stop.signal }).catch(() => undefined);
      try {
        const read = { after, limit, epoch, forced_filter };
        const body = await this.#feeds.run(
          options.scope?.caller ?? '',
          () => this.#engine.changes(id, read, options.signal),
          options.signal,
        );
        const left = deadline - performance.now();
        if (
          left <= 0 ||
          options.signal?.aborted ||
          this.#calls.closing.aborted ||
          !EMPTY.test(Buffer.from(body).toString('latin1', 0, 16))
        ) {
          return body;
        }
        // What a filter hides is not read again.
        const feed = parseChanges(body);
        after = feed.position;
        // A database that is made again while the call waits has another feed.
        epoch = feed.epoch;
        if (feed.has_more) continue;
        const timer = setTimeout(() => stop.abort(), left);
        await written;
        clearTimeout(timer);
        if (options.signal?.aborted) return body;
      } finally {
        stop.abort();
      }
    }
  }

  stats(): BackendStats {
    const embedder = this.#models.stats();
    const { commits, commitMicros, writesWaiting, scannedBytes } = this.#engine.meter();
    return {
      databases: this.#engine
        .progress()
        .databases.map(({ id, loaded, writable, records, memory_bytes, disk_bytes }) => {
          const reembedding = this.#unfinished(id);
          return {
            id,
            loaded,
            writable,
            records,
            memoryBytes: memory_bytes,
            diskBytes: disk_bytes,
            ...(reembedding && { reembedding }),
          };
        }),
      scans: { ...this.#engine.scanStats(), bytes: scannedBytes },
      commits: { waiting: writesWaiting, count: commits, totalMs: commitMicros / 1000 },
      ...(embedder && { embedder }),
    };
  }

  takeEvents(): EngineEvents {
    return this.#engine.takeEvents();
  }

  /** Refuses new calls, finishes those under way, and lets go of the directory. The same promise for every call. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const calls = this.#calls.close();
    const results = await Promise.allSettled([calls, this.#reembeddings.close()]);
    // Only now: those calls need both.
    results.push(...(await Promise.allSettled([this.#engine.close()])));
    results.push(...(await Promise.allSettled([this.#models.close()])));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Asks the engine when it is the caller's turn: results that nobody has taken yet stay few. */
  #inTurn<T>(turns: FairLimiter, { scope, signal, check }: PageOptions, ask: () => Promise<T>): Promise<T> {
    const call = async () => {
      check?.();
      return await ask();
    };
    return turns.run(scope?.caller ?? '', call, signal);
  }

  #gate(id: string): WriteGate {
    const gate = this.#gates.get(id) ?? new WriteGate();
    this.#gates.set(id, gate);
    return gate;
  }

  /** Where the records of one write go. Fails at once when they could not be embedded. */
  async #destination(
    id: string,
    write: { caller: string | undefined; patient: boolean },
  ): Promise<Destination> {
    const embed = await this.#databases.passages(id, write);
    const refresh = () => this.#databases.refresh(id);
    const { closing } = this.#calls;
    return { engine: this.#engine, id, gate: () => this.#gate(id), embed, refresh, closing };
  }

  #described(database: EngineDescription): DatabaseDescription {
    const reembedding = this.#unfinished(database.id);
    return reembedding === undefined ? database : { ...database, reembedding };
  }

  /** The re-embedding of a database, until it is done. */
  #unfinished(id: string): Reembedding | undefined {
    const reembedding = this.#reembeddings.state(id);
    return reembedding?.state === 'done' ? undefined : reembedding;
  }
}

/** The event of a write. A database may be called as an event that emitters treat in their own way, such as `error`. */
const writtenTo = (id: string) => `written:${id}`;

const DEFAULT_PAGE = { limit: DEFAULTS.limit };

/** The start of a change feed's answer without changes. */
const EMPTY = /^\{"changes":\[\]/;

function parseChanges(body: Uint8Array): Changes {
  return JSON.parse(Buffer.from(body).toString('utf8'));
}
