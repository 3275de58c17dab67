// Written by `npm run generate:types` from the schemas in src/schema. Do not edit.

import type { ColumnName, Data, NumberColumn, Vector } from '../columns.js';
import type { Action } from '../keys.js';
import type { Filter, FilterGroup } from './filter.js';

/**
 * What to search for: a text, in a database with a model, a vector, or examples. This alternative
 * has `text`.
 */
export interface TextSearch<T = Data> {
  /**
   * Text to search for by meaning, at most 8000 bytes of UTF-8. Only for a database with a model.
   * With `vector`, and only with `lexical`, it is the text whose words are searched for.
   */
  text: string;
  /**
   * Minimum relevance score of the results: 0 means unrelated, 1 the same meaning; a score equal to
   * it passes. Default: that of the database, or 0.2; with `lexical` and `boosts`, 0.2 times (1 -
   * lexical - the weights). From 0 to 1.
   */
  threshold?: number | undefined;
  /**
   * Weight of exact words in the relevance score: it is (1 - lexical) times the similarity in meaning
   * plus lexical times the lexical score. Above 0 only for a database with the setting `lexical`.
   * Default: that of the database for a search by text, or 0. From 0 to 1.
   */
  lexical?: number | undefined;
  /**
   * Whether the last word of the text may be the beginning of a word, as while it is typed. Records
   * with the whole word score higher, and those with a longer word the lower the longer it is. Needs
   * `lexical`. Default: false.
   */
  prefix?: boolean | undefined;
  /**
   * Parts of the relevance score besides meaning and exact words: it is (1 - lexical - the weights)
   * times the similarity in meaning, plus lexical times the lexical score, plus the sum of weight
   * times boost. Default: none. 0 to 8 items.
   */
  boosts?: readonly Boost<T>[] | undefined;
  /** Not together with `text`. */
  vector?: undefined;
  /** Not together with `text`. */
  like?: undefined;
}

/**
 * What to search for: a text, in a database with a model, a vector, or examples. This alternative
 * has `vector`.
 */
export interface VectorSearch<T = Data> {
  /**
   * Text to search for by meaning, at most 8000 bytes of UTF-8. Only for a database with a model.
   * With `vector`, and only with `lexical`, it is the text whose words are searched for.
   */
  text?: string | undefined;
  /**
   * A vector with as many values as the database has dimensions, such as one that the model of the
   * database made. 1 to 4096 items.
   */
  vector: Vector;
  /**
   * Minimum relevance score of the results: 0 means unrelated, 1 the same meaning; a score equal to
   * it passes. Default: that of the database, or 0.2; with `lexical` and `boosts`, 0.2 times (1 -
   * lexical - the weights). From 0 to 1.
   */
  threshold?: number | undefined;
  /**
   * Weight of exact words in the relevance score: it is (1 - lexical) times the similarity in meaning
   * plus lexical times the lexical score. Above 0 only for a database with the setting `lexical`.
   * Default: that of the database for a search by text, or 0. From 0 to 1.
   */
  lexical?: number | undefined;
  /**
   * Whether the last word of the text may be the beginning of a word, as while it is typed. Records
   * with the whole word score higher, and those with a longer word the lower the longer it is. Needs
   * `lexical`. Default: false.
   */
  prefix?: boolean | undefined;
  /**
   * Parts of the relevance score besides meaning and exact words: it is (1 - lexical - the weights)
   * times the similarity in meaning, plus lexical times the lexical score, plus the sum of weight
   * times boost. Default: none. 0 to 8 items.
   */
  boosts?: readonly Boost<T>[] | undefined;
  /** Not together with `vector`. */
  like?: undefined;
}

/**
 * What to search for: a text, in a database with a model, a vector, or examples. This alternative
 * has `like`.
 */
export interface LikeSearch<T = Data> {
  /**
   * Records that are examples, at most 100: the search is for what is like the mean of the positive
   * ones and unlike that of the negative ones. The examples are no results.
   */
  like: {
    /** Ids of records that results are like: integers, UUIDs, or `key:` and a key. 1 to 100 items. */
    positive: readonly (number | string)[];
    /** Ids of records that results are unlike. Default: none. 0 to 100 items. */
    negative?: readonly (number | string)[] | undefined;
  };
  /**
   * Minimum relevance score of the results: 0 means unrelated, 1 the same meaning; a score equal to
   * it passes. Default: that of the database, or 0.2; with `lexical` and `boosts`, 0.2 times (1 -
   * lexical - the weights). From 0 to 1.
   */
  threshold?: number | undefined;
  /**
   * Weight of exact words in the relevance score: it is (1 - lexical) times the similarity in meaning
   * plus lexical times the lexical score. Above 0 only for a database with the setting `lexical`.
   * Default: that of the database for a search by text, or 0. From 0 to 1.
   */
  lexical?: number | undefined;
  /**
   * Whether the last word of the text may be the beginning of a word, as while it is typed. Records
   * with the whole word score higher, and those with a longer word the lower the longer it is. Needs
   * `lexical`. Default: false.
   */
  prefix?: boolean | undefined;
  /**
   * Parts of the relevance score besides meaning and exact words: it is (1 - lexical - the weights)
   * times the similarity in meaning, plus lexical times the lexical score, plus the sum of weight
   * times boost. Default: none. 0 to 8 items.
   */
  boosts?: readonly Boost<T>[] | undefined;
  /** Not together with `like`. */
  text?: undefined;
  /** Not together with `like`. */
  vector?: undefined;
}

/** What to search for: a text, in a database with a model, a vector, or examples. */
export type Search<T = Data> = TextSearch<T> | VectorSearch<T> | LikeSearch<T>;

/**
 * Includes both ends. Applies to the time at which a record was last synced, in milliseconds.
 * Digits below a millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`.
 */
export interface TimeRange {
  /** Earliest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit. */
  start_time?: string | undefined;
  /** Latest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit. */
  end_time?: string | undefined;
}

/** Which page of the matches to return. */
export interface Pagination {
  /** Maximum number of results on the page. Default: that of the database, or 50. From 1 to 100. */
  limit?: number | undefined;
  /**
   * `next_cursor` of a previous response. It never expires. Default: the first page. At most 24576
   * characters.
   */
  cursor?: string | undefined;
}

/**
 * The most frequent values of a column, with the number of matching records each. A list counts
 * once for each of its different elements.
 */
export interface ValuesFacet<T = Data> {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: ColumnName<T>;
  /** The kind of the facet. Default: `values`. */
  type?: 'values' | undefined;
  /** Maximum number of values. Default: 10. From 1 to 100. */
  limit?: number | undefined;
  /** Not together with `column` or `type` or `limit`. */
  time?: undefined;
  /** Not together with `column` or `type` or `limit`. */
  interval?: undefined;
}

/**
 * Counts of the numbers of a column in intervals [k·interval, (k+1)·interval). A list counts once
 * in each interval with a number of it.
 */
export interface HistogramFacet<T = Data> {
  /** Name of a column: up to 256 bytes of UTF-8. A column that no record has is empty everywhere. */
  column: NumberColumn<T>;
  /** The kind of the facet. */
  type: 'histogram';
  /** Width of the intervals. Greater than 0. */
  interval: number;
  /** Not together with `column` or `type` or `interval`. */
  time?: undefined;
  /** Not together with `column` or `type` or `interval`. */
  limit?: undefined;
}

/** Counts of matching records by calendar interval (UTC) of one of their times. */
export interface TimeFacet {
  /**
   * Which time of a record is counted: when it was first seen (`created`), when its content last
   * changed (`changed`), or when it was last seen (`synced`).
   */
  time: 'created' | 'changed' | 'synced';
  /** Calendar interval in UTC. A week begins on Monday. */
  interval: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';
  /** Not together with `time` or `interval`. */
  column?: undefined;
  /** Not together with `time` or `interval`. */
  type?: undefined;
  /** Not together with `time` or `interval`. */
  limit?: undefined;
}

/** Counts the matches by the values of a column, or by intervals of numbers or times. */
export type Facet<T = Data> = TimeFacet | HistogramFacet<T> | ValuesFacet<T>;

/** Order of the results; ties by id. Default: last synced first. This alternative has `column`. */
export interface ColumnSort<T = Data> {
  /**
   * The column to sort by: booleans, then numbers, then strings; a list by its smallest element, or
   * in descending order by its largest. Records without a value, or with an empty list, are last in
   * both directions. At most 256 characters.
   */
  column: ColumnName<T>;
  /** Ascending or descending. Default: `asc`. */
  direction?: 'asc' | 'desc' | undefined;
  /** Not together with `column`. */
  time?: undefined;
}

/** Order of the results; ties by id. Default: last synced first. This alternative has `time`. */
export interface TimeSort {
  /** The time of the records to sort by. */
  time: 'created_at' | 'changed_at' | 'synced_at';
  /** Ascending or descending. Default: `asc`. */
  direction?: 'asc' | 'desc' | undefined;
  /** Not together with `time`. */
  column?: undefined;
}

/** Order of the results; ties by id. Default: last synced first. */
export type Sort<T = Data> = ColumnSort<T> | TimeSort;

/** A search by meaning. */
export interface SearchRequest<T = Data> {
  /** What to search for: a text, in a database with a model, a vector, or examples. */
  search: Search<T>;
  /** Rules that every result satisfies. Default: all records. */
  filter?: Filter<T> | undefined;
  /**
   * Includes both ends. Applies to the time at which a record was last synced, in milliseconds.
   * Digits below a millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`.
   */
  time_range?: TimeRange | undefined;
  /** Which page of the matches to return. */
  pagination?: Pagination | undefined;
  /**
   * True: also show which passage of a long record matches best, in the member `passage` of its
   * result. A number: show so many of the best passages of each result with their texts, in its
   * member `best_passages`. Default: false.
   */
  passages?: boolean | number | undefined;
  /**
   * With a number as `passages`: how many passages before and after each one are joined with it.
   * Default: none. From 1 to 8.
   */
  neighbours?: number | undefined;
  /**
   * Also show which words of each result match those of the text, in its member `highlights`. Needs
   * `lexical` in `search`. Default: false.
   */
  highlights?: boolean | undefined;
  /** The columns that results show in their `data`; an empty list for none. Default: all. 0 to 100 items. */
  columns?: readonly ColumnName<T>[] | undefined;
  /** Also count every match, on all pages. Default: false. */
  total?: boolean | undefined;
  /** Also count the matches, on all pages, by value or interval. 1 to 16 items. */
  facets?: readonly Facet<T>[] | undefined;
  /**
   * A column: of the records with an equal value in it, only the first in the order of the results is
   * a result. Records without a value stand for themselves. `total` counts results, and facets count
   * all matches.
   */
  distinct?: ColumnName<T> | { column: ColumnName<T>; counts?: boolean | undefined } | undefined;
  /**
   * Also show the stored vectors of each record, in the members of an export. A key needs
   * `records.read`. Default: false.
   */
  vectors?: boolean | undefined;
  /** Also explain how the page was found, and which rules each record passed. Default: false. */
  explain?: boolean | undefined;
}

/** A selection of records without a search. */
export interface QueryRequest<T = Data> {
  /** Rules that every result satisfies. Default: all records. */
  filter?: Filter<T> | undefined;
  /**
   * Includes both ends. Applies to the time at which a record was last synced, in milliseconds.
   * Digits below a millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`.
   */
  time_range?: TimeRange | undefined;
  /** Order of the results; ties by id. Default: last synced first. */
  sort?: Sort<T> | undefined;
  /** Which page of the matches to return. */
  pagination?: Pagination | undefined;
  /** The columns that results show in their `data`; an empty list for none. Default: all. 0 to 100 items. */
  columns?: readonly ColumnName<T>[] | undefined;
  /** Also count every match, on all pages. Default: false. */
  total?: boolean | undefined;
  /** Also count the matches, on all pages, by value or interval. 1 to 16 items. */
  facets?: readonly Facet<T>[] | undefined;
  /**
   * A column: of the records with an equal value in it, only the first in the order of the results is
   * a result. Records without a value stand for themselves. `total` counts results, and facets count
   * all matches.
   */
  distinct?: ColumnName<T> | { column: ColumnName<T>; counts?: boolean | undefined } | undefined;
  /**
   * Also show the stored vectors of each record, in the members of an export. A key needs
   * `records.read`. Default: false.
   */
  vectors?: boolean | undefined;
  /** Also explain how the page was found, and which rules each record passed. Default: false. */
  explain?: boolean | undefined;
}

/** Which records to put on a map: the first 2,000 matches of a search, or of a query. */
export interface MapRequest<T = Data> {
  /** What to search for. Default: the records that were last synced. */
  search?: Search<T> | undefined;
  /** Rules that every record satisfies. Default: all records. */
  filter?: Filter<T> | undefined;
  /**
   * Includes both ends. Applies to the time at which a record was last synced, in milliseconds.
   * Digits below a millisecond count: `12:00:00.0005Z` is after `12:00:00.000Z`.
   */
  time_range?: TimeRange | undefined;
  /** The columns that each point has in its `data`. Default: none. 0 to 16 items. */
  columns?: readonly ColumnName<T>[] | undefined;
}

/** Times to store instead of now, for a migration. */
export interface NewTimestamps {
  /** When the record was first seen. Default: now. */
  created_at?: string | undefined;
  /** When its content last changed. Default: now. */
  changed_at?: string | undefined;
  /** When the record was last seen. Default: now. */
  synced_at?: string | undefined;
}

/** A passage of a text, with its vector. Offsets count UTF-16 code units. */
export interface EmbeddedPassage {
  /** The column that most of the passage comes from. */
  column: string;
  /** Offset of its first character in the value of the column. */
  start: number;
  /** Offset after its last character. */
  end: number;
  /** Its vector. 1 to 4096 items. */
  vector: readonly number[];
}

/** A record to write. A stored record with the same id, UUID or key is replaced. */
export interface NewRecord<T = Data> {
  /** Integer id, unique in the database. Default: the next free one. From 1 to 2^53 - 1. */
  id?: number | undefined;
  /** UUID, unique in the database. Default: that of the key, or a new one of version 7. */
  uuid?: string | undefined;
  /**
   * Text that identifies the record, unique in the database: up to 512 bytes of UTF-8. The UUID of
   * the record is made from it.
   */
  key?: string | undefined;
  /**
   * Values by column name, in the order they were given: strings, numbers, booleans, null, and lists
   * of the first three. With the setting `flatten` of the database also objects and lists of any
   * values.
   */
  data: T;
  /** Times to store instead of now, for a migration. */
  timestamps?: NewTimestamps | undefined;
  /**
   * Vector of the record. In a database with a model only together with `embedded_by`, and dropped
   * from a record without text. Otherwise the text is embedded. 1 to 4096 items.
   */
  vector?: Vector | undefined;
  /**
   * In place of `vector`, the passages of a text that is longer than the window of the model, only
   * together with `embedded_by`. An export with vectors has them. At least 1 item.
   */
  passages?: readonly EmbeddedPassage[] | undefined;
  /**
   * Fingerprint of the model that made `vector` or `passages` from the text of the record; in a
   * database with a model it must be the `fingerprint` of the database. An export with vectors has
   * it. At most 256 characters.
   */
  embedded_by?: string | undefined;
  /**
   * Writes the record only if the stored one was last changed at this time; null: only if there is
   * none yet. The condition is not stored.
   */
  if_changed_at?: string | null | undefined;
}

/** Changes of a record. */
export interface RecordPatch {
  /**
   * Columns to set. Null removes a column. With the setting `flatten`, an object changes its members,
   * and another value takes the place of all members.
   */
  data?: Record<string, unknown> | undefined;
  /** Changes the record only if it was last changed at this time. */
  if_changed_at?: string | undefined;
}

/**
 * Which records to delete: either `ids`, or at least one of `filter` and `time_range`. This
 * alternative has `ids`.
 */
export interface DeleteByIds {
  /**
   * Ids of the records to delete: integers, UUIDs, or `key:` and a key; or objects with such an `id`
   * and a time `if_changed_at`. If one of these records was not last changed at its time, none is
   * deleted. 1 to 1000 items.
   */
  ids: readonly (number | string | { id: number | string; if_changed_at: string })[];
  /** Not together with `ids`. */
  filter?: undefined;
  /** Not together with `ids`. */
  time_range?: undefined;
}

/**
 * When the records to delete were last seen; includes both ends, and requires at least one of them.
 * This alternative has `start_time`.
 */
export interface TimeRangeFrom {
  /** Earliest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit. */
  start_time: string;
  /** Latest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit. */
  end_time?: string | undefined;
}

/**
 * When the records to delete were last seen; includes both ends, and requires at least one of them.
 * This alternative has `end_time`.
 */
export interface TimeRangeUntil {
  /** Earliest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit. */
  start_time?: string | undefined;
  /** Latest time. ISO 8601 with Z or an offset. A date alone means midnight UTC. Default: no limit. */
  end_time: string;
}

/**
 * Which records to delete: either `ids`, or at least one of `filter` and `time_range`. This
 * alternative has `filter`.
 */
export interface DeleteByFilter<T = Data> {
  /** Rules that the records to delete satisfy. Default: all records. */
  filter: Filter<T>;
  /** When the records to delete were last seen; includes both ends, and requires at least one of them. */
  time_range?: TimeRangeFrom | TimeRangeUntil | undefined;
  /** Not together with `filter`. */
  ids?: undefined;
}

/**
 * Which records to delete: either `ids`, or at least one of `filter` and `time_range`. This
 * alternative has `time_range`.
 */
export interface DeleteByTime<T = Data> {
  /** Rules that the records to delete satisfy. Default: all records. */
  filter?: Filter<T> | undefined;
  /** When the records to delete were last seen; includes both ends, and requires at least one of them. */
  time_range: TimeRangeFrom | TimeRangeUntil;
  /** Not together with `time_range`. */
  ids?: undefined;
}

/** Which records to delete: either `ids`, or at least one of `filter` and `time_range`. */
export type DeleteRequest<T = Data> = DeleteByIds | DeleteByFilter<T> | DeleteByTime<T>;

/**
 * How an export to CSV writes the values of columns. `0.00` and `.00`: numbers with as many
 * decimals, with or without a zero before the point. `.#`: numbers as JavaScript writes them,
 * without that zero. `python`: as Python writes a float, `5.0` and `1e-07`. `True` and `TRUE`:
 * booleans. A column with a value that its format would change is written as JavaScript writes it.
 * An import of CSV sets the formats of its columns.
 */
export interface ValueFormats {
  /** The format of a column. */
  [name: string]: string;
}

/** The settings of a database. All but `dimensions` can be changed later. */
export interface DatabaseSettings<T = Data> {
  /**
   * Which text of a record is embedded. Default: every column with a string, or with a list with a
   * string, as `column: value` lines. The elements of a list are joined by `, `.
   */
  embed?:
    | {
        /** How long texts are split into passages, which have a vector each. */
        passages?:
          | {
              /** Passages that a text may have; a record with more is refused. Default: 64. From 1 to 4096. */
              per_record?: number | undefined;
              /**
               * Tokens of a passage at most, with those that the model adds; at most its window. A text with more
               * is split. Default: half of the window, and only a text that is longer than the window is split.
               * From 16 to 65536.
               */
              tokens?: number | undefined;
              /**
               * Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a
               * passage. Default: an eighth. From 0 to 32768.
               */
              overlap?: number | undefined;
            }
          | undefined;
        /** Columns to embed, in this order. Default: every string column. 1 to 256 items. */
        columns?: readonly ColumnName<T>[] | undefined;
      }
    | undefined;
  /**
   * Name of the embedding model: the built-in one, `multilingual-e5-small` if its package is
   * installed, or one of the setting `models`. Default: the built-in one, unless `dimensions` is
   * given. At most 256 characters.
   */
  model?: string | undefined;
  /**
   * Number of values of each vector. Records and searches then bring their own vectors, and the
   * database has no model. From 1 to 4096.
   */
  dimensions?: number | undefined;
  /**
   * Whether searches can take exact words into account: those of the embedded columns, or of the
   * named ones, embedded or not. The index of the words takes memory. Default: false.
   */
  lexical?: boolean | { columns: Readonly<Record<string, number>> } | undefined;
  /**
   * Whether records may have nested objects: their members are columns such as `address.city`. A list
   * with objects, lists or null in it is then its JSON text, and so is an object below 16 names.
   * Concerns what is written from then on. Default: false.
   */
  flatten?: boolean | undefined;
  /**
   * The values of members that a search or a query leaves out. A page after a cursor has the
   * threshold and the weight of words that the page before had.
   */
  defaults?:
    | {
        /** The `threshold` of searches. From 0 to 1. */
        threshold?: number | undefined;
        /** The `lexical` of searches for a text. Above 0 only with the setting `lexical`. From 0 to 1. */
        lexical?: number | undefined;
        /** The `limit` of searches and queries. From 1 to 100. */
        limit?: number | undefined;
      }
    | undefined;
  /**
   * How an export to CSV writes the values of columns. `0.00` and `.00`: numbers with as many
   * decimals, with or without a zero before the point. `.#`: numbers as JavaScript writes them,
   * without that zero. `python`: as Python writes a float, `5.0` and `1e-07`. `True` and `TRUE`:
   * booleans. A column with a value that its format would change is written as JavaScript writes it.
   * An import of CSV sets the formats of its columns.
   */
  formats?: ValueFormats | undefined;
}

/**
 * Changes of the settings of a database, as a JSON merge patch (RFC 7396): what is left out stays,
 * and null removes a setting, which then has its default. `embed` and `model` change once every
 * record has its new vector.
 */
export interface DatabaseChanges<T = Data> {
  /**
   * Which text of a record is embedded. Default: every column with a string, or with a list with a
   * string, as `column: value` lines. The elements of a list are joined by `, `.
   */
  embed?:
    | {
        /** Columns to embed, in this order. Default: every string column. 1 to 256 items. */
        columns?: readonly ColumnName<T>[] | null | undefined;
        /** How long texts are split into passages, which have a vector each. */
        passages?:
          | {
              /** Passages that a text may have; a record with more is refused. Default: 64. From 1 to 4096. */
              per_record?: number | null | undefined;
              /**
               * Tokens of a passage at most, with those that the model adds; at most its window. A text with more
               * is split. Default: half of the window, and only a text that is longer than the window is split.
               * From 16 to 65536.
               */
              tokens?: number | null | undefined;
              /**
               * Tokens that a passage repeats of the one before it, at most; at most half of the tokens of a
               * passage. Default: an eighth. From 0 to 32768.
               */
              overlap?: number | null | undefined;
            }
          | null
          | undefined;
      }
    | null
    | undefined;
  /**
   * Name of the embedding model: the built-in one, `multilingual-e5-small` if its package is
   * installed, or one of the setting `models`. Default: the built-in one, unless `dimensions` is
   * given. At most 256 characters.
   */
  model?: string | undefined;
  /**
   * Whether searches can take exact words into account: those of the embedded columns, or of the
   * named ones, embedded or not. The index of the words takes memory. Default: false.
   */
  lexical?: boolean | { columns: { [column: string]: number | null } } | null | undefined;
  /**
   * Whether records may have nested objects: their members are columns such as `address.city`. A list
   * with objects, lists or null in it is then its JSON text, and so is an object below 16 names.
   * Concerns what is written from then on. Default: false.
   */
  flatten?: boolean | null | undefined;
  /**
   * The values of members that a search or a query leaves out. A page after a cursor has the
   * threshold and the weight of words that the page before had.
   */
  defaults?:
    | {
        /** The `threshold` of searches. From 0 to 1. */
        threshold?: number | null | undefined;
        /** The `lexical` of searches for a text. Above 0 only with the setting `lexical`. From 0 to 1. */
        lexical?: number | null | undefined;
        /** The `limit` of searches and queries. From 1 to 100. */
        limit?: number | null | undefined;
      }
    | null
    | undefined;
  /**
   * How an export to CSV writes the values of columns. `0.00` and `.00`: numbers with as many
   * decimals, with or without a zero before the point. `.#`: numbers as JavaScript writes them,
   * without that zero. `python`: as Python writes a float, `5.0` and `1e-07`. `True` and `TRUE`:
   * booleans. A column with a value that its format would change is written as JavaScript writes it.
   * An import of CSV sets the formats of its columns.
   */
  formats?: { [column: string]: string | null } | null | undefined;
}

/** The database that an alias names from now on. */
export interface AliasRequest {
  /** Id of the database that the alias names. */
  database: string;
}

/** Texts to embed. */
export interface EmbeddingsRequest {
  /** A text, or up to 64 texts, each of at most 8000 bytes of UTF-8. */
  input: string | readonly string[];
  /**
   * A model of the service: the built-in one, `multilingual-e5-small` if its package is installed, or
   * one of the setting `models`. Default: the built-in one. At most 256 characters.
   */
  model?: string | undefined;
  /**
   * How vectors are written: as numbers, or as base64 of their values in single precision, the lowest
   * byte first. Default: `float`.
   */
  encoding_format?: 'float' | 'base64' | undefined;
  /**
   * Whether the texts are searches or texts of records: some models embed both in different ways.
   * Default: `query`.
   */
  kind?: 'query' | 'record' | undefined;
}

/** The model with which to embed all records again. */
export interface ReembeddingRequest {
  /**
   * A model of the service: the built-in one, `multilingual-e5-small` if its package is installed, or
   * one of the setting `models`. At most 256 characters.
   */
  model: string;
}

/** A key to issue. It may do no more than the key that issues it. */
export interface KeyRequest {
  /** Name of the key, for people. At most 100 characters. */
  name: string;
  /** What the key may do. 1 to 5 items. */
  actions: readonly Action[];
  /** Ids of the databases that the key may see, or `*` for all. */
  databases: '*' | readonly string[];
  /**
   * When the key stops to be valid. ISO 8601 with Z or an offset. A date alone means midnight UTC.
   * Digits below a millisecond are cut off. Default: never.
   */
  expires_at?: string | undefined;
  /** The key sees only records that pass this filter. */
  filter?: FilterGroup | undefined;
}

/** A webhook to create. */
export interface WebhookRequest {
  /**
   * Changes are posted to this URL. A response with status 2xx acknowledges them; redirects are not
   * followed. It has no user name and no password. Its host must have a public address, unless the
   * operator allows others. At most 2048 characters.
   */
  url: string;
  /**
   * Position of the change feed after which deliveries start. Default: the current position. From 0
   * to 2^53 - 1.
   */
  after?: number | undefined;
}

/** A part of the relevance score that depends on the data or the times of the record. */
type Boost<T = Data> = {
  /** Weight of the boost in the relevance score, from 0 to 1. The weights of a search are at most 1 together. */
  weight: number;
} & (
  | {
      /** The boost is 1 where the filter passes, otherwise 0. */
      filter: Filter<T>;
      column?: undefined;
      time?: undefined;
      target?: undefined;
      scale?: undefined;
    }
  | (Nearness & {
      /** The column of the value: a number, or with a `target` that is a text a string that is a date or a time. */
      column: ColumnName<T>;
      time?: undefined;
    })
  | (Nearness & {
      /** The time of the record that is the value. */
      time: 'created_at' | 'changed_at' | 'synced_at';
      column?: undefined;
    })
);

/** The boost is max(0, 1 - |value - target| / scale); 0 for a record without a value. */
interface Nearness {
  /**
   * The value that counts most: a number, or a date or time in ISO 8601; of a time of the record also milliseconds since
   * 1970.
   */
  target: number | string;
  /**
   * The distance from which on a value counts nothing, above 0; for times an ISO 8601 duration of weeks, days, hours,
   * minutes and seconds, such as `P30D` or `PT12H`, or milliseconds.
   */
  scale: number | string;
  filter?: undefined;
}
