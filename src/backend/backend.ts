import type { Stoppable } from '../async/stoppable.js';
import type {
  DatabaseDescription,
  DatabaseSettings,
  DeleteRequest,
  DoctorCheck,
  FilterGroup,
  LineEvent,
  MapRequest,
  QueryRequest,
  Reembedding,
  SearchRequest,
} from '../schema/index.js';
import type { RecordForm } from '../store/record-store.js';
import type { CommitStats, DatabaseProgress, SearchStats, StoreEvents } from '../store/store-state.js';
import type { ExamineAllCall } from './doctor/index.js';

/** Answers the requests of the service, the library and the command line. Every failure is a `CosiftError`. */
export interface Backend {
  /** Resolves once every database is ready for requests or is known to have failed; rejects when the start fails. */
  readonly ready: Promise<void>;
  /**
   * Loads the models of all databases, so that no search has to wait for a model. Returns the models that cannot be
   * loaded; only requests that need one of them fail.
   */
  loadModels(): Promise<{ model: string; error: unknown }[]>;
  /** Returns whether requests are served. It must be cheap, because every request calls it. */
  readiness(): Readiness;
  /** Returns the state of every database, including those that could not be opened. Aborting `signal` ends the call. */
  databases(signal?: AbortSignal): Promise<DatabaseState[]>;

  listDatabases(options?: DescribeOptions): Promise<DatabaseDescription[]>;
  /** Creates a database. A database that exists with the same settings is returned as it is. */
  createDatabase(
    id: string,
    settings: DatabaseSettings,
  ): Promise<{ created: boolean; database: DatabaseDescription }>;
  describeDatabase(id: string, options?: DescribeOptions): Promise<DatabaseDescription>;
  /** Like {@link describeDatabase}, but resolves with the JSON of a `DatabaseDescription`. */
  databaseJson(id: string, options?: DescribeOptions): Promise<Uint8Array>;
  dropDatabase(id: string): Promise<void>;

  /** Begins to embed the records with another model in the background, or continues after a failure. */
  startReembedding(id: string, model: string): Promise<Reembedding>;
  /**
   * Returns the state of the last re-embedding.
   *
   * @throws {CosiftError} `reembedding_not_found`
   */
  reembedding(id: string): Promise<Reembedding>;
  /**
   * Ends the re-embedding; the database stays as it was.
   *
   * @throws {CosiftError} `reembedding_not_found`
   */
  cancelReembedding(id: string): Promise<void>;

  /** Upserts `{"records": […]}`, all records or none; resolves with the JSON of a `BatchResult`. */
  upsertBatch(id: string, body: Uint8Array, options?: BatchOptions): Promise<Uint8Array>;
  /**
   * Runs `work`, which upserts `records` batch by batch, as one call: a close waits until all records of an array are
   * written. When a close begins, an asynchronous source of records ends with `not_ready`.
   */
  runUpsert<R, T>(
    records: Source<R>,
    work: (records: Source<R>, upsertBatch: UpsertBatch) => Promise<T>,
  ): Promise<T>;
  /** Upserts NDJSON in committed batches; the last event is the summary. */
  upsertLines(
    id: string,
    chunks: AsyncIterable<Uint8Array>,
    options?: LinesOptions,
  ): AsyncIterable<LineEvent>;
  /**
   * Merges `{"data": {…}}` into one record (RFC 7396): a column with null is removed, and the columns that the patch
   * lacks stay as they are. The text is embedded only if the patch changes it.
   *
   * Resolves with the JSON of the record right after the patch. `recordId` is an integer, a UUID or `key:` and a key.
   *
   * @throws {CosiftError} `record_not_found`; `invalid_record` and the other codes of records.
   */
  patchRecord(
    id: string,
    recordId: string,
    form: RecordForm,
    body: Uint8Array,
    options?: PatchOptions,
  ): Promise<Uint8Array>;
  /** Returns the JSON of one record; `recordId` is an integer, a UUID or `key:` and a key. */
  record(id: string, recordId: string, form: RecordForm, scope: Scope): Promise<Uint8Array>;
  /** Deletes nothing once `signal` is aborted before the commit. */
  deleteRecords(id: string, request: DeleteRequest, options?: DeleteOptions): Promise<{ deleted: number }>;

  search(id: string, request: SearchRequest, options: PageOptions): Promise<PageReply>;
  query(id: string, request: QueryRequest, options: PageOptions): Promise<PageReply>;
  /** Returns the JSON of a `Points`. */
  map(id: string, request: MapRequest, options: PageOptions): Promise<PageReply>;
  /** Returns the JSON of a `Changes`; waits up to `waitMs` for a first change after `after`. */
  changes(id: string, request: ChangesRequest, options?: ScopedOptions): Promise<Uint8Array>;

  /**
   * Yields the records of one moment as NDJSON that {@link upsertLines} takes, in the order of their integer ids. A close
   * ends the export with `not_ready`.
   *
   * @throws {CosiftError} `busy` when too many exports are in progress.
   */
  exportLines(id: string, request: ExportRequest, options?: ScopedOptions): AsyncIterable<Uint8Array>;

  /**
   * Makes an archive of one database, or of everything: all databases, keys and webhooks, as they are at one moment.
   * Aborting `signal`, or a close, ends the backup.
   */
  backup(database: string | undefined, signal?: AbortSignal): Promise<BackupArchive>;

  /** Checks databases completely while they are served, one after the other, and changes nothing. */
  examine(ids: readonly string[], call: ExamineAllCall): AsyncIterable<DoctorCheck>;

  stats(): Promise<BackendStats>;
  /** Removes and returns the events since the last call. It works after `close`, too, because closing adds events. */
  takeEvents(): StoreEvents;
  /** Refuses new calls, finishes those in progress, and releases what is open. Each call returns the same promise. */
  close(): Promise<void>;
}

/** An archive that is ready to be read. */
export interface BackupArchive {
  /** Size of the archive. */
  bytes: number;
  /** The archive. It is read once. */
  chunks: AsyncIterable<Uint8Array>;
  /** Frees what the archive takes on disk. To be called, also when the archive was not read to its end. */
  release(): Promise<void>;
}

/** What the key of a caller adds to a request: a record outside `forcedFilter` does not exist for the caller. */
export interface Scope {
  /** The path of the key. Keys take turns where requests wait. */
  caller?: string;
  forcedFilter?: FilterGroup;
}

export interface ScopedOptions {
  scope?: Scope;
  /** Ends the call. */
  signal?: AbortSignal;
}

export interface PageOptions extends ScopedOptions, Pick<Stoppable, 'isStopped'> {
  form: RecordForm;
  /** Called right before the call to the store. An error that `check` throws ends the call. */
  check?: () => void;
}

export interface DescribeOptions {
  /** The path of the caller's key. Keys take turns where descriptions wait. */
  caller?: string;
}

/** Options of a write that may have to wait for a re-embedding. */
export interface WaitOptions {
  /** Called when the write has to wait, so that the caller gives up what other writes need. */
  onWait?: (() => void) | undefined;
}

export type DeleteOptions = ScopedOptions & WaitOptions & Pick<BatchOptions, 'check'>;

export interface BatchOptions extends WaitOptions {
  signal?: AbortSignal;
  /** The vectors of records that come without a vector, one after the other. */
  vectors?: Float32Array;
  /** Called right before the commit. An error that `check` throws ends the call, and nothing is stored. */
  check?: () => void | Promise<void>;
  /** The path of the caller's key, under which it takes turns. */
  caller?: string;
}

export type PatchOptions = Pick<BatchOptions, 'signal' | 'check' | 'caller' | 'onWait'>;

export type UpsertBatch = Backend['upsertBatch'];

/** The records that a caller passes. */
export type Source<R> = Iterable<R> | AsyncIterable<R>;

export interface LinesOptions {
  signal?: AbortSignal;
  /** Called before each batch is embedded and committed. An error that `check` throws ends the stream. */
  check?: () => void | Promise<void>;
  /** The path of the caller's key, under which it takes turns. */
  caller?: string;
}

export interface ChangesRequest {
  /** The position after which the changes are read. */
  after: number;
  limit: number;
  /** How long a response without changes may wait for a first change, in milliseconds. */
  waitMs: number;
  /** The feed that `after` is a position of; undefined for the current feed. */
  epoch?: string | undefined;
}

export interface ExportRequest {
  filter?: FilterGroup | undefined;
  /** Whether lines have vectors. Default: false. */
  vectors?: boolean | undefined;
}

export interface PageReply {
  /** The response body: one page as JSON. */
  body: Uint8Array;
  /** Milliseconds. */
  timings: { embedMs: number; searchMs: number; totalMs: number };
}

export interface Readiness {
  /** Whether requests are served. A database that could not be opened does not block the others. */
  readonly ready: boolean;
  /** Why requests are not served. */
  readonly reasons: readonly string[];
}

/** The state of a database. */
export type DatabaseState = Omit<DatabaseProgress, 'memoryBytes' | 'diskBytes'>;

/** Facts for metrics. Totals count from the start of the process. */
export interface BackendStats {
  /** Absent while the store cannot be reached, or does not answer in time. */
  databases?: DatabaseStats[];
  searches: SearchStats;
  commits: CommitStats;
  /** Absent while no model is loaded. */
  embedder?: {
    queued: number;
    running: number;
    cacheHits: number;
    cacheMisses: number;
    inferences: number;
    totalMs: number;
  };
}

export interface DatabaseStats extends Omit<DatabaseProgress, 'problem'> {
  /** Records with their new vector, and all records, while the database is embedded with another model. */
  reembedding?: { done: number; records: number };
}
