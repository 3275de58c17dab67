// Those of the limits that the client has, which leaves out the others.
const FILTER_DEPTH = 32;
export const BATCH_RECORDS = 1_000;

/** Default limits of the service. Each can be configured under its name in `limits`. */
export const LIMITS = {
  filter_depth: FILTER_DEPTH,
  filter_rules: 1_000,
  filter_value_bytes: 10_000,
  search_text_bytes: 8_000,
  body_bytes: 1_048_576,
  batch_records: BATCH_RECORDS,
  batch_bytes: 67_108_864,
  record_bytes: 1_048_576,
  page_bytes: 4_194_304,
  database_columns: 10_000,
  change_wait_seconds: 60,
  change_retention_days: 30,
} as const satisfies Record<string, number>;

export type Limits = { readonly [name in keyof typeof LIMITS]: number };

/** The highest value of each limit that has another one than {@link MAX_LIMIT}. */
const MAX_LIMITS: Partial<Limits> = {
  // Filters are parsed, checked and evaluated by functions that call themselves for each group.
  filter_depth: 256,
};
const MAX_LIMIT = 1_073_741_824;

/** The highest value that a limit can be set to. */
export function maxOf(limit: keyof Limits): number {
  return MAX_LIMITS[limit] ?? MAX_LIMIT;
}

/** What each limit counts, and what happens beyond it unless the request is refused. */
export const LIMIT_MEANINGS: Readonly<Record<keyof Limits, string>> = {
  filter_depth: 'nesting depth of groups, at most 256; the outermost group counts as one',
  filter_rules: 'rules in one filter; groups are not counted',
  filter_value_bytes: 'UTF-8 bytes of one string in a filter',
  search_text_bytes: 'UTF-8 bytes of `search.text`',
  body_bytes: 'bytes of the JSON body of a request other than an upsert, or of one search of a batch',
  batch_records: 'records of one batch',
  batch_bytes: 'bytes of one batch',
  record_bytes:
    'bytes of one record as JSON, without its `passages`; a larger one gets 413 `too_large` with a pointer in a batch, and a `problem` line ' +
    'in an NDJSON stream',
  page_bytes:
    'bytes of the records on one page; a page that would be larger has fewer records, but at least one, and ' +
    '`has_more` is true',
  database_columns:
    'distinct column names of a database, including those of deleted records, and the number of its `formats`; if the ' +
    'limit is lowered, existing ones stay',
  change_wait_seconds: 'maximum of `wait` of a request for changes, in seconds',
  change_retention_days:
    'days for which the change feed keeps a change, plus at most 1/32 of that time; a request after an older ' +
    'position gets 410 `changes_removed`. When a change is removed, the earlier data of the deleted or replaced ' +
    'record is overwritten on disk',
};

/** Maximum number of columns that a request for pages names, and one for a map. */
export const MAX_COLUMNS = 100;
export const MAX_MAP_COLUMNS = 16;

/** Maximum number of texts that a request embeds. */
export const MAX_EMBEDDED_TEXTS = 64;

/** Maximum number of examples of a search. */
export const MAX_EXAMPLES = 100;

/** Columns at most whose words the setting `lexical` names. */
export const MAX_WORD_COLUMNS = 256;

/** Maximum number of boosts of a search. */
export const MAX_BOOSTS = 8;

/** Maximum length of a cursor: that of a search by examples has the vector that was searched for. */
export const MAX_CURSOR_LENGTH = 24_576;

/** Maximum number of elements of a list in a record. */
export const MAX_LIST_ELEMENTS = 1_000;

/** Maximum number of values of a list in a filter, and of all lists of a filter together. */
export const MAX_LIST_VALUES = 1_000;
export const MAX_LISTED_VALUES = 10_000;

/** Default values of request members. The schemas document them, and `src/databases` applies them. */
export const DEFAULTS = {
  limit: 50,
  threshold: 0.2,
  facet_values: 10,
  changes_limit: 100,
  passages_per_record: 64,
} as const;

/** Steps of scores: a score has nine decimals. */
const SCORE_STEPS = 1e9;

/**
 * The threshold of a search that names none. Records without a word of the search and without a boost keep the part of
 * their score that is meaning, so those that a search by meaning finds are found with all weights of words and boosts.
 */
export function defaultThreshold(lexical = 0, boosts: readonly { weight: number }[] = []): number {
  const meaning = boosts.reduce((rest, { weight }) => rest - weight, 1 - lexical);
  return Math.max(Math.round(DEFAULTS.threshold * meaning * SCORE_STEPS) / SCORE_STEPS, 0);
}

/** Maximum nesting depth of a JSON body: two levels per group of the deepest filter, and 8 for the rest. */
export function jsonDepth({ filter_depth } = { filter_depth: FILTER_DEPTH }): number {
  return 2 * filter_depth + 8;
}

/** Maximum of the setting `embed.passages.per_record`, and of the tokens of a passage. */
export const MAX_PASSAGES_PER_RECORD = 4_096;
export const MAX_PASSAGE_TOKENS = 65_536;

/** Maximum number of passages that a result shows. */
export const MAX_PASSAGES = 64;

/** Maximum number of passages before, and of those after a passage that are joined with it. */
export const MAX_NEIGHBOURS = 8;

/** Maximum number of searches of a batch. */
export const MAX_SEARCHES = 64;

/** Maximum bytes of a batch of searches. */
export function searchesBytes(limits: Limits): number {
  return 8 * limits.body_bytes;
}

/**
 * Maximum number of values in a JSON body, where every array, object and scalar counts: a rule of a filter has four, a
 * group around it three, its lists have {@link MAX_LISTED_VALUES}, and the longest vector has 4,096.
 */
export function jsonValues(limits: Limits): number {
  return 7 * limits.filter_rules + MAX_LISTED_VALUES + 6_144;
}
