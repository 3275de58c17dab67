import type { TextSource } from '../api/text-line.js';
import type { Stoppable } from '../async/stoppable.js';
import type { CosiftError, Problem } from '../errors.js';
import type {
  Alias,
  DatabaseDescription,
  DatabaseSettings,
  DeleteRequest,
  DoctorCheck,
  FilterGroup,
  LikeSearch,
  Pagination,
  QueryRequest,
  SearchRequest,
} from '../schema/index.js';
import type { EmbeddedVectors } from './embedded-vectors.js';
import type { ReembeddingStore } from './reembedding-store.js';
import type { DatabaseProgress, ProgressOptions, StoreEvents, StoreStats } from './store-state.js';

/**
 * Keeps databases of records with their vectors, and answers requests from them. A store embeds no text: `DatabaseService`
 * turns texts into vectors.
 *
 * Every failure is a `CosiftError`. A call that names a database fails with `database_not_found` when there is no such
 * database, and with `not_ready` while that database is being loaded, could not be opened, or the store is closing.
 */
export interface RecordStore {
  /**
   * The server of a database, and the calls for callers that run there at once, so that the store's own work and other
   * servers find room beside them. Undefined in a store that schedules its work itself.
   */
  callsOf(id: string): { server: string; atOnce: number } | undefined;

  /**
   * Makes every database ready for requests. A database that cannot be opened does not block the others:
   * {@link progress} reports why.
   */
  load(): Promise<void>;

  /**
   * Creates a database; `created` is false for a database that exists, which stays as it is.
   *
   * @throws {CosiftError} `alias_conflict` for the name of an alias.
   */
  createDatabase(
    id: string,
    settings: StoreSettings,
  ): Promise<{ created: boolean; database: StoredDatabase }>;
  /**
   * Changes settings that no vector depends on. `change` returns the settings that replace those that it gets, and may be
   * called more than once.
   */
  changeSettings(id: string, change: (current: StoreSettings) => StoreSettings): Promise<StoredDatabase>;
  listDatabases(): Promise<StoredDatabase[]>;
  describeDatabase(id: string): Promise<StoredDatabase>;
  /** Like {@link describeDatabase}, but resolves with JSON. It costs less where there are many columns. */
  databaseJson(id: string): Promise<Uint8Array>;
  /** What requests depend on. It costs less than a description. */
  databaseInfo(id: string): Promise<DatabaseInfo>;
  /**
   * Removes a database with all its records.
   *
   * @throws {CosiftError} `alias_conflict` while an alias names it.
   */
  dropDatabase(id: string): Promise<void>;

  /** The aliases, in the order of their names. */
  aliases(): Promise<Alias[]>;
  /** The id of the database that an alias names; undefined for a name that is no alias. */
  databaseOfAlias(name: string): Promise<string | undefined>;
  /**
   * Lets an alias name a database from now on; `created` is false for an alias that existed.
   *
   * @throws {CosiftError} `alias_conflict` for the id of a database as the name; `database_not_found`.
   */
  setAlias(alias: Alias): Promise<{ created: boolean }>;
  /** Deletes an alias; returns whether it existed. */
  deleteAlias(name: string): Promise<boolean>;

  /**
   * Parses and validates `{"records": […]}` and compares the records with what is stored. `vectors` holds the vectors of
   * records that come without one, one after the other.
   */
  prepareBatch(id: string, body: Uint8Array, vectors?: Float32Array): Promise<PreparedRecords>;
  /**
   * Parses and validates NDJSON lines; the first of them has the number `firstLine`.
   */
  prepareLines(id: string, body: Uint8Array, firstLine: number, rules?: LineRules): Promise<PreparedRecords>;
  /**
   * Parses and validates a patch of one record, `{"data": {…}}`, and applies it to the stored record, to learn whether
   * it changes the text that is embedded. `recordId` is an integer, a UUID or `key:` and a key.
   *
   * The commit applies the patch again, to the record as it is then, so that two patches of different columns both
   * take effect. It keeps the vector bit for bit where the text is the same, and it throws a {@link StaleError} where
   * another text than that of `texts` needs a vector, because the record was changed meanwhile.
   *
   * @throws {CosiftError} `record_not_found`, also from the commit, when the record was deleted meanwhile.
   */
  preparePatch(id: string, recordId: string, form: RecordForm, patch: Uint8Array): Promise<PreparedRecords>;
  /**
   * Writes prepared records with the vectors of their texts. The records are durable and searchable when the promise
   * resolves. Either all of them are written or none. A store of several processes writes nothing once `signal` is aborted
   * before its transaction commits. Records that were written cannot be committed again: the store may free them.
   *
   * @throws {StaleError} when the vectors no longer fit the database or the records.
   */
  commit(
    id: string,
    prepared: PreparedRecords,
    embedded: EmbeddedVectors,
    signal?: AbortSignal,
  ): Promise<CommitResult>;
  /** Returns the JSON of one record; `recordId` is an integer, a UUID or `key:` and a key. */
  record(id: string, recordId: string, request: RecordRequest): Promise<Uint8Array>;
  /** The moment after the last commit to a database. */
  mark(id: string): Promise<WriteMark>;
  /**
   * Deletes records and returns their number. Deletes nothing once `signal` is aborted before the commit.
   *
   * @throws {CosiftError} `deletion_refused` when there are more records than `max`; `database_not_found` for an epoch of a
   * database that was dropped.
   */
  deleteRecords(id: string, request: StoreDeleteRequest, signal?: AbortSignal): Promise<number>;
  /** What a sync keeps between its rounds, and the records that it owns. */
  syncState(id: string, request: SyncStateRequest): Promise<SyncState>;
  /**
   * Keeps other processes from passes of a sync until it is released.
   *
   * @throws {CosiftError} `busy` while another process makes one.
   */
  holdSync(id: string, name: string, signal: AbortSignal): Promise<SyncHold>;

  /**
   * Makes the query of a search by examples.
   *
   * @throws {CosiftError} `invalid_request` with a pointer for an example that the caller does not see or that has no
   * vector, and for examples without a direction.
   * @throws {StaleError} when the vectors of the database come from a model other than `embedded_by`.
   */
  examples(id: string, request: ExamplesRequest): Promise<ExampleQuery>;
  /**
   * Searches one moment: for each search, returns the page of the records nearest to its vector, best first, or the error
   * of a search that is not valid. Aborting the signal stops the running searches.
   *
   * @throws {StaleError} when the vectors of the database come from a model other than `embedded_by`, or it has other
   * defaults.
   */
  searches(id: string, searches: readonly StoreSearch[], stoppable?: Stoppable): Promise<StorePages>;
  /**
   * Returns a page of the records that pass filter and time range. Aborting `signal` stops the running query.
   *
   * @throws {StaleError} when the database has other defaults.
   */
  query(id: string, request: StoreQueryRequest, signal?: AbortSignal): Promise<StorePage>;
  /** Returns the JSON of a `Changes` at once, also when there are no changes after the position. */
  changes(id: string, request: StoreChangesRequest, signal?: AbortSignal): Promise<Uint8Array>;

  /**
   * Yields NDJSON in chunks of about 256 kB: every record that passes the filters, in the order of the integer ids, as
   * {@link prepareLines} takes it. With `vectors`, a line has the exact vector, and the fingerprint of the model if the
   * database has one.
   *
   * The export shows the records as they were when it began. It holds up no write, and a slow reader holds nothing but
   * the memory of what was replaced meanwhile. After a switch to another model it continues with the vectors of the
   * former model. It fails with `database_not_found` when the database is dropped. Aborting `signal` ends it, also while
   * nobody reads it.
   */
  exportLines(id: string, request: StoreExportRequest, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Calls `onWritten` with the id of a database after any process wrote to it, and with undefined when writes may have
   * been missed. In a store that only one process uses, it is never called.
   */
  watch(onWritten: (id: string | undefined) => void): void;

  /** One above every id that a database ever gave to a record. */
  nextId(id: string): Promise<number>;

  readonly reembedder: ReembeddingStore;

  /**
   * Makes an archive of one database, or of everything: all databases, keys and webhooks, as they are at one moment. One
   * backup at a time.
   *
   * @throws {CosiftError} `invalid_request` where the store is backed up with its own tools; `busy` while another backup is in progress; `not_ready` when a database could not be opened;
   * `disk_full`.
   */
  backup(database: string | undefined, signal: AbortSignal): Promise<StoreBackup>;

  /** Checks a database completely while it is served, and changes nothing; also one that could not be opened. */
  examine(id: string, call: ExamineCall): Promise<Examination>;

  /** Returns the state of every database, including those that could not be opened. */
  progress(options?: ProgressOptions): Promise<DatabaseProgress[]>;
  stats(): Promise<StoreStats>;
  /** Removes and returns the events since the last call. It works after `close`, too, because closing adds events. */
  takeEvents(): StoreEvents;
  /** Finishes the calls in progress and releases what the store holds. */
  close(): Promise<void>;
}

/** An archive that is ready to be read. It holds no lock and no transaction. */
export interface StoreBackup {
  /** Size of the archive. */
  bytes: number;
  /** The archive. It is read once. */
  chunks: AsyncIterable<Uint8Array>;
  /** Removes the files of the archive. To be called, also when the archive was not read to its end. */
  release(): Promise<void>;
}

/** What requests depend on. */
export interface DatabaseInfo extends Pick<DatabaseSettings, 'embed' | 'defaults'> {
  /** null: records and searches bring their own vectors. */
  model: string | null;
  /** The fingerprint of `model`, which every vector of the database must come from. */
  fingerprint: string | null;
  dimensions: number;
}

export interface StoreSettings
  extends DatabaseInfo,
    Pick<DatabaseSettings, 'lexical' | 'flatten' | 'formats'> {}

/** A database as the store describes it. */
export type StoredDatabase = Omit<DatabaseDescription, 'reembedding' | 'scores' | 'notice'>;

/** What is required of lines, and what becomes of them. */
export interface LineRules {
  /** Whether a record without `id`, `uuid` and `key` is a bad line. */
  needsIdentity?: boolean | undefined;
  /**
   * When the source of the records was read, in milliseconds since 1970: their time of last sync, unless the stored one is
   * later.
   */
  readAt?: number | undefined;
}

/** Validated records that wait for the vectors of their texts. Only the store that made them can commit them. */
export interface PreparedRecords extends TextSource {
  /** Identifies the database that the records were prepared for. A database that is created again has another epoch. */
  readonly epoch: string;
  /** The texts to embed, in the order in which `commit` expects their vectors. */
  texts(): string[];
  /** The lines that were left out because they are invalid. */
  problems(): BadLine[];
}

export interface BadLine {
  /** 1 for the first line of the stream. */
  line: number;
  problem: Problem;
}

export interface CommitResult {
  /**
   * The time of the commit in milliseconds, later than that of every earlier commit to the database. It is the time of
   * last sync of the records that came without one.
   */
  at: number;
  /** The JSON of `[{ "id", "key"?, "uuid", "status" }]`, in the order of the records. */
  results: Uint8Array;
  created: number;
  changed: number;
  unchanged: number;
  /** Lines that the commit found to be invalid. */
  problems: BadLine[];
  /** The JSON of the record after a patch, in the form that the patch asked for. */
  record?: Uint8Array | undefined;
}

/**
 * How a response shows records: with both ids, as all of cosift does, or with one of them as `id`. It also decides the order
 * of records with equal scores, and the form of cursors: by UUID for `uuid`, otherwise by integer id.
 */
export type RecordForm = 'both' | 'uuid' | 'integer';

/** What a caller may see: records outside `forced_filter` do not exist for it. */
interface Visibility {
  forced_filter?: FilterGroup | undefined;
}

export interface RecordRequest extends Visibility {
  form: RecordForm;
  /** Whether to show the vectors of the record. Default: false. */
  vectors?: boolean | undefined;
}

/** A moment in the writes of a database. */
export interface WriteMark {
  /** Identifies the database among all that had its id. */
  epoch: string;
  /** The number of the last commit. */
  version: number;
  /** How many records the database has. */
  records: number;
}

/** The records that no commit after a mark wrote, not even one that found them unchanged. */
export interface Unwritten extends Pick<WriteMark, 'version'> {
  /** What their keys begin with. Default: records of any key, and without one. */
  prefix?: string;
}

export type StoreDeleteRequest = ((DeleteRequest & Visibility) | { unwritten: Unwritten }) & {
  /** The epoch of the database, if it is known. */
  epoch?: string;
  /** How many records may be deleted. */
  max?: number;
  /** What a sync keeps: it is stored in the same commit. */
  state?: { name: string; text: string };
};

/** The right to make a pass of a sync. */
export interface SyncHold {
  /** Aborted when the right is lost, with the reason. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

export interface SyncStateRequest {
  name: string;
  /** How many keys to return, and the key after which they begin. Default: none. */
  limit?: number;
  after?: string | undefined;
}

export interface SyncState {
  /** The text of the last commit with a state; null before the first. */
  state: string | null;
  /** How many records have a key that begins with the name of the sync and `/`. */
  records: number;
  /** Keys of these records, in the order of their bytes in UTF-8. */
  keys: string[];
}

/** The vector that a search compares with; its components are exact numbers in either precision. */
export type SearchVector = Float32Array | Float64Array;

/** What every page needs, with all defaults filled in. */
interface PageRequest extends Visibility {
  form: RecordForm;
  limit: number;
  cursor?: NonNullable<Pagination['cursor']>;
  /**
   * The defaults of the database that the request was made with. A request fails with a {@link StaleError} when the database
   * has other ones.
   */
  defaults?: DatabaseSettings['defaults'];
}

/** The examples of a search. */
export interface ExamplesRequest extends Visibility, Readonly<LikeSearch['like']> {
  /** Whether the vector is wanted. Otherwise no example is refused. */
  query: boolean;
  /** As in a search. */
  embedded_by: string | null;
}

export interface ExampleQuery {
  /** The integer ids of the examples that the caller sees. */
  ids: number[];
  /** The unit vector to search for; empty if it is not wanted. */
  vector: Float64Array;
  /** The epoch of the database. Callers that may not read records never see it. */
  epoch: Uint8Array;
}

export interface StoreSearchRequest
  extends PageRequest,
    MapOption,
    Omit<SearchRequest, 'search' | 'pagination'> {
  threshold: number;
  /**
   * The weight of the words of a text in the score, 0 to 1, and whether the last one may be the beginning of a word. Absent:
   * the score is the similarity of the vectors.
   */
  lexical?: { weight: number; text: string; prefix?: boolean | undefined } | undefined;
  /** The parts of the score that depend on data and times. */
  boosts?: SearchRequest['search']['boosts'];
  /** The integer ids of records that are no results. */
  excluded?: readonly number[] | undefined;
  /** What the cursor of the next page ends with. */
  cursor_suffix?: string | undefined;
  /** The fingerprint of the model that made the query vector; null for a vector of the caller, which always fits. */
  embedded_by: string | null;
  /** Maximum bytes of the records of the page. */
  page_bytes: number;
}

/** A search and the vector that it compares with. */
export interface StoreSearch {
  request: StoreSearchRequest;
  vector: SearchVector;
}

export interface StoreQueryRequest extends PageRequest, MapOption, Omit<QueryRequest, 'pagination'> {}

export interface MapOption {
  /** Whether to return the JSON of a `Points` instead of a page. */
  map?: boolean | undefined;
}

export interface StorePage {
  /** The response body: one page as JSON. */
  body: Uint8Array;
  /** Milliseconds between the arrival of the request in the store and its response. */
  searchMs: number;
}

export interface StorePages extends Pick<StorePage, 'searchMs'> {
  /** For each search, its page as JSON or its error. */
  pages: (Uint8Array | CosiftError)[];
}

export interface StoreChangesRequest extends Visibility {
  after: number;
  limit: number;
  /** The feed that `after` is a position of; undefined for the current feed. */
  epoch?: string | undefined;
}

export interface StoreExportRequest extends Visibility {
  filter?: FilterGroup | undefined;
  /** Whether lines have vectors. */
  vectors: boolean;
}

/** Options of an examination. */
export interface ExamineCall {
  signal?: AbortSignal | undefined;
  /** Called a few times a second with the numbers of records that were read and that the database has. */
  onProgress?: ((done: number, records: number) => void) | undefined;
}

/** What an examination found, and what the checks above the store need. */
export interface Examination {
  checks: DoctorCheck[];
  /** null when the settings cannot be read. */
  settings: StoreSettings | null;
  /** Identifies the store and the history of its change feed; null when that cannot be read. */
  identity: string | null;
  /** How to give the database another identity, if it is a copy of another one. */
  identityAdvice: string;
  /** Some records with the texts that were embedded and the vectors that are stored. */
  sample: { id: number; text: string; vector: number[] }[];
}
