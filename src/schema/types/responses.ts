// Written by `npm run generate:types` from the schemas in src/schema. Do not edit.

import type { ErrorCode, Problem, ProblemCode } from '../../errors.js';
import type { ColumnName, Data } from '../columns.js';
import type { Action } from '../keys.js';
import type { FilterGroup } from './filter.js';
import type { EmbeddedPassage, ValueFormats } from './requests.js';

/** The times of a record, in UTC. */
export interface Timestamps {
  /** When the record was first seen. */
  created_at: string;
  /** When the content of the record last changed. */
  changed_at: string;
  /** When the record was last seen, changed or not. */
  synced_at: string;
}

/**
 * With `passages` or `explain`, for a record whose text is longer than the window of the model: the
 * passage that matches best. Offsets count UTF-16 code units.
 */
export interface Passage {
  /** The column that most of the passage comes from. */
  column: string;
  /** Offset of its first character in the value of the column. */
  start: number;
  /** Offset after its last character. */
  end: number;
}

/** A passage that matches, with its text. */
export interface BestPassage {
  /** The column that most of the passage comes from. */
  column: string;
  /** Offset of its first character in the value of the column. */
  start: number;
  /** Offset after its last character. */
  end: number;
  /** That of a record with this text alone, without boosts, in steps of 1e-9. From 0 to 1. */
  score: number;
  /** The text of the column from `start` to `end`. */
  text: string;
}

/** A record. */
export interface StoredRecord<T = Data> {
  /** Integer id of the record. From 1 to 2^53 - 1. */
  id: number;
  /** UUID of the record. */
  uuid: string;
  /** Key of the record, if it has one: up to 512 bytes of UTF-8. */
  key?: string;
  /**
   * Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning. Present only in
   * results of a search. From 0 to 1.
   */
  relevance_score?: number;
  /**
   * Values by column name, in the order they were given: strings, numbers, booleans, null, and lists
   * of the first three.
   */
  data: T;
  /** The times of a record, in UTC. */
  timestamps: Timestamps;
  /** With `vectors`: the stored vector, of a record with one. */
  vector?: number[];
  /**
   * With `vectors`, in place of `vector`: the passages of a record whose text is longer than the
   * window of the model.
   */
  passages?: EmbeddedPassage[];
  /**
   * With `vectors`: fingerprint of the model that made `vector` or `passages`. Absent in a database
   * without a model.
   */
  embedded_by?: string;
  /** With `counts` of `distinct`: the matches with the value of this record. */
  group?: {
    /** The value of the record in the column; null without a value. */
    value: string | number | boolean | null | (string | number | boolean)[];
    /** How many matches have this value, this record included. Without a value: 1. */
    count: number;
  };
  /**
   * With `passages` or `explain`, for a record whose text is longer than the window of the model: the
   * passage that matches best. Offsets count UTF-16 code units.
   */
  passage?: Passage;
  /**
   * With a number as `passages`: the passages that match best, the best first. A record whose text
   * was not split has one for each embedded column with a text.
   */
  best_passages?: BestPassage[];
  /**
   * With `highlights`: the places of the words that match those of the search, by column. Offsets
   * count UTF-16 code units. Places do not overlap. Columns without such words are absent.
   */
  highlights?: { [Column in ColumnName<T>]?: [start: number, end: number][] };
  /** With `explain`: which rules of the filter the record passed. Not a stable format. */
  explain?: Record<string, unknown>;
}

/** A page of records. */
export interface Page<Item> {
  /** The records of the page: of a search by score, highest first; of a query in the order of `sort`. */
  results: Item[];
  /** Where the page is among all pages. */
  pagination: PagePosition;
  /** The exact number of matches on all pages. */
  total?: Total;
  /** The counts of each facet, in the order of the request. */
  facets?: FacetCounts[];
  /**
   * With `explain`: how the page was found (plan, records scanned and rescored, times). Not a stable
   * format.
   */
  explain?: Record<string, unknown>;
}

/** A record on a map. */
export interface MapPoint<T = Data> {
  /** Integer id of the record. From 1 to 2^53 - 1. */
  id: number;
  /** UUID of the record. */
  uuid: string;
  /**
   * Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning. Present only in
   * results of a search. From 0 to 1.
   */
  relevance_score?: number;
  /** Place along the direction in which the vectors differ most. */
  x: number;
  /** Place along the direction in which the vectors differ second most. */
  y: number;
  /** Values of the columns of the request, where the record has them. */
  data: Partial<T>;
}

/** Records as points of a plane: the nearer two points, the more alike are their texts. */
export interface Points<T = Data> {
  /**
   * In the order of the results. Fewer where the limit `page_bytes` ends them. Records without a
   * vector have no place.
   */
  points: MapPoint<T>[];
  /**
   * The part of the differences between the vectors that `x` shows, and the part that `y` shows. 2 to
   * 2 items.
   */
  variance: number[];
  /** Whether there are further matches, which have no point. */
  has_more: boolean;
}

/** Where the page is among all pages. */
export interface PagePosition {
  /** The limit of the request. From 1 to 100. */
  limit: number;
  /** `cursor` of the request for the next page. Present only if `has_more` is true. */
  next_cursor?: string;
  /** Whether there are further matches after this page. */
  has_more: boolean;
}

/** The exact number of matches on all pages. */
export interface Total {
  /** Number of matches on all pages; with `distinct`, of results. */
  value: number;
}

/** The result of a `values` facet. */
export interface ValuesCounts {
  /** The column of the request. */
  column: string;
  /** The kind of the facet. */
  type: 'values';
  /** Most frequent first; ties by type (boolean, number, string) and value. */
  values: {
    /** A value of the column. */
    value: string | number | boolean;
    /** Number of matches. */
    count: number;
  }[];
  /** Matches with a value that is not listed. A list counts once for each such element. */
  other?: number;
  /** Matches without a value: the column is absent, null or an empty list. */
  missing?: number;
}

/** The result of a `histogram` facet. */
export interface HistogramCounts {
  /** The column of the request. */
  column: string;
  /** The kind of the facet. */
  type: 'histogram';
  /** Width of the intervals. */
  interval: number;
  /** In ascending order, without empty intervals. */
  buckets: {
    /** Start of the interval. */
    from: number;
    /** Number of matches. */
    count: number;
  }[];
  /** Matches whose column holds no number. */
  missing?: number;
}

/** The result of a facet of times. */
export interface TimeCounts {
  /**
   * Which time of a record is counted: when it was first seen (`created`), when its content last
   * changed (`changed`), or when it was last seen (`synced`).
   */
  time: 'created' | 'changed' | 'synced';
  /** Calendar interval in UTC. A week begins on Monday. */
  interval: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';
  /** In ascending order, without empty intervals. */
  buckets: {
    /** Start of the interval. */
    from: string;
    /** Number of matches. */
    count: number;
  }[];
  /** Only the other alternatives have it. */
  type?: undefined;
}

/** The counts of one facet. */
export type FacetCounts = ValuesCounts | HistogramCounts | TimeCounts;

/** What became of one record of an upsert. */
export interface WrittenRecord {
  /** Integer id of the record. From 1 to 2^53 - 1. */
  id: number;
  /** Key of the record, if it has one: up to 512 bytes of UTF-8. */
  key?: string;
  /** UUID of the record. */
  uuid: string;
  /** Whether the record is new, has new content, or had this content already. */
  status: 'created' | 'changed' | 'unchanged';
}

/** What became of the records of an upsert. */
export interface BatchResult {
  /** One result for each record, in the order of the request. */
  results: WrittenRecord[];
  /** Number of new records. */
  created: number;
  /** Number of records with new content. */
  changed: number;
  /** Number of records that had this content already. */
  unchanged: number;
  /**
   * Time of the first commit, by the clock of the store. What this call wrote was last synced then or
   * later, and what earlier calls wrote, before. Records that come with their time of last sync are
   * an exception.
   */
  started_at: string;
}

/** A problem of a line. The line is not stored; the others are. */
export interface LineProblem {
  /** The kind of the event. */
  type: 'problem';
  /** Number of the line, from 1. */
  line: number;
  /** For programs. Codes are never renamed. */
  code: ProblemCode;
  /** For people. The wording may change. */
  detail: string;
  /** JSON pointer into the line. */
  pointer: string;
  /** `precondition_failed`: when the stored record was last changed; absent if there is none. */
  changed_at?: string;
}

/** The records that are durable and searchable so far. */
export interface LineProgress {
  /** The kind of the event. */
  type: 'progress';
  /** Number of lines read so far. */
  lines: number;
  /** Number of records that are durable and searchable. */
  committed: number;
}

/** The last line if all lines were read. */
export interface LineSummary {
  /** The kind of the event. */
  type: 'summary';
  /** Number of all lines. */
  lines: number;
  /** Number of new records. */
  created: number;
  /** Number of records with new content. */
  changed: number;
  /** Number of records that had this content already. */
  unchanged: number;
  /** Number of lines with at least one problem. */
  failed: number;
  /**
   * Time of the first commit, by the clock of the store. What this call wrote was last synced then or
   * later, and what earlier calls wrote, before. Records that come with their time of last sync are
   * an exception.
   */
  started_at: string;
  /** A replacement of all records: number of deleted records. */
  deleted?: number;
}

/** The last line if the stream ended early. Records that progress lines counted stay stored. */
export interface LineFailure {
  /** The kind of the event. */
  type: 'error';
  /** For programs. Codes are never renamed. */
  code: ErrorCode;
  /** For people. The wording may change. */
  detail: string;
  /** The `x-request-id` of the response. */
  request_id: string;
  /** `too_large`: the maximum number of bytes, or of values; `deletion_refused`: of records to delete. */
  max?: number;
  /** `deletion_refused`: the number of records that would have been deleted. */
  missing?: number;
}

/** One change of a record. */
export interface Change {
  /** Position in the change feed. Positions increase; they may skip numbers. */
  position: number;
  /** What happened to the record. */
  kind: 'created' | 'changed' | 'deleted';
  /** Integer id of the record. From 1 to 2^53 - 1. */
  id: number;
  /** Key of the record, if it has or had one: up to 512 bytes of UTF-8. */
  key?: string;
  /** UUID of the record. */
  uuid: string;
  /** When it happened. */
  at: string;
}

/** A part of the change feed. */
export interface Changes {
  /** Oldest first. */
  changes: Change[];
  /** `after` of the next request. */
  position: number;
  /** Whether there are further changes now. */
  has_more: boolean;
  /**
   * Identifies the history of the change feed up to `position`. Pass both to the next request, and do
   * not compare epochs.
   */
  epoch: string;
}

/** A column of a database. */
export interface ColumnDescription {
  /** Name of the column. */
  name: string;
  /** Types of its values. */
  types: ('string' | 'number' | 'boolean' | 'null' | 'list')[];
  /** Number of records that have the column. */
  records: number;
}

/** Settings, columns, sizes and times of a database. */
export interface DatabaseDescription {
  /** Id of the database. */
  id: string;
  /** Number of records. */
  records: number;
  /** Number of vectors: one for each record, or one for each passage of a long record. */
  passages?: number;
  /**
   * Records without text in the embedded columns, or with none that the model knows. They have no
   * vector, so no search finds them.
   */
  without_text?: number;
  /** Name of the embedding model; null: the caller provides the vectors. */
  model: string | null;
  /** A hash of everything that determines the vectors of the model. */
  fingerprint: string | null;
  /** Number of values of each vector. */
  dimensions: number;
  /**
   * Whether searches can take exact words into account: those of the embedded columns, or of the
   * named ones, embedded or not. The index of the words takes memory. Default: false.
   */
  lexical: boolean | { columns: Record<string, number> };
  /**
   * With `lexical`: records whose words are indexed so far. A search indexes what it needs, so it
   * finds all of them.
   */
  lexical_records?: number;
  /**
   * Which text of a record is embedded. Default: every column with a string, or with a list with a
   * string, as `column: value` lines. The elements of a list are joined by `, `.
   */
  embed: {
    /** How long texts are split into passages, which have a vector each. */
    passages?: {
      /** Passages that a text may have; a record with more is refused. Default: 64. From 1 to 4096. */
      per_record?: number;
      /**
       * Tokens of a passage at most, with those that the model adds; at most its window. A text with more
       * is split. Default: half of the window, and only a text that is longer than the window is split.
       * From 16 to 65536.
       */
      tokens?: number;
      /**
       * Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a
       * passage. Default: an eighth. From 0 to 32768.
       */
      overlap?: number;
    };
    /** Columns to embed, in this order. Default: every string column. 1 to 256 items. */
    columns?: string[];
  };
  /**
   * Whether records may have nested objects: their members are columns such as `address.city`. A list
   * with objects, lists or null in it is then its JSON text, and so is an object below 16 names.
   * Concerns what is written from then on. Default: false.
   */
  flatten?: boolean;
  /**
   * The values of members that a search or a query leaves out. A page after a cursor has the
   * threshold and the weight of words that the page before had.
   */
  defaults?: {
    /** The `threshold` of searches. From 0 to 1. */
    threshold?: number;
    /** The `lexical` of searches for a text. Above 0 only with the setting `lexical`. From 0 to 1. */
    lexical?: number;
    /** The `limit` of searches and queries. From 1 to 100. */
    limit?: number;
  };
  /** The formats of columns in CSV, if there are any. */
  formats?: ValueFormats;
  /** Columns that records have or had. */
  columns: ColumnDescription[];
  /** Bytes of memory in all and by purpose, and bytes of files. */
  sizes: {
    /** Bytes of memory in all. */
    memory_bytes: number;
    /** Bytes of files. */
    disk_bytes: number;
    /** Further members of the same kind. */
    [name: string]: number;
  };
  /** Times of the database, in UTC. */
  times: {
    /** When the database was created. */
    created_at: string;
    /** When records were last written or deleted. */
    last_write_at: string;
    /** Where another process writes the records: when they were last read. The data is of this time. */
    as_of?: string;
  };
  /** The re-embedding with another model, if there is one. */
  reembedding?: Reembedding;
  /** What scores of the model mean, where that was measured. */
  scores?: {
    /** From here on, a record is related to the text of a search. From 0 to 1. */
    related: number;
    /** From here on, a record is close in meaning to the text. From 0 to 1. */
    close: number;
    /** The weight of exact words to begin with. From 0 to 1. */
    lexical: number;
  };
  /**
   * What to know of the model: that it does not know the language of most of the first records, and
   * what helps.
   */
  notice?: string;
}

/** A further name of a database. */
export interface Alias {
  /** Name of the alias. No database has this id. */
  name: string;
  /** Id of the database that the alias names. */
  database: string;
}

/** Something that is wrong. */
export interface DoctorProblem {
  /** What is wrong, for people. */
  detail: string;
  /** Number of affected records; absent where no record is known. */
  records?: number;
  /** Integer ids of the first of them, up to 10. */
  ids?: number[];
}

/** The outcome of one check of the doctor. */
export interface DoctorCheck {
  /** What was checked. */
  check: string;
  /** The database; absent for a check of the whole directory. */
  database?: string;
  /** problem: something is wrong. repaired: something was wrong, and `--repair` repaired it. */
  status: 'ok' | 'problem' | 'repaired';
  /** What was checked, or what is wrong, for people. */
  detail: string;
  /** What is wrong, each with the affected records. */
  problems?: DoctorProblem[];
  /** What to do about the problem. */
  advice?: string;
}

/**
 * The state of a re-embedding: the records of a database get vectors of another model, or of other
 * columns.
 */
export interface Reembedding {
  /** The model that makes the new vectors. */
  model: string;
  /**
   * Which text of a record is embedded. Default: every column with a string, or with a list with a
   * string, as `column: value` lines. The elements of a list are joined by `, `.
   */
  embed: {
    /** How long texts are split into passages, which have a vector each. */
    passages?: {
      /** Passages that a text may have; a record with more is refused. Default: 64. From 1 to 4096. */
      per_record?: number;
      /**
       * Tokens of a passage at most, with those that the model adds; at most its window. A text with more
       * is split. Default: half of the window, and only a text that is longer than the window is split.
       * From 16 to 65536.
       */
      tokens?: number;
      /**
       * Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a
       * passage. Default: an eighth. From 0 to 32768.
       */
      overlap?: number;
    };
    /** Columns to embed, in this order. Default: every string column. 1 to 256 items. */
    columns?: string[];
  };
  /** The model of the current vectors; null: the caller provided them. */
  from: string | null;
  /**
   * running: texts are embedded. switching: writes wait until the switch is done. waiting: the
   * service does not have the model. failed: see `problem`; the database keeps its vectors, and the
   * same request resumes the re-embedding.
   */
  state: 'running' | 'switching' | 'waiting' | 'failed' | 'done';
  /** Records that have their new vector. */
  done: number;
  /** Records of the database. */
  records: number;
  /** When it began. */
  started_at: string;
  /** Why the re-embedding failed or waits. */
  problem?: {
    /** An error code, for programs. */
    code: string;
    /** For people. The wording may change. */
    detail: string;
  };
}

/** How far a source is that a database is kept in step with. */
export interface SyncDescription {
  /** Name of the source. The keys of its records begin with it and `/`. */
  name: string;
  /** Id of the database. */
  database: string;
  /**
   * new: no pass was complete yet. reading: a pass runs, or was interrupted. waiting: the last
   * attempt failed, and the next one may succeed by itself. failed: somebody must do what `reason`
   * says; it is tried again each minute. withheld: deletions wait for a confirmation. in_step: none
   * of these.
   */
  state: 'new' | 'reading' | 'waiting' | 'failed' | 'withheld' | 'in_step';
  /**
   * The moment of the source that the records show; absent before the first complete pass, and while
   * a pass has written a part or deletions are withheld.
   */
  in_step_as_of?: string;
  /** Records of the source. */
  records: number;
  /** Rows that could not become records. */
  refused: number;
  /** The first 1,000 of them. */
  refused_rows: {
    /** Key of the row. */
    key: string;
    /** Why, for people. */
    reason: string;
  }[];
  /** Records that wait for a confirmation to be deleted. */
  withheld: number;
  /** Why the last attempt failed, for people. */
  reason?: string;
  /** Why each pass scans the table, although `stream` asks for its changes at once, for people. */
  by_scan?: string;
  /** When the next attempt or the next pass begins. */
  next_attempt?: string;
  /** How far the running pass is. */
  progress?: {
    /** Rows whose records are stored, or that were refused. */
    rows: number;
    /** Rows to expect; absent where the source cannot tell. */
    total?: number;
    /** Rows per second since the pass began. */
    rows_per_second: number;
    /** Seconds until the end at this rate. */
    seconds_left?: number;
  };
  /** The last pass since the start of the service that compared all rows. */
  last_whole_pass?: {
    /** When it was complete. */
    at: string;
    /** Rows that were read. */
    read: number;
    /** Records that were new or differed. */
    written: number;
    /** Records that had this content already. */
    unchanged: number;
    /** Records whose rows were gone. */
    deleted: number;
  };
  /** Passes that were asked for and are not complete. */
  requested?: ('reconcile' | 'confirm')[];
}

/** A key without its secret. */
export interface KeyDescription {
  /** Id of the key. It is not secret. */
  key_id: string;
  /** Name of the key, for people. At most 100 characters. */
  name: string;
  /** What the key may do. 1 to 5 items. */
  actions: Action[];
  /** Ids of the databases that the key may see, or `*` for all. */
  databases: '*' | string[];
  /** When the key was issued. */
  created_at: string;
  /** When the key stops to be valid; absent: never. */
  expires_at?: string;
  /** The key sees only records that pass this filter. */
  filter?: FilterGroup;
  /** Id of the key that issued this one. */
  issued_by: string;
}

/** A new key with its secret. */
export interface IssuedKey extends KeyDescription {
  /** The secret. It is shown only here. */
  key: string;
}

/** A webhook without its secret. */
export interface WebhookDescription {
  /** Id of the webhook. */
  webhook_id: string;
  /**
   * Changes are posted to this URL. A response with status 2xx acknowledges them; redirects are not
   * followed. It has no user name and no password. Its host must have a public address, unless the
   * operator allows others. At most 2048 characters.
   */
  url: string;
  /** Position of the last acknowledged change. From 0 to 2^53 - 1. */
  position: number;
  /** Failed attempts of the next delivery so far. */
  failures: number;
  /**
   * Why the last attempt failed: `rejected` for a response other than 2xx, `unreachable` for every
   * other cause. The log of the service has the details.
   */
  last_failure?: 'unreachable' | 'rejected';
  /** When the webhook was created. */
  created_at: string;
  /** Id of the key that created the webhook, which ends with that key. */
  created_by: string;
}

/** A new webhook with its secret. */
export interface CreatedWebhook extends WebhookDescription {
  /** Signs the deliveries. It is shown only here. */
  secret: string;
}

/** The body of a delivery to a webhook. */
export interface WebhookDelivery {
  /** Id of the database. */
  database: string;
  /**
   * Identifies the history of the change feed up to `position`. Pass both to the next request, and do
   * not compare epochs.
   */
  epoch: string;
  /** Oldest first. */
  changes: Change[];
  /** Position of the last change of the delivery. From 0 to 2^53 - 1. */
  position: number;
}

/** The body of every error response (RFC 9457). */
export interface ProblemBody {
  /** Identifies the code. It need not be fetched. */
  type: string;
  /** What the code means. */
  title: string;
  /** The HTTP status. From 400 to 599. */
  status: number;
  /** For people. The wording may change. */
  detail: string;
  /** For programs. Codes are never renamed. */
  code: ErrorCode;
  /** The `x-request-id` of the response. */
  request_id: string;
  /** The members of the request that are not valid. */
  errors?: Problem[];
  /** `invalid_dimensions`: the dimensions of the database. */
  expected?: number;
  /** `invalid_dimensions`: the number of values of the vector. */
  got?: number;
  /** `feed_restarted`: the epoch of the current change feed. */
  epoch?: string;
  /** `changes_removed`: the position after which changes are kept. */
  after?: number;
  /** `busy`: the number of calls that run and wait at most. */
  limit?: number;
  /** `too_large`: the maximum number of bytes, or of values; `deletion_refused`: of records to delete. */
  max?: number;
  /** `deletion_refused`: the number of records that would have been deleted. */
  missing?: number;
}
