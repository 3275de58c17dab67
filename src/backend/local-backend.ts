import { EventEmitter, once } from 'node:events';
import type { Embedder } from '../embedding/index.js';
import { Engine, type EngineDescription } from '../engine/index.js';
import { CosiftError } from '../errors.js';
import {
  type DatabaseDescription,
  type DatabaseSettings,
  DEFAULTS,
  type DeleteRequest,
  LIMITS,
  type Limits,
  type LineEvent,
  type QueryRequest,
  type SearchRequest,
  type Variant,
} from '../schema/index.js';
import type { Backend, BackendStats, PageOptions, PageReply, Readiness, Scope } from './backend.js';
import { Models } from './models.js';
import { embedAndCommit, upsertLines } from './upsert.js';

export interface LocalOptions {
  /** Where the databases are; made when missing. */
  directory: string;
  /** Scan threads. Default: one a core. */
  threads?: number | undefined;
  /** Threads that embed. Default: one a core, four at most. */
  embedWorkers?: number | undefined;
  /** What requests may hold at most. */
  limits?: Limits | undefined;
}

/** What a database is made with, as far as requests need it. */
interface Known {
  model: string | null;
  fingerprint: string | null;
  dimensions: number;
}

/** Answers from the engine in this process. */
export class LocalBackend implements Backend {
  readonly #engine: Engine;
  readonly #models: Models;
  readonly #limits: Limits;
  readonly #known = new Map<string, Known>();
  readonly #written = new EventEmitter().setMaxListeners(0);
  #embedder: Embedder | undefined;
  /** Settles once every database is in memory, or known to be one that cannot be. */
  readonly ready: Promise<void>;
  #starting: string | undefined = 'databases are being loaded';
  #closed: Promise<void> | undefined;

  private constructor(engine: Engine, models: Models, limits: Limits) {
    this.#engine = engine;
    this.#models = models;
    this.#limits = limits;
    this.ready = this.#start();
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
    const engine = Engine.open(options.directory, limits, options.threads);
    return new LocalBackend(engine, new Models(options.embedWorkers), limits);
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

  async #start(): Promise<void> {
    await this.#engine.load();
    for (const database of await this.#engine.listDatabases()) this.#know(database);
    this.#starting = undefined;
  }

  /**
   * Loads the models of the databases, so that no search has to wait for it. Returns those that cannot be loaded:
   * only what needs them fails.
   */
  async loadModels(): Promise<{ model: string; error: unknown }[]> {
    const failed = [];
    for (const model of new Set([...this.#known.values()].flatMap(({ model }) => model ?? []))) {
      try {
        await this.#load(model);
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
    const databases = this.#engine.progress().databases.map(({ id, loaded, records, problem }) => ({
      id,
      loaded,
      records,
      ...(problem && { problem }),
    }));
    return { ready: reasons.length === 0, reasons, databases };
  }

  async listDatabases(): Promise<DatabaseDescription[]> {
    return this.#engine.listDatabases();
  }

  async createDatabase(
    id: string,
    settings: DatabaseSettings,
  ): Promise<{ created: boolean; database: DatabaseDescription }> {
    const own = settings.model === undefined && settings.dimensions !== undefined;
    const embedder = own ? undefined : await this.#load(settings.model ?? Models.builtIn);
    const dimensions = embedder?.dimensions ?? settings.dimensions ?? 0;
    if (settings.dimensions !== undefined && settings.dimensions !== dimensions) {
      const detail = `model "${embedder?.model}" makes vectors of ${dimensions} values`;
      throw new CosiftError('invalid_request', detail, { problems: [{ pointer: '/dimensions', detail }] });
    }
    const { created, database } = await this.#engine.createDatabase(id, {
      ...(settings.embed && { embed: settings.embed }),
      model: embedder?.model ?? null,
      fingerprint: embedder?.fingerprint ?? null,
      dimensions,
    });
    this.#know(database);
    return { created, database };
  }

  async describeDatabase(id: string): Promise<DatabaseDescription> {
    return this.#engine.describeDatabase(id);
  }

  async dropDatabase(id: string): Promise<void> {
    await this.#engine.dropDatabase(id);
    this.#known.delete(id);
  }

  async upsertBatch(
    id: string,
    body: Uint8Array,
    options: { signal?: AbortSignal; vectors?: Float32Array } = {},
  ): Promise<Uint8Array> {
    const embed = await this.#embedTexts(id);
    const prepared = await this.#engine.prepareBatch(id, body, options.vectors);
    const committed = await embedAndCommit(this.#engine, id, prepared, embed, options.signal);
    this.#written.emit(id);
    const { created, changed, unchanged, results } = committed;
    const counts = `,"created":${created},"changed":${changed},"unchanged":${unchanged}}`;
    return Buffer.concat([Buffer.from('{"results":'), results, Buffer.from(counts)]);
  }

  async *upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options: { signal?: AbortSignal } = {},
  ): AsyncIterable<LineEvent> {
    const embed = await this.#embedTexts(id);
    const events = upsertLines(this.#engine, id, chunks, embed, this.#limits.line_bytes, options.signal);
    for await (const event of events) {
      if (event.type === 'progress') this.#written.emit(id);
      yield event;
    }
  }

  async record(id: string, recordId: string, variant: Variant, scope: Scope): Promise<Uint8Array> {
    return this.#engine.record(id, recordId, { variant, forced_filter: scope.forcedFilter });
  }

  async deleteRecords(id: string, request: DeleteRequest, scope: Scope): Promise<{ deleted: number }> {
    const deleted = await this.#engine.deleteRecords(id, { ...request, forced_filter: scope.forcedFilter });
    if (deleted > 0) this.#written.emit(id);
    return { deleted };
  }

  async search(id: string, request: SearchRequest, options: PageOptions): Promise<PageReply> {
    const start = performance.now();
    const vector = await this.#queryVector(id, request.search, options.signal);
    const embedded = performance.now();
    const { search, pagination, ...rest } = request;
    const page = await this.#engine.search(
      id,
      {
        variant: options.variant,
        threshold: search.threshold ?? DEFAULTS.threshold,
        ...DEFAULT_PAGE,
        ...pagination,
        ...rest,
        forced_filter: options.scope?.forcedFilter,
      },
      vector,
      options.signal,
    );
    const end = performance.now();
    const timings = { embedMs: embedded - start, searchMs: page.totalMicros / 1000, totalMs: end - start };
    return { body: page.body, timings };
  }

  async query(id: string, request: QueryRequest, options: PageOptions): Promise<PageReply> {
    const start = performance.now();
    const { pagination, ...rest } = request;
    const page = await this.#engine.query(
      id,
      {
        variant: options.variant,
        ...DEFAULT_PAGE,
        ...pagination,
        ...rest,
        forced_filter: options.scope?.forcedFilter,
      },
      options.signal,
    );
    const totalMs = performance.now() - start;
    return { body: page.body, timings: { embedMs: 0, searchMs: page.totalMicros / 1000, totalMs } };
  }

  async changes(
    id: string,
    request: { after: number; limit: number; waitMs: number },
    options: { scope?: Scope; signal?: AbortSignal } = {},
  ): Promise<Uint8Array> {
    const { after, limit, waitMs } = request;
    const deadline = performance.now() + waitMs;
    for (;;) {
      // Listening starts before the look: a commit in between must not be slept through.
      const stop = new AbortController();
      const signals = [stop.signal, ...(options.signal ? [options.signal] : [])];
      const written = once(this.#written, id, { signal: AbortSignal.any(signals) }).catch(() => undefined);
      try {
        const forced_filter = options.scope?.forcedFilter;
        const body = await this.#engine.changes(id, { after, limit, forced_filter });
        const left = deadline - performance.now();
        if (
          left <= 0 ||
          options.signal?.aborted ||
          !EMPTY.test(Buffer.from(body).toString('latin1', 0, 16))
        ) {
          return body;
        }
        const timer = setTimeout(() => stop.abort(), left);
        await written;
        clearTimeout(timer);
      } finally {
        stop.abort();
      }
    }
  }

  stats(): BackendStats {
    const { commits, commitMicros, writesWaiting, scannedBytes } = this.#engine.meter();
    return {
      databases: this.#engine
        .progress()
        .databases.map(({ id, loaded, records, memory_bytes, disk_bytes }) => ({
          id,
          loaded,
          records,
          memoryBytes: memory_bytes,
          diskBytes: disk_bytes,
        })),
      scans: { ...this.#engine.scanStats(), bytes: scannedBytes },
      commits: { waiting: writesWaiting, count: commits, totalMs: commitMicros / 1000 },
      ...(this.#embedder && { embedder: this.#embedder.stats() }),
    };
  }

  close(): Promise<void> {
    this.#closed ??= Promise.allSettled([this.#engine.close(), this.#models.close()]).then((results) => {
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    });
    return this.#closed;
  }

  #know({ id, model, fingerprint, dimensions }: EngineDescription): void {
    this.#known.set(id, { model, fingerprint, dimensions });
  }

  #find(id: string): Known {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (this.#engine.progress().databases.some((database) => database.id === id)) {
      throw new CosiftError('not_ready', `database "${id}" is not loaded`, { fields: { database: id } });
    }
    throw new CosiftError('database_not_found', `there is no database "${id}"`);
  }

  async #load(model: string): Promise<Embedder> {
    this.#embedder = await this.#models.embedder(model);
    return this.#embedder;
  }

  /** The embedder of a database's model, which must be the very model its records were embedded with. */
  async #embedderOf(id: string, model: string, fingerprint: string | null): Promise<Embedder> {
    if (!this.#models.has(model)) {
      const detail = `database "${id}" was embedded with model "${model}", which this service does not have`;
      throw new CosiftError('model_mismatch', detail);
    }
    const embedder = await this.#load(model);
    if (embedder.fingerprint !== fingerprint) {
      const detail =
        `database "${id}" was embedded with another version of model "${model}" than this service has; ` +
        'import its records into a new database to embed them again';
      throw new CosiftError('model_mismatch', detail);
    }
    return embedder;
  }

  async #embedTexts(id: string) {
    const { model, fingerprint } = this.#find(id);
    if (model === null) return async () => new Float32Array();
    const embedder = await this.#embedderOf(id, model, fingerprint);
    return (texts: readonly string[], signal?: AbortSignal) => embedder.embedPassages(texts, { signal });
  }

  async #queryVector(
    id: string,
    search: SearchRequest['search'],
    signal: AbortSignal | undefined,
  ): Promise<Float64Array> {
    const { model, fingerprint, dimensions } = this.#find(id);
    if (search.text === undefined) {
      const vector = Float64Array.from(search.vector ?? []);
      if (model !== null) {
        throw invalidSearch(
          'invalid_vector',
          '/search/vector',
          `database "${id}" has a model: search by text`,
        );
      }
      if (vector.length !== dimensions) {
        const detail = `vector has ${vector.length} values, database expects ${dimensions}`;
        throw invalidSearch('invalid_dimensions', '/search/vector', detail, {
          expected: dimensions,
          got: vector.length,
        });
      }
      return vector;
    }
    if (model === null) {
      throw invalidSearch(
        'invalid_request',
        '/search/text',
        `database "${id}" has no model: search by vector`,
      );
    }
    const embedder = await this.#embedderOf(id, model, fingerprint);
    return Float64Array.from(await embedder.embedQuery(search.text, { signal }));
  }
}

const DEFAULT_PAGE = { limit: DEFAULTS.limit };

/** The start of a change feed's answer without changes. */
const EMPTY = /^\{"changes":\[\]/;

function invalidSearch(
  code: 'invalid_vector' | 'invalid_dimensions' | 'invalid_request',
  pointer: string,
  detail: string,
  fields: Readonly<Record<string, unknown>> = {},
): CosiftError {
  return new CosiftError(code, detail, { problems: [{ pointer, detail }], fields });
}
