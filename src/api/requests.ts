import { CosiftError, type ErrorCode, type Problem, refusalOf } from '../errors.js';
import { MAX_SEARCHES } from '../schema/limits.js';
import { checkMembers, checkOptions, optionOf, SEARCH_QUERY } from '../schema/options.js';
import { isPlain, nameOf } from '../schema/plain.js';
import type {
  DeleteRequest,
  EmbeddingsRequest,
  Filter,
  FilterGroup,
  MapRequest,
  QueryRequest,
  RecordPatch,
  SearchRequest,
} from '../schema/public-types.js';
import { callOptions } from './call-options.js';
import { type CheckedRequest, checkedRequest } from './checked-copy.js';
import type {
  CallOptions,
  DeleteOptions,
  ExportOptions,
  MapOptions,
  Query,
  QueryOptions,
  SearchOptions,
} from './options.js';

/** A call in the form in which a service takes it. */
export interface Call<Request> {
  checked: CheckedRequest<Request>;
  signal: AbortSignal | undefined;
  /** Runs `ask`. Its error names the arguments of the caller in place of the members of the request. */
  run<T>(ask: (request: CheckedRequest<Request>, options: CallOptions) => Promise<T>): Promise<T>;
  /** Returns an error that names the arguments of the caller. */
  named(error: unknown): unknown;
}

/** Pointers to members of a request, and to the arguments that they come from. The first that fits counts. */
type ArgumentNames = readonly (readonly [member: string, argument: string])[];

/** How the caller names what a request consists of. */
interface Names {
  /** The argument that is the whole request. */
  whole: string;
  members?: ArgumentNames;
}

type QueryOption = 'query' | 'search';
type Boosts = readonly { weight: number; filter?: unknown }[] | undefined;

/** @throws {CosiftError} `invalid_request` for options that are unknown or have values that are not allowed. */
export function searchCall<T>(
  query: Query,
  options: SearchOptions<T> = {},
  option: QueryOption = 'query',
): Call<SearchRequest> {
  checkOptions('search', options);
  const { filter, threshold, lexical, prefix, boosts, timeRange, limit, cursor, signal, ...extras } = options;
  const search = { ...queryOf(query, option), threshold, lexical, prefix, boosts: boostsOf(boosts) };
  const pagination = { limit, cursor };
  const request = { search, filter, time_range: timeRange, pagination, ...extras };
  return selectingCall(request, signal, namesOf(query, option, boosts));
}

/**
 * Returns the calls of a batch of searches, or the error of a search that is not valid.
 *
 * @throws {CosiftError} `invalid_request` for an argument that is no array, or has too many searches or none.
 */
export function batchCalls<T>(
  searches: readonly ({ search: Query } & SearchOptions<T>)[],
): (Call<SearchRequest> | CosiftError)[] {
  const isBatch = Array.isArray(searches) && searches.length >= 1 && searches.length <= MAX_SEARCHES;
  if (!isBatch) {
    const given = Array.isArray(searches) ? `has ${searches.length} searches` : `is ${nameOf(searches)}`;
    const detail = `${given}, must be an array of 1 to ${MAX_SEARCHES} searches`;
    throw refused('invalid_request', '/searches', 'searches', detail);
  }
  // Not `map`, which leaves out the holes of an array.
  return Array.from(searches, (given) => {
    try {
      checkOptions('batchSearch', given);
      const { search, ...options } = given;
      return searchCall(search, options, 'search');
    } catch (error) {
      return refusalOf(error);
    }
  });
}

export function queryCall<T>(options: QueryOptions<T> = {}): Call<QueryRequest> {
  checkOptions('query', options);
  const { filter, timeRange, limit, cursor, signal, ...extras } = options;
  return selectingCall({ filter, time_range: timeRange, pagination: { limit, cursor }, ...extras }, signal);
}

export function mapCall<T>(options: MapOptions<T> = {}): Call<MapRequest> {
  checkOptions('map', options);
  const { search: query, threshold, lexical, prefix, boosts, filter, timeRange, columns, signal } = options;
  // Weights without anything to search for are sent, too, so that the schema refuses them.
  const isSearch = [query, threshold, lexical, prefix, boosts].some((value) => value !== undefined);
  const text = query === undefined ? {} : queryOf(query, 'search');
  const search = isSearch ? { ...text, threshold, lexical, prefix, boosts: boostsOf(boosts) } : undefined;
  const names = namesOf(query, 'search', boosts);
  return selectingCall({ search, filter, time_range: timeRange, columns }, signal, names);
}

export function deleteCall<T>(options: DeleteOptions<T>): Call<DeleteRequest> {
  checkOptions('delete', options);
  const { ids, filter, timeRange, signal } = options;
  return selectingCall({ ids, filter, time_range: timeRange }, signal);
}

export function exportCall<T>(
  options: ExportOptions<T> = {},
): Call<{ filter?: FilterGroup }> & { vectors: boolean } {
  checkOptions('export', options);
  const { filter, vectors = false, signal } = options;
  return { ...selectingCall<{ filter?: FilterGroup }>({ filter }, signal), vectors };
}

/**
 * @throws {CosiftError} `invalid_record` for changes that are no plain object, and for a value that JSON cannot
 * represent.
 */
export function patchCall(
  changes: unknown,
  options: CallOptions & { ifChangedAt?: string | undefined } = {},
): Call<RecordPatch> {
  checkOptions('patch', options);
  const { ifChangedAt, signal } = options;
  if (!isPlain(changes)) {
    throw refused('invalid_record', '/data', 'changes', `is ${nameOf(changes)}, must be a plain object`);
  }
  const members: ArgumentNames = ifChangedAt === undefined ? [] : [['/if_changed_at', '/ifChangedAt']];
  const patch = { data: changes, if_changed_at: ifChangedAt };
  return callOf(patch, { whole: 'the changes', members, signal }, () => 'invalid_record');
}

export function embedCall(
  texts: readonly string[],
  options: CallOptions & Pick<EmbeddingsRequest, 'model' | 'kind'> = {},
): Call<EmbeddingsRequest> {
  checkOptions('embed', options);
  const { model, kind, signal } = options;
  if (!Array.isArray(texts)) {
    throw refused('invalid_request', '/texts', 'texts', `is ${nameOf(texts)}, must be an array of texts`);
  }
  const request = { input: texts, model, kind, encoding_format: 'base64' } as const;
  return callOf(request, { whole: 'the texts', members: [['/input', '/texts']], signal });
}

/** A call with a request that is sent as it is. `whole` is the name of the argument. */
export function requestCall<Request>(request: Request, whole: string, options?: CallOptions): Call<Request> {
  return callOf(request, { whole, ...callOptions(options) });
}

export function settingsCall(settings: object | undefined, options: CallOptions | undefined): Call<object> {
  return requestCall(settings === undefined ? {} : settings, 'the settings', options);
}

/** The text, the vector or the examples of a search, which `option` of the caller has. */
function queryOf(query: Query, option: QueryOption): object {
  if (typeof query === 'string') return { text: query };
  if (!isPlain(query)) {
    const detail = `is ${nameOf(query)}, must be a text, or an object with a vector or examples`;
    throw refused('invalid_request', `/${option}`, option, detail);
  }
  checkMembers(SEARCH_QUERY, query, `/${option}`);
  return query;
}

function namesOf(query: Query | undefined, option: QueryOption, boosts: Boosts): ArgumentNames {
  const ofRules = Array.isArray(boosts)
    ? boosts.flatMap((boost, at): ArgumentNames => {
        const place = `/boosts/${at}/filter`;
        return isRule(boost?.filter) ? [[`/search${place}/rules/0`, place]] : [];
      })
    : [];
  return [
    ...ofRules,
    ['/search/threshold', '/threshold'],
    ['/search/lexical', '/lexical'],
    ['/search/prefix', '/prefix'],
    ['/search/boosts', '/boosts'],
    ...(typeof query === 'string' ? ([['/search/text', `/${option}`]] as const) : []),
    ['/search', `/${option}`],
  ];
}

function selectingCall<Request>(
  request: { filter?: unknown; [member: string]: unknown },
  signal: AbortSignal | undefined,
  names: ArgumentNames = [],
): Call<Request> {
  const { filter } = request;
  const members: ArgumentNames = [
    ...names,
    ['/time_range', '/timeRange'],
    ['/pagination', ''],
    ...(isRule(filter) ? ([['/filter/rules/0', '/filter']] as const) : []),
  ];
  const whole = { ...request, filter: grouped(filter) };
  return callOf(whole as Request, { whole: 'the options', members, signal });
}

function callOf<Request>(
  request: Request,
  { signal, ...names }: Names & CallOptions,
  codeOf?: (problems: readonly Problem[]) => ErrorCode,
): Call<Request> {
  signal?.throwIfAborted();
  const named = (error: unknown) => withArguments(error, names);
  try {
    const checked = checkedRequest(request, names.whole, codeOf);
    return {
      checked,
      signal,
      run: (ask) => ask(checked, { signal }).catch((error) => Promise.reject(named(error))),
      named,
    };
  } catch (error) {
    throw named(error);
  }
}

/** A filter in the form in which a service takes it; any other value as it is. */
function grouped(filter: unknown): unknown {
  return isRule(filter) ? { rules: [filter] } : filter;
}

/** The boosts with their filters in the form in which a service takes them. */
function boostsOf(boosts: Boosts): unknown {
  if (!Array.isArray(boosts)) return boosts;
  return Array.from(boosts, (boost) => {
    if (!isPlain(boost) || !('filter' in boost)) return boost;
    const { filter, ...rest } = boost;
    return { ...rest, filter: grouped(filter) };
  });
}

function isRule(filter: unknown): boolean {
  return typeof filter === 'object' && filter !== null && !isGroup(filter);
}

export function asGroup(filter: Filter): FilterGroup {
  return isGroup(filter) ? filter : { rules: [filter] };
}

/** A condition in a rule does not make a group of it, as in the schema. */
function isGroup(filter: object): filter is FilterGroup {
  return 'rules' in filter || ('condition' in filter && !('column' in filter || 'operator' in filter));
}

function refused(
  code: 'invalid_record' | 'invalid_request',
  pointer: string,
  argument: string,
  detail: string,
): CosiftError {
  const problems: Problem[] = [{ pointer, code: 'wrong_type', detail }];
  return new CosiftError(code, `${argument}: ${detail}`, { problems });
}

const BODY = /^the (?:body|search) (is larger than )?/;
const TIME_RANGE = '"time_range"';

/** Returns the error with the names of arguments in place of the members of the request. */
function withArguments(error: unknown, { whole, members = [] }: Names): unknown {
  if (!(error instanceof CosiftError)) return error;
  const argumentOf = (pointer: string) => {
    const found = members.find(([member]) => pointer === member || pointer.startsWith(`${member}/`));
    return found === undefined ? pointer : found[1] + pointer.slice(found[0].length);
  };
  const named = (detail: string) =>
    members.length > 0 ? detail.replaceAll(TIME_RANGE, '"timeRange"') : detail;
  const [first] = error.problems;
  const prefix = `${first?.pointer}: `;
  const detail =
    members.length > 0 && first?.pointer && error.detail.startsWith(prefix)
      ? `${optionOf(argumentOf(first.pointer))}: ${error.detail.slice(prefix.length)}`
      : error.detail.replace(BODY, (_, size) => `${whole}: ${size === undefined ? '' : 'more than '}`);
  return new CosiftError(error.code, named(detail), {
    problems: error.problems.map((problem) => {
      return { ...problem, pointer: argumentOf(problem.pointer), detail: named(problem.detail) };
    }),
    fields: error.fields,
    cause: error.cause,
  });
}
