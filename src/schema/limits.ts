/** Default limits of the service. Each can be configured under its name in `limits`. */
export const LIMITS = {
  /** Nesting depth of groups; the outermost group counts as one. */
  filter_depth: 32,
  /** Rules of one filter, without groups. */
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
  /** Bytes of the records on one page. A page with a single record may be larger. */
  page_bytes: 4_194_304,
  /** Distinct column names of a database. */
  database_columns: 10_000,
  /** Seconds that a request for changes may wait. */
  change_wait_seconds: 60,
  /** Days that the change feed keeps a change. */
  change_retention_days: 30,
} as const satisfies Record<string, number>;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };

/** Default values of request members. The schemas document them, and the backend applies them. */
export const DEFAULTS = {
  limit: 50,
  threshold: 0.2,
  facet_values: 10,
  changes_limit: 100,
} as const;

/** Maximum nesting depth of a JSON body: two levels per group of the deepest filter, and 8 for the rest. */
export function jsonDepth(limits: Limits): number {
  return 2 * limits.filter_depth + 8;
}
