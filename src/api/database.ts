import type {
  BatchResult,
  Change,
  Changes,
  Data,
  DatabaseDescription,
  DeleteRequest,
  LineEvent,
  PageA,
  PageB,
  QueryRequest,
  RecordA,
  RecordB,
  Reembedding,
  Variant,
} from '../schema/index.js';
import type { RecordInput, SearchInput } from './inputs.js';
import type { LineChunks } from './line-chunks.js';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call with the signal's reason. */
  signal?: AbortSignal;
}

/** Options of a call that returns records. */
export interface PageOptions<V extends Variant = Variant> extends CallOptions {
  /** Ids and time names of the results: `a` UUIDs, `b` integers. Default: `b`. */
  variant?: V;
}

/** Options of {@link Database.reembed}. */
export interface ReembedOptions extends CallOptions {
  /** Called with the progress, a few times a second. */
  onProgress?: (state: Reembedding) => void;
  /**
   * Whether an aborted signal also cancels the re-embedding, so that the database stays as it was. A re-embedding that
   * was running before this call is never cancelled: another caller began it. Default: true.
   */
  cancelOnAbort?: boolean;
}

/** The part of the change feed to read. */
export interface ChangesRequest {
  /** Position after which changes are returned. Default: 0, the start of the feed. */
  after?: number;
  /** Maximum number of changes, 1 to 1,000. Default: 100. */
  limit?: number;
  /**
   * How long to wait for a first change when there is none, in milliseconds. Default: 0. A service counts whole seconds,
   * so over HTTP the time is rounded up, and `change_wait_seconds` of the service is the maximum.
   */
  waitMs?: number;
  /** The feed that `after` is a position of, from an earlier result. Default: the current feed. */
  epoch?: string;
}

/** Where {@link Database.follow} begins, and how long each of its calls waits: `waitMs` is 30,000 by default. */
export type FollowRequest = Omit<ChangesRequest, 'limit'>;

/** A page with the record shape of a variant. */
export type PageOf<V extends Variant> = V extends 'a' ? PageA : PageB;

/** A record with the shape of a variant. */
export type RecordOf<V extends Variant> = V extends 'a' ? RecordA : RecordB;

/** A record with the shape that belongs to the kind of id it was asked for by: integer or UUID. */
export type RecordById<Id extends number | string> = Id extends number ? RecordB : RecordA;

/**
 * One database, in this process or behind a service. Requests and results are those of the HTTP interface. Every method
 * fails with a `CosiftError`: `database_not_found` when there is no such database, `invalid_request` for an option that
 * is unknown or has a value that is not allowed.
 */
export interface Database {
  /** The id of the database. */
  readonly id: string;

  /** Describes the database: settings, columns, number of records, sizes in bytes, times. */
  describe(options?: CallOptions): Promise<DatabaseDescription>;

  /** Drops the database with all its records. */
  drop(options?: CallOptions): Promise<void>;

  /**
   * Writes records, 1,000 a commit. Each commit is durable and searchable before the next begins.
   *
   * @throws {CosiftError} `invalid_record` and the other codes of records. Pointers such as `/records/1200/data/name`
   * count from the first of `records`; `fields.committed` is the number of records that were committed before.
   *
   * @example
   * ```ts
   * const { created } = await facts.upsert([{ id: 1, data: { text: 'The Eiffel Tower is in Paris', height_m: 330 } }]);
   * ```
   */
  upsert(
    records: Iterable<RecordInput> | AsyncIterable<RecordInput>,
    options?: CallOptions,
  ): Promise<BatchResult>;

  /**
   * Writes NDJSON, one record a line. Yields each problem of a line, the progress after each commit, and a summary at
   * the end. A line with a problem does not prevent the others from being stored. A failure of `chunks` is thrown as it
   * is.
   *
   * @throws {CosiftError} `invalid_request` for a chunk that is neither bytes nor text.
   */
  upsertLines(chunks: LineChunks, options?: CallOptions): AsyncIterable<LineEvent>;

  /**
   * Returns one page of the records that satisfy the search, filter and time range; highest relevance score first, ties
   * by id.
   *
   * @throws {CosiftError} `invalid_filter`, `invalid_cursor`, `invalid_time`, `invalid_dimensions`
   *
   * @example
   * ```ts
   * const { results } = await facts.search({
   *   search: { text: 'a tower in France', threshold: 0.3 },
   *   filter: { rules: [{ column: 'height_m', operator: 'greater_than', value: 300 }] },
   * });
   * ```
   */
  search<V extends Variant = 'b'>(request: SearchInput, options?: PageOptions<V>): Promise<PageOf<V>>;

  /**
   * Yields every record that satisfies the search, in the order of {@link search}, page after page.
   *
   * @example
   * ```ts
   * for await (const { id, relevance_score } of facts.searchAll({ search: { text: 'deep water' } })) {
   *   console.log(id, relevance_score);
   * }
   * ```
   */
  searchAll<V extends Variant = 'b'>(
    request: SearchInput,
    options?: PageOptions<V>,
  ): AsyncGenerator<RecordOf<V>, void, undefined>;

  /** Returns one page of the records that satisfy filter and time range, in the order of `sort`, without scores. */
  query<V extends Variant = 'b'>(request?: QueryRequest, options?: PageOptions<V>): Promise<PageOf<V>>;

  /** Yields every record that satisfies the query, in the order of `sort`, page after page. */
  queryAll<V extends Variant = 'b'>(
    request?: QueryRequest,
    options?: PageOptions<V>,
  ): AsyncGenerator<RecordOf<V>, void, undefined>;

  /** Returns a record, or undefined when there is none. A UUID returns the shape of variant a, an integer that of b. */
  get<Id extends number | string>(id: Id, options?: CallOptions): Promise<RecordById<Id> | undefined>;

  /**
   * Changes columns of one record and keeps the others. A column with null is removed. The record is embedded again only
   * if its text changes. Two calls that change different columns of the same record at the same time both take effect.
   *
   * Returns the record right after the change, in the shape that {@link get} returns. A client whose key lacks
   * `records.read` gets only the columns that it set.
   *
   * @throws {CosiftError} `record_not_found`; `invalid_record` with a pointer such as `/data/price`; `too_large` when the
   * changed record would be too large.
   *
   * @example
   * ```ts
   * const { data } = await facts.patch(1, { height_m: 330, architect: null });
   * ```
   */
  patch<Id extends number | string>(id: Id, changes: Data, options?: CallOptions): Promise<RecordById<Id>>;

  /** Deletes records by `ids`, or by `filter` and `time_range`. Returns the number of deleted records. */
  delete(request: DeleteRequest, options?: CallOptions): Promise<number>;

  /**
   * Returns changes after a position of the change feed, oldest first. Pass `position` and `epoch` of the result as
   * `after` and `epoch` of the next call.
   *
   * @throws {CosiftError} `feed_restarted` when the database was created again since `epoch`; `changes_removed` when
   * changes after the position are no longer kept.
   */
  changes(request?: ChangesRequest, options?: CallOptions): Promise<Changes>;

  /** Yields every change after a position, and waits for further ones. Fails as {@link changes} does. */
  follow(request?: FollowRequest, options?: CallOptions): AsyncGenerator<Change, never, undefined>;

  /**
   * Gives every record a vector of another model, and waits until that is done. Searches and writes continue meanwhile;
   * the database switches to the new vectors at once. If the process ends first, its next start continues the
   * re-embedding.
   *
   * @throws {CosiftError} `invalid_request` when there is no such model.
   */
  reembed(model: string, options?: ReembedOptions): Promise<Reembedding>;

  /**
   * Cancels a re-embedding. The database stays as it was.
   *
   * @throws {CosiftError} `reembedding_not_found` when none was begun.
   */
  cancelReembedding(options?: CallOptions): Promise<void>;
}
