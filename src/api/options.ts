import type {
  Data,
  Facet,
  Filter,
  LineProgress,
  Reembedding,
  TimeRange,
  Variant,
} from '../schema/public-types.js';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call with the signal's reason. An aborted search stops its scan. */
  signal?: AbortSignal | undefined;
}

/** Options of a call that returns records. */
export interface PageOptions<V extends Variant = Variant> extends CallOptions {
  /**
   * How results are identified: `uuid` by their UUID, `integer` by their integer id. It also determines the names of
   * their times. Default: `integer`.
   */
  variant?: V | undefined;
}

/** Options of a search for a text. */
export interface SearchOptions<T = Data, V extends Variant = Variant> extends PageOptions<V> {
  /** A rule or a group of rules that every result satisfies. Default: all records. */
  where?: Filter<T> | undefined;
  /** Maximum number of results on a page, from 1 to 100. Default: 50. */
  limit?: number | undefined;
  /**
   * Minimum relevance score of the results, from 0 (unrelated) to 1 (the same meaning); a score equal to it passes.
   * Default: 0.2; with `lexical`, 0.2 times (1 - lexical).
   */
  threshold?: number | undefined;
  /**
   * Weight of exact words in the relevance score, from 0 (none) to 1 (nothing else). Above 0 only for a database with the
   * setting `lexical`. Default: 0.
   */
  lexical?: number | undefined;
  /** When results were last seen; includes both ends. Default: at any time. */
  timeRange?: TimeRange | undefined;
  /** `next_cursor` of an earlier page, to continue after it. It never expires. Default: the first page. */
  cursor?: string | undefined;
  /** Whether to count the matches on all pages. Default: false. */
  total?: boolean | undefined;
  /** What to count over the matches on all pages, up to 16 facets. */
  facets?: readonly Facet<T>[] | undefined;
  /** Whether to explain how the page was found, and which rules each record passed. Default: false. */
  explain?: boolean | undefined;
  /**
   * Whether to use the approximate index of the database where that is faster. The search may miss a few matches. Not
   * with `total` or `facets`. Default: false.
   */
  approximate?: boolean | undefined;
  /**
   * Whether to show which passage of a long record matches best, in the member `passage` of its result. Default: false.
   */
  passages?: boolean | undefined;
}

/** How far an upsert has come. */
export interface UpsertProgress {
  /** Number of records that are durable and searchable. */
  committed: number;
}

/** Options of `upsert`. */
export interface UpsertOptions extends CallOptions {
  /** Called after each commit, which is after every 1,000 records and at the end. */
  onProgress?: ((progress: UpsertProgress) => void) | undefined;
}

/** Options of `upsertLines`. */
export interface UpsertLinesOptions extends CallOptions {
  /** Called with each event of the type `progress`, before it is yielded: after each commit. */
  onProgress?: ((progress: LineProgress) => void) | undefined;
}

/** Options of `exportLines`. */
export interface ExportOptions<T = Data> extends CallOptions {
  /** A rule or a group of rules that every exported record satisfies. Default: all records. */
  where?: Filter<T> | undefined;
  /** Whether each line has the exact vector of the record. Default: false. */
  vectors?: boolean | undefined;
}

/** Options of `reembed`. */
export interface ReembedOptions extends CallOptions {
  /** Called with the progress, a few times a second. */
  onProgress?: ((state: Reembedding) => void) | undefined;
  /**
   * Whether an aborted signal also cancels the re-embedding, so that the database stays as it was. A re-embedding that
   * was running before this call is never cancelled: another caller began it. Default: true.
   */
  cancelOnAbort?: boolean | undefined;
}

/** How much of an archive was read. */
export interface BackupProgress {
  /** Bytes that were read. */
  bytes: number;
  /** Bytes of the whole archive. */
  total: number;
}

/** Options of `backup`. */
export interface BackupOptions extends CallOptions {
  /** The id of the only database to back up, without keys and webhooks. Default: everything. */
  database?: string | undefined;
  /** Called when the archive is ready to be read, and with each chunk. */
  onProgress?: ((progress: BackupProgress) => void) | undefined;
}

/** The part of the change feed to read. */
export interface ChangesRequest {
  /** Position after which changes are returned. Default: 0, the start of the feed. */
  after?: number | undefined;
  /** Maximum number of changes, from 1 to 1,000. Default: 100. */
  limit?: number | undefined;
  /**
   * How long to wait for a first change when there is none, in milliseconds. Default: 0. A service counts whole seconds,
   * so over HTTP the time is rounded up, and `change_wait_seconds` of the service is the maximum.
   */
  waitMs?: number | undefined;
  /** The feed that `after` is a position of, from an earlier result. Default: the current feed. */
  epoch?: string | undefined;
}

/** Where `follow` begins, and how long each of its calls waits: `waitMs` is 30,000 by default. */
export interface FollowRequest extends Omit<ChangesRequest, 'limit'> {}
