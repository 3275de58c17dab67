/** Every error code of the service and the library, with HTTP status and title. Codes are never renamed. */
export const ERRORS = {
  invalid_json: { status: 400, title: 'The request is not strict JSON' },
  invalid_request: { status: 400, title: 'The request does not match its schema' },
  invalid_filter: { status: 400, title: 'The filter is not valid' },
  invalid_cursor: { status: 400, title: 'The cursor is malformed or belongs to another request' },
  invalid_time: { status: 400, title: 'A time is not valid' },
  invalid_record: { status: 400, title: 'A record is not valid' },
  invalid_vector: { status: 400, title: 'A vector is not valid' },
  invalid_dimensions: { status: 400, title: 'A vector has the wrong number of values' },
  unauthorized: { status: 401, title: 'The API key is missing or not valid' },
  forbidden: { status: 403, title: 'The API key may not do this' },
  not_found: { status: 404, title: 'There is nothing at this path' },
  database_not_found: { status: 404, title: 'There is no such database' },
  record_not_found: { status: 404, title: 'There is no such record' },
  key_not_found: { status: 404, title: 'There is no such key' },
  reembedding_not_found: { status: 404, title: 'The database has no re-embedding' },
  alias_not_found: { status: 404, title: 'There is no such alias' },
  sync_not_found: { status: 404, title: 'The service follows no such source' },
  webhook_not_found: { status: 404, title: 'There is no such webhook' },
  method_not_allowed: { status: 405, title: 'The path does not take this method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  database_exists: { status: 409, title: 'The database exists with other settings' },
  identity_conflict: { status: 409, title: 'The id, the uuid and the key do not belong to the same record' },
  model_mismatch: { status: 409, title: 'The service does not have the model of the database' },
  hold_lost: { status: 409, title: 'The hold of a sync has ended' },
  source_failed: { status: 409, title: 'The source of a sync cannot be read as it is' },
  reembedding_running: { status: 409, title: 'The database is being embedded with another model' },
  deletion_refused: {
    status: 409,
    title: 'Nothing was deleted, because the source has problems or lacks too much',
  },
  alias_conflict: { status: 409, title: 'A database and an alias exclude each other' },
  read_only: { status: 409, title: 'The data directory is only read' },
  data_locked: { status: 409, title: 'The data directory is in use' },
  feed_restarted: { status: 410, title: 'The change feed has restarted, so the position is no longer valid' },
  changes_removed: { status: 410, title: 'Changes after the position are no longer kept' },
  precondition_failed: { status: 412, title: 'A record is not as `if_changed_at` says' },
  too_large: { status: 413, title: 'The request is too large' },
  unsupported_media_type: { status: 415, title: 'The media type is not supported' },
  rate_limited: { status: 429, title: 'The API key has sent too many requests' },
  headers_too_large: { status: 431, title: 'The request headers are too large' },
  stopped: { status: 499, title: 'The caller stopped the request' },
  internal: { status: 500, title: 'The service failed' },
  damaged: { status: 500, title: 'Stored data is damaged' },
  not_installed: { status: 501, title: 'A package that this needs is not installed' },
  busy: { status: 503, title: 'The service is busy' },
  model_unavailable: { status: 503, title: 'The model cannot embed texts now' },
  not_ready: { status: 503, title: 'The service is not ready' },
  source_unavailable: { status: 503, title: 'The source of a sync cannot be read now' },
  store_failed: { status: 503, title: 'The store failed or cannot be reached' },
  timed_out: { status: 503, title: 'The request took too long to answer' },
  unreachable: { status: 503, title: 'The service cannot be reached' },
  disk_full: { status: 507, title: 'The disk is full' },
} as const satisfies Record<string, { status: number; title: string }>;

/** A code of an error. Codes are never renamed; docs/reference/errors.md lists them. */
export type ErrorCode = keyof typeof ERRORS;

/**
 * Codes of problems of one member of a request or of one line of an NDJSON stream. Codes are never renamed. They are the
 * same as in the engine.
 */
export const PROBLEM_CODES = {
  malformed_json: 'The body or the line is not JSON, or not UTF-8',
  too_deep: 'The JSON or the filter is nested deeper than allowed',
  duplicate_member: 'An object has the same member twice',
  lone_surrogate: 'A string contains half of a UTF-16 surrogate pair',
  number_out_of_range: 'A number is outside the range of a double, or in a vector of a 32-bit float',
  unknown_member: 'The object has a member that is not known',
  missing_member: 'A required member is absent',
  wrong_type: 'The value is not of the required type',
  unknown_condition: 'The condition is neither `AND` nor `OR`',
  unknown_operator: 'There is no such operator',
  empty_rules: 'A group has no rules',
  unexpected_value: 'The rule has a value, but its operator takes none',
  too_many_rules: 'The filter has more rules than allowed',
  too_many_values: 'The lists of the filter have more values than allowed',
  value_too_long:
    'A value of the filter, or the text of a search, is longer than allowed or than the model takes',
  invalid_column:
    'The name of a column is empty, longer than 256 bytes, contains a control character, or is that of two members of nested objects',
  invalid_id: 'The id is not an integer from 1 to 2^53 - 1',
  invalid_uuid: 'The value is not a UUID with hyphens',
  invalid_key: 'The key is empty or longer than 512 bytes',
  invalid_time: 'The time is neither ISO 8601 with Z or an offset nor a date',
  mixed_time_names: 'The times of a record have names of two kinds',
  too_many_records: 'The batch has more records than allowed',
  too_many_columns: 'The record has a new column, but the database has the maximum number of columns',
  too_many_passages: 'The text of the record is split into more passages than allowed',
  invalid_value: 'The value has the right type, but is not allowed',
  invalid_vector: 'The vector is missing, has length 0, or is not allowed because the database has a model',
  invalid_dimensions: 'The vector does not have as many values as the database has dimensions',
  identity_conflict: 'The id, the UUID and the key do not belong to the same record',
  too_large: 'The record is larger than allowed',
  precondition_failed: 'The stored record is not as `if_changed_at` says',
} as const satisfies Record<string, string>;

/** A code of a problem. Codes are never renamed; docs/reference/errors.md lists them. */
export type ProblemCode = keyof typeof PROBLEM_CODES;

/** One problem of a request. */
export interface Problem {
  /** JSON pointer into the arguments, such as `/filter/rules/1/operator`; '' is an argument as a whole. */
  pointer: string;
  /** What is wrong, for people. */
  detail: string;
  /** What is wrong, for programs. */
  code: ProblemCode;
  /** `precondition_failed`: when the stored record was last changed; absent if there is none. */
  changed_at?: string;
}

/** Facts of some codes, for programs that handle them. */
export interface ErrorFields {
  /** `upsert`: number of records that were committed before the failed batch. */
  readonly committed?: number;
  /** `invalid_dimensions`: the dimensions of the database. */
  readonly expected?: number;
  /** `invalid_dimensions`: the number of values of the vector. */
  readonly got?: number;
  /** `feed_restarted`: the epoch of the current change feed. */
  readonly epoch?: string;
  /** `changes_removed`: the position after which changes are kept. */
  readonly after?: number;
  /** `busy`: the number of calls that run and wait at most. */
  readonly limit?: number;
  /** `too_large`: the maximum number of bytes, of values, or of passages; `deletion_refused`: of records to delete. */
  readonly max?: number;
  /** `deletion_refused`: the number of records that would have been deleted. */
  readonly missing?: number;
  /** `unreachable`: the host of the service. */
  readonly host?: string;
  /** `unreachable`: the port of the service. */
  readonly port?: number;
  /** `unreachable`: why, such as `ECONNREFUSED`. */
  readonly reason?: string;
  /** Errors of a service: the `x-request-id` of the response, which is also in its log. */
  readonly request_id?: string;
  /** Further facts, for the log. */
  readonly [name: string]: unknown;
}

/** What a {@link CosiftError} carries in addition to its code and detail. */
export interface ErrorFacts {
  /** The members of the request that caused the failure. */
  problems?: readonly Problem[] | undefined;
  /** Facts for programs that handle the code. */
  fields?: ErrorFields | undefined;
  /** The failure that led to this one. */
  cause?: unknown;
}

/** The error that the library and the client throw. */
export class CosiftError extends Error {
  /** Distinguishes this error from others. */
  override readonly name = 'CosiftError';
  /** The kind of the failure. */
  readonly code: ErrorCode;
  /** HTTP status of the code. */
  readonly status: number;
  /** What failed, for people. Equals `message`. */
  readonly detail: string;
  /** The members of the request that caused the failure, if it was a member. */
  readonly problems: readonly Problem[];
  /** Facts for programs that handle the code, such as `committed` after a failed upsert. */
  readonly fields: ErrorFields;

  /** Makes the error of a code, with the facts that callers need. */
  constructor(code: ErrorCode, detail: string, facts: ErrorFacts = {}) {
    super(detail, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.status = ERRORS[code].status;
    this.detail = detail;
    this.problems = facts.problems ?? [];
    this.fields = facts.fields ?? {};
  }
}

/** Returns an error that the request is the cause of. Throws any other. */
export function refusalOf(error: unknown): CosiftError {
  if (error instanceof CosiftError && error.status === 400) return error;
  throw error;
}

/** Runs `run` with the values that are no errors. Returns its results in their places, and the errors in theirs. */
export async function besideErrors<T, R>(
  values: readonly (T | CosiftError)[],
  run: (valid: T[]) => Promise<readonly R[]>,
): Promise<(R | CosiftError)[]> {
  const results = (await run(values.filter((value): value is T => !(value instanceof CosiftError)))).values();
  return values.map((value) => (value instanceof CosiftError ? value : (results.next().value as R)));
}

/** Returns the error of a part of a request, with pointers from `place`, the pointer to the part. */
export function atPlace(error: CosiftError, place: string): CosiftError {
  const { code, detail, problems, fields, cause } = error;
  const hasPointer = problems[0]?.pointer && detail.startsWith(`${problems[0].pointer}: `);
  return new CosiftError(code, `${place}${hasPointer ? '' : ': '}${detail}`, {
    problems: problems.map((problem) => ({ ...problem, pointer: `${place}${problem.pointer}` })),
    fields,
    cause,
  });
}

/** Returns the error with its details rewritten, also those of its problems. */
export function withDetails(error: CosiftError, rewrite: (detail: string) => string): CosiftError {
  const { code, detail, problems, fields, cause } = error;
  return new CosiftError(code, rewrite(detail), {
    problems: problems.map((problem) => ({ ...problem, detail: rewrite(problem.detail) })),
    fields,
    cause,
  });
}

/** Returns an error of {@link atPlace} as it was before. */
export function withoutPlace(error: CosiftError, place: string): CosiftError {
  const { code, detail, problems, fields, cause } = error;
  const prefix = `${place}: `;
  const own = detail.startsWith(prefix) ? detail.slice(prefix.length) : detail.slice(place.length);
  return new CosiftError(code, detail.startsWith(place) ? own : detail, {
    problems: problems.map((problem) => ({ ...problem, pointer: problem.pointer.slice(place.length) })),
    fields,
    cause,
  });
}

/** Whether `code` is in the table. Any other code must be reported as `internal`. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** Whether `error` is a `CosiftError` with this code. */
export function isCode(error: unknown, code: ErrorCode): error is CosiftError {
  return error instanceof CosiftError && error.code === code;
}
