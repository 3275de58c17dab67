import type {
  ColumnName,
  Data,
  Facet,
  Filter,
  LineProgress,
  Reembedding,
  SearchRequest,
  Sort,
  TimeRange,
  TimeRangeFrom,
  TimeRangeUntil,
  Vector,
} from '../schema/public-types.js';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call with the signal's reason. An aborted search stops its scan. */
  signal?: AbortSignal | undefined;
}

/** What a search looks for: a text, in a database with a model, a vector, or examples. */
export type Query =
  | string
  | {
      /** Text to search for by meaning; with `vector`, the text whose words are searched for, with `lexical`. */
      text: string;
      vector?: Vector | undefined;
    }
  | {
      text?: string | undefined;
      /** A vector with as many values as the database has dimensions. */
      vector: Vector;
    }
  | {
      /**
       * Ids of records that results are like, and of those that they are unlike, at most 100: integers, UUIDs, or `key:`
       * and a key. These records are no results.
       */
      like: {
        positive: readonly (number | string)[];
        negative?: readonly (number | string)[] | undefined;
      };
    };

/** Options of a call that selects records. */
export interface SelectOptions<T> extends CallOptions {
  /** A rule or a group of rules that every record satisfies. Default: all records. */
  filter?: Filter<T> | undefined;
  /** When records were last synced; includes both ends. Default: at any time. */
  timeRange?: TimeRange | undefined;
}

/** Options of a call that returns a page. */
export interface PageOptions<T> extends SelectOptions<T> {
  /** Maximum number of results on a page, from 1 to 100. Default: that of the database, or 50. */
  limit?: number | undefined;
  /** `next_cursor` of an earlier page, to continue after it. It never expires. Default: the first page. */
  cursor?: string | undefined;
  /** Whether to count the matches on all pages. Default: false. */
  total?: boolean | undefined;
  /** What to count over the matches on all pages, up to 16 facets. */
  facets?: readonly Facet<T>[] | undefined;
  /** Whether to explain how the page was found, and which rules each record passed. Default: false. */
  explain?: boolean | undefined;
  /** The columns that results show in their `data`, up to 100; an empty list for none. Default: all. */
  columns?: readonly ColumnName<T>[] | undefined;
  /**
   * A column: of the records with an equal value in it, only the first in the order of the results is a result. With
   * `counts`, each result shows its value and how many matches have it, in the member `group`. Records without a value stand
   * for themselves. `total` counts results, and `facets` count all matches.
   */
  distinct?: ColumnName<T> | { column: ColumnName<T>; counts?: boolean | undefined } | undefined;
  /**
   * Whether results have their stored vectors, in the members of an export: `vector`, or `passages`, and
   * `embedded_by`. A key needs `records.read`. Default: false.
   */
  vectors?: boolean | undefined;
}

/** Which scores a search returns. */
export interface ScoreOptions<T> {
  /**
   * Minimum relevance score of the results, from 0 (unrelated) to 1 (the same meaning); a score equal to it passes.
   * Default: that of the database, or 0.2; with `lexical` and `boosts`, 0.2 times (1 - lexical - the weights).
   */
  threshold?: number | undefined;
  /**
   * Weight of exact words in the relevance score, from 0 (none) to 1 (nothing else). Above 0 only for a database with the
   * setting `lexical`. Default: that of the database for a search by text, or 0.
   */
  lexical?: number | undefined;
  /**
   * Whether the last word of the text may be the beginning of a word, as while it is typed. Needs `lexical`. Default: false.
   */
  prefix?: boolean | undefined;
  /**
   * Parts of the relevance score that depend on the data and the times of records, up to 8, each with its `weight`: 1 where
   * a `filter` passes, or max(0, 1 - |value - target| / scale) for the value of a `column` or a `time`. Times are texts
   * in ISO 8601, and their scales durations such as `P30D`; or milliseconds. Such as
   * `{ weight: 0.2, column: 'year', target: 1900, scale: 50 }`. Default: none.
   */
  boosts?: SearchRequest<T>['search']['boosts'];
}

/** Options of `search` and `searchAll`. */
export interface SearchOptions<T = Data> extends PageOptions<T>, ScoreOptions<T> {
  /**
   * Whether to show which passage of a long record matches best, in the member `passage` of its result; or the number of the
   * best passages of each result to show with their texts, in its member `best_passages`. Default: false.
   */
  passages?: boolean | number | undefined;
  /** With a number as `passages`: how many passages before and after each one are joined with it. Default: none. */
  neighbours?: number | undefined;
  /**
   * Whether to show which words of each result match those of the text, in its member `highlights`. Needs `lexical`.
   * Default: false.
   */
  highlights?: boolean | undefined;
}

/** Options of `query` and `queryAll`. */
export interface QueryOptions<T = Data> extends PageOptions<T> {
  /** Order of the results, by a column or a time; ties by id. Default: last synced first. */
  sort?: Sort<T> | undefined;
}

/** Options of `map`. */
export interface MapOptions<T = Data> extends SelectOptions<T>, ScoreOptions<T> {
  /** What to search for. Default: the records that were last synced. */
  search?: Query | undefined;
  /** The columns that each point has in its `data`, up to 16. Default: none. */
  columns?: readonly ColumnName<T>[] | undefined;
}

/** Which records `delete` deletes: those of `ids`, or those of `filter` and `timeRange`. */
export type DeleteOptions<T = Data> = CallOptions &
  (
    | {
        /**
         * Ids of the records, up to 1,000: integers, UUIDs, or `key:` and a key; or objects with such an `id` and a time
         * `if_changed_at`. If one of these records was not last changed at its time, none is deleted.
         */
        ids: readonly (number | string | { id: number | string; if_changed_at: string })[];
        filter?: undefined;
        timeRange?: undefined;
      }
    | { ids?: undefined; filter: Filter<T>; timeRange?: TimeRangeFrom | TimeRangeUntil | undefined }
    | { ids?: undefined; filter?: Filter<T> | undefined; timeRange: TimeRangeFrom | TimeRangeUntil }
  );

/** Options of `upsert`. */
export interface UpsertOptions extends CallOptions {
  /** Called after each commit, which has up to 1,000 records, with the number of records that are durable and searchable. */
  onProgress?: ((progress: { committed: number }) => void) | undefined;
}

/** Options of `upsertLines`. */
export interface UpsertLinesOptions extends CallOptions {
  /** Called with each event of the type `progress`, before it is yielded: after each commit. */
  onProgress?: ((progress: LineProgress) => void) | undefined;
}

/** How many records a replacement may delete. It is no option of its own, so that callers see one type of options. */
export interface MaxDeletes {
  maxDeletes?: number | undefined;
}

/** Options of `get`. */
export interface GetOptions extends CallOptions {
  /**
   * Whether the record has its stored vectors, in the members of an export: `vector`, or `passages`, and `embedded_by`.
   * Default: false.
   */
  vectors?: boolean | undefined;
}

/** Options of `exportLines`. */
export interface ExportOptions<T = Data> extends CallOptions {
  /** A rule or a group of rules that every exported record satisfies. Default: all records. */
  filter?: Filter<T> | undefined;
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

/** Options of `backup`. */
export interface BackupOptions extends CallOptions {
  /** The id of the only database to back up, without keys and webhooks. Default: everything. */
  database?: string | undefined;
  /** Called when the archive is ready to be read, and with each chunk: `bytes` of the `total` of the archive are read. */
  onProgress?: ((progress: { bytes: number; total: number }) => void) | undefined;
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
