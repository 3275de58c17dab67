import { CosiftError } from '../errors.js';
import { checkOptions, optionOf } from '../schema/options.js';
import type { Filter, FilterGroup, MapRequest, QueryRequest, SearchRequest } from '../schema/public-types.js';
import type {
  DeleteOptions,
  ExportOptions,
  MapOptions,
  Query,
  QueryOptions,
  SearchOptions,
} from './options.js';
import { type CheckedRequest, checkedRequest } from './request-values.js';
import { valuesOf } from './vectors.js';

/** The members of a request whose options have other names. */
const OPTION_NAMES = [
  ['/search', ''],
  ['/time_range', '/timeRange'],
  ['/pagination', ''],
] as const;

/** A call in the form in which a service takes it. */
export interface Call<Request> {
  checked: CheckedRequest<Request>;
  signal: AbortSignal | undefined;
  /** Runs `ask`. The pointers of its error lead into the options of the caller. */
  run<T>(ask: () => Promise<T>): Promise<T>;
  /** Returns an error whose pointers lead into the options of the caller. */
  withPointers(error: unknown): unknown;
}

/** @throws {CosiftError} `invalid_request` for options that are unknown or have values that are not allowed. */
export function searchCall<T>(query: Query, options: SearchOptions<T> = {}): Call<SearchRequest> {
  checkOptions('search', options);
  const { filter, threshold, lexical, timeRange, limit, cursor, signal, ...extras } = options;
  const search = { ...queryOf(query), threshold, lexical };
  return callOf({ search, filter, time_range: timeRange, pagination: { limit, cursor }, ...extras }, signal);
}

export function queryCall<T>(options: QueryOptions<T> = {}): Call<QueryRequest> {
  checkOptions('query', options);
  const { filter, timeRange, limit, cursor, signal, ...extras } = options;
  return callOf({ filter, time_range: timeRange, pagination: { limit, cursor }, ...extras }, signal);
}

export function mapCall<T>(options: MapOptions<T> = {}): Call<MapRequest> {
  checkOptions('map', options);
  const { search: query, threshold, lexical, filter, timeRange, columns, signal } = options;
  const search = query === undefined ? undefined : { ...queryOf(query), threshold, lexical };
  return callOf({ search, filter, time_range: timeRange, columns }, signal);
}

export function deleteCall<T>(options: DeleteOptions<T>): Call<object> {
  checkOptions('delete', options);
  const { ids, filter, timeRange, signal } = options;
  return callOf({ ids, filter, time_range: timeRange }, signal);
}

export function exportCall<T>(
  options: ExportOptions<T> = {},
): Call<{ filter?: FilterGroup }> & { vectors: boolean } {
  checkOptions('export', options);
  const { filter, vectors = false, signal } = options;
  return { ...callOf<{ filter?: FilterGroup }>({ filter }, signal), vectors };
}

/** The text or the vector of a search. JSON would write a typed array as an object. */
function queryOf(query: Query): object {
  if (typeof query === 'string') return { text: query };
  if (!isObject(query)) {
    const detail = `is ${query === null ? 'null' : typeof query}, must be a text, or an object with a vector`;
    const problem = { pointer: '/query', code: 'wrong_type', detail } as const;
    throw new CosiftError('invalid_request', `query: ${detail}`, { problems: [problem] });
  }
  checkOptions('searchQuery', query);
  const vector: unknown = query.vector;
  return ArrayBuffer.isView(vector) ? { ...query, vector: valuesOf(vector) } : query;
}

function callOf<Request>(
  request: { filter?: unknown; [member: string]: unknown },
  signal: AbortSignal | undefined,
): Call<Request> {
  const { filter } = request;
  const isRule = isObject(filter) && !isGroup(filter);
  const whole = isRule ? { ...request, filter: { rules: [filter] } } : request;
  const toOption = (pointer: string) => {
    const given = isRule ? pointer.replace(/^\/filter\/rules\/0/, '/filter') : pointer;
    const found = OPTION_NAMES.find(([member]) => given === member || given.startsWith(`${member}/`));
    return found === undefined ? given : found[1] + given.slice(found[0].length);
  };
  const renamed = (error: unknown) => withPointers(error, toOption);
  signal?.throwIfAborted();
  try {
    const checked = checkedRequest(whole) as unknown as CheckedRequest<Request>;
    const run = <T>(ask: () => Promise<T>) => ask().catch((error) => Promise.reject(renamed(error)));
    return { checked, signal, run, withPointers: renamed };
  } catch (error) {
    throw renamed(error);
  }
}

/** Returns a filter as a group of rules. */
export function asGroup(filter: Filter): FilterGroup {
  return isGroup(filter) ? filter : { rules: [filter] };
}

/** A condition in a rule does not make a group of it, as in the schema. */
function isGroup(filter: object): filter is FilterGroup {
  return 'rules' in filter || ('condition' in filter && !('column' in filter || 'operator' in filter));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns the error with pointers to options, which its text names. */
function withPointers(error: unknown, toOption: (pointer: string) => string): unknown {
  if (!(error instanceof CosiftError) || error.problems.length === 0) return error;
  const [first] = error.problems;
  const prefix = `${first?.pointer}: `;
  const detail = error.detail.startsWith(prefix)
    ? `${optionOf(toOption(first?.pointer ?? ''))}: ${error.detail.slice(prefix.length)}`
    : error.detail;
  return new CosiftError(error.code, detail, {
    problems: error.problems.map((problem) => ({ ...problem, pointer: toOption(problem.pointer) })),
    fields: error.fields,
    cause: error,
  });
}
