import type {
  DatabaseDescription,
  DatabaseSettings,
  DeleteRequest,
  FilterGroup,
  LineEvent,
  QueryRequest,
  Reembedding,
  SearchRequest,
  Variant,
} from '../schema/index.js';
import type { EngineEvents } from '../store/local/index.js';

/** What a caller's key adds to a request: a record outside `forcedFilter` does not exist for it. */
export interface Scope {
  /** The key's id: callers take turns where texts wait to be embedded. */
  caller?: string;
  forcedFilter?: FilterGroup;
}

export interface PageOptions {
  variant: Variant;
  scope?: Scope;
  /** Stops the running scan. */
  signal?: AbortSignal;
  /** Called right before the engine is asked; what it throws ends the call. */
  check?: () => void;
}

export interface ChangesRequest {
  /** Position to go on from. */
  after: number;
  limit: number;
  /** How long an answer without changes may wait for a first one. */
  waitMs: number;
  /** The feed that `after` is a position of; absent: whichever there is. */
  epoch?: string | undefined;
}

export interface PageReply {
  /** The response body: one page as JSON. */
  body: Uint8Array;
  /** Milliseconds. */
  timings: { embedMs: number; searchMs: number; totalMs: number };
}

export interface Readiness {
  /** Whether requests are served. Databases that could not be opened keep the others from nothing. */
  ready: boolean;
  /** Why not. */
  reasons: string[];
}

/** How far a database has come. */
export interface DatabaseState {
  id: string;
  loaded: boolean;
  /** False while it is not loaded, and when it refuses writes until the next start; it is still read. */
  writable: boolean;
  /** Those in memory. */
  records: number;
  /** Why it could not be opened, or `drop_failed` when it could not be dropped; it is not served. */
  problem?: { code: string; detail: string };
}

/** Facts for metrics. Totals count from the start of the process. */
export interface BackendStats {
  databases: {
    id: string;
    loaded: boolean;
    writable: boolean;
    records: number;
    memoryBytes: number;
    diskBytes: number;
    /** Records with their new vector, and all of them, until the database has its other model. */
    reembedding?: { done: number; records: number };
  }[];
  /** Searches that wait for a pass, passes under way, searches answered, bytes of codes gone through. */
  scans: { waiting: number; passes: number; answered: number; bytes: number };
  /** Writes that wait, transactions made durable and the time they took. */
  commits: { waiting: number; count: number; totalMs: number };
  embedder?: {
    queued: number;
    running: number;
    cacheHits: number;
    cacheMisses: number;
    inferences: number;
    totalMs: number;
  };
}

/** What answers requests: the local engine, or a distributed one. Failures are `CosiftError`s. */
export interface DescribeOptions {
  /** The id of the key that asks: descriptions are made one after the other, and keys take turns. */
  caller?: string;
}

export interface Backend {
  /** Asked by every request: it costs nothing. */
  readiness(): Readiness;
  /** How far every database has come. */
  databases(): DatabaseState[];
  listDatabases(options?: DescribeOptions): Promise<DatabaseDescription[]>;
  createDatabase(
    id: string,
    settings: DatabaseSettings,
  ): Promise<{ created: boolean; database: DatabaseDescription }>;
  describeDatabase(id: string, options?: DescribeOptions): Promise<DatabaseDescription>;
  dropDatabase(id: string): Promise<void>;
  /** Begins to embed the database with another model in the background, or goes on after a failure. */
  startReembedding(id: string, model: string): Promise<Reembedding>;
  /** How that stands. */
  reembedding(id: string): Promise<Reembedding>;
  /** Ends it; the database stays as it was. */
  cancelReembedding(id: string): Promise<void>;
  /** Takes `{"records": […]}` whole or not at all; resolves with the JSON of a `BatchResult`. */
  upsertBatch(
    id: string,
    body: Uint8Array,
    /** `vectors`: those of records that come without, one after the other; `caller`: see {@link Scope}. */
    options?: { signal?: AbortSignal; vectors?: Float32Array; caller?: string },
  ): Promise<Uint8Array>;
  /**
   * Takes NDJSON in committed batches; the last event is the summary. `check` is called before each batch is committed;
   * what it throws ends the stream.
   */
  upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options?: { signal?: AbortSignal; check?: () => void; caller?: string },
  ): AsyncIterable<LineEvent>;
  /** The JSON of one record; `recordId` is an integer or a UUID. */
  record(id: string, recordId: string, variant: Variant, scope: Scope): Promise<Uint8Array>;
  /** Deletes nothing once `signal` is aborted before the commit. */
  deleteRecords(
    id: string,
    request: DeleteRequest,
    options?: { scope?: Scope; signal?: AbortSignal },
  ): Promise<{ deleted: number }>;
  search(id: string, request: SearchRequest, options: PageOptions): Promise<PageReply>;
  query(id: string, request: QueryRequest, options: PageOptions): Promise<PageReply>;
  /** The JSON of a `Changes`; waits up to `waitMs` for a first change after `after`. */
  changes(
    id: string,
    request: ChangesRequest,
    options: { scope?: Scope; signal?: AbortSignal },
  ): Promise<Uint8Array>;
  stats(): BackendStats;
  /** Removes and returns what was reported since the last call, also after `close`. */
  takeEvents(): EngineEvents;
  close(): Promise<void>;
}
