/** What the service takes at most. Every value can be configured under its own name in `limits`. */
export const LIMITS = {
  /** Groups within groups; the outermost counts as one. */
  filter_depth: 32,
  /** Rules of one filter, groups not counted. */
  filter_rules: 1_000,
  /** UTF-8 bytes of one string in a filter. */
  filter_value_bytes: 10_000,
  /** UTF-8 bytes of `search.text`. */
  search_text_bytes: 8_000,
  /** Bytes of any JSON body that is not a batch of records. */
  body_bytes: 1_048_576,
  /** Records of one batch. */
  batch_records: 1_000,
  /** Bytes of the body of one batch. */
  batch_bytes: 67_108_864,
  /** Bytes of one record as JSON, in a batch or on a line of NDJSON. */
  record_bytes: 1_048_576,
  /** Bytes of the records on one page, unless the first record alone is longer. */
  page_bytes: 4_194_304,
  /** Distinct column names of a database. */
  database_columns: 10_000,
  /** Seconds that a call of the change feed may wait. */
  change_wait_seconds: 60,
  /** Days that the change feed keeps a change. */
  change_retention_days: 30,
} as const satisfies Record<string, number>;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };

/** What an absent member means. The descriptions of the schemas tell these values, the backend applies them. */
export const DEFAULTS = {
  limit: 50,
  threshold: 0.2,
  facet_values: 10,
  changes_limit: 100,
} as const;

/** Levels of arrays and objects in a body whose filter is as deep as it may be, and a little room. */
export function jsonDepth(limits: Limits): number {
  return 2 * limits.filter_depth + 8;
}
