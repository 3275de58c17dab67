import { FairLimiter } from '../async/fair-limiter.js';
import { allowAnyNumber } from '../async/linked-abort.js';
import type { Stoppable } from '../async/stoppable.js';
import { besideErrors, CosiftError, isCode, refusalOf } from '../errors.js';
import {
  DEFAULTS,
  MAP_POINTS,
  type MapRequest,
  type QueryRequest,
  type SearchRequest,
} from '../schema/index.js';
import type {
  DatabaseInfo,
  MapOption,
  RecordForm,
  RecordRequest,
  StoreSearch,
  StoreSearchRequest,
} from '../store/record-store.js';
import { StaleError } from '../store/store-errors.js';
import type { QueryVector } from './database-embedder.js';
import type { Dependencies } from './dependencies.js';
import { type ExampleQuery, exampleQuery } from './example-query.js';
import type { Scope, ScopedOptions } from './scope.js';
import { type CompleteSearch, completeSearch } from './search-defaults.js';

export interface PageOptions extends ScopedOptions, Pick<Stoppable, 'isStopped'> {
  form: RecordForm;
  /** Called right before the call to the store. An error that `check` throws ends the call. */
  check?: () => void;
}

export type RecordOptions = Pick<RecordRequest, 'form' | 'vectors'>;

export interface PageReply {
  /** The response body: one page as JSON. */
  body: Uint8Array;
  /** Milliseconds. */
  timings: { embedMs: number; searchMs: number; totalMs: number };
}

export interface PagesReply extends Pick<PageReply, 'timings'> {
  /** For each search, the JSON of its page or its error. */
  pages: (Uint8Array | CosiftError)[];
}

/** Reads single records, and answers searches and queries with a page each. */
export class RecordReader {
  readonly #dependencies: Dependencies;
  // Searches share scans of the vectors, so many searches at once are faster than one after the other.
  readonly #searches = new FairLimiter({ total: 128, perCaller: 96 });
  readonly #queries = new FairLimiter({ total: 16, perCaller: 12 });

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the JSON of one record; `recordId` is an integer, a UUID or `key:` and a key. */
  async record(id: string, recordId: string, options: RecordOptions, scope: Scope): Promise<Uint8Array> {
    const { store, turns, calls } = this.#dependencies;
    const request = { ...options, forced_filter: scope.forcedFilter };
    return await calls.run(() => turns.run(id, scope.caller, () => store.record(id, recordId, request)));
  }

  async search(id: string, request: SearchRequest & MapOption, options: PageOptions): Promise<PageReply> {
    const { pages, timings } = await this.searches(id, [request], options);
    const [body] = pages as [Uint8Array | CosiftError];
    if (body instanceof CosiftError) throw body;
    return { body, timings };
  }

  /** Answers searches from one moment. A search that is not valid leaves the others. */
  async searches(
    id: string,
    requests: readonly (SearchRequest & MapOption)[],
    options: PageOptions,
  ): Promise<PagesReply> {
    const { store, infos, turns, limits, calls } = this.#dependencies;
    return await calls.run(async () => {
      const start = performance.now();
      // The text of each search may wait for the model.
      if (requests.length > 1 && options.signal !== undefined) allowAnyNumber(options.signal);
      // The pages of a response share its size.
      const pageBytes = Math.floor(limits.page_bytes / requests.length);
      for (;;) {
        let searchMs = 0;
        const { defaults } = infos.cached(id) ?? (await infos.get(id));
        const { form, scope } = options;
        try {
          const complete = requests.map((request) => completeOf(request, defaults));
          const queries = await Promise.all(complete.map((search) => this.#queryOf(id, search, options)));
          const searches = queries.map((query, at) =>
            query instanceof CosiftError
              ? query
              : storeSearch(complete[at] as CompleteSearch, query, { defaults, pageBytes, form, scope }),
          );
          const embeddedAt = performance.now();
          const pages = await besideErrors(searches, async (valid: StoreSearch[]) => {
            if (valid.length === 0) return [];
            const found = await limited(turns.of(id), this.#searches, valid.length, options, () =>
              store.searches(id, valid, options),
            );
            searchMs = found.searchMs;
            return found.pages;
          });
          const timings = { embedMs: embeddedAt - start, searchMs, totalMs: performance.now() - start };
          return { pages: pages.map((page, at) => withOwnPointer(page, requests[at])), timings };
        } catch (error) {
          // The database got another model after the texts were embedded, or other defaults.
          if (!(error instanceof StaleError)) throw error;
          await infos.refresh(id);
        }
      }
    });
  }

  /** Returns the query of a search, or why the search has none. */
  #queryOf(
    id: string,
    complete: CompleteSearch | CosiftError,
    options: PageOptions,
  ): QueryVector | CosiftError | Promise<QueryVector | ExampleQuery | CosiftError> {
    if (complete instanceof CosiftError) return complete;
    const { request } = complete;
    const { search, pagination } = request;
    const { embedder } = this.#dependencies;
    if (search.like !== undefined) {
      const examples = { like: search.like, cursor: pagination.cursor };
      return exampleQuery(this.#dependencies, id, examples, options).catch(refusalOf);
    }
    const needs = needsMeaning(request);
    const cached = needs ? embedder.cachedQueryVector(id, search) : undefined;
    if (cached !== undefined) return cached;
    const caller = options.scope?.caller;
    return embedder
      .queryVector(id, search, { needsMeaning: needs, caller, stoppable: options })
      .catch(refusalOf);
  }

  async query(id: string, request: QueryRequest & MapOption, options: PageOptions): Promise<PageReply> {
    const { store, infos, turns, calls } = this.#dependencies;
    return await calls.run(async () => {
      const start = performance.now();
      const { pagination, ...rest } = request;
      for (;;) {
        const { defaults } = infos.cached(id) ?? (await infos.get(id));
        const storeRequest = {
          form: options.form,
          ...pagination,
          limit: pagination?.limit ?? defaults?.limit ?? DEFAULTS.limit,
          ...rest,
          forced_filter: options.scope?.forcedFilter,
          defaults,
        };
        try {
          const { body, searchMs } = await limited(turns.of(id), this.#queries, 1, options, () =>
            store.query(id, storeRequest, options.signal),
          );
          return { body, timings: { embedMs: 0, searchMs, totalMs: performance.now() - start } };
        } catch (error) {
          // The database got other defaults.
          if (!(error instanceof StaleError)) throw error;
          await infos.refresh(id);
        }
      }
    });
  }

  /** Returns the JSON of a `Points`. */
  async map(
    id: string,
    { search, columns = [], ...rest }: MapRequest,
    options: PageOptions,
  ): Promise<PageReply> {
    const request = { ...rest, columns, map: true, pagination: { limit: MAP_POINTS } };
    return search === undefined
      ? await this.query(id, request, options)
      : await this.search(id, { search, ...request }, options);
  }
}

/** Returns a complete search, or the error of one that is not valid. */
function completeOf(...search: Parameters<typeof completeSearch>): CompleteSearch | CosiftError {
  try {
    return completeSearch(...search);
  } catch (error) {
    return refusalOf(error);
  }
}

/** Returns the words that a search takes into account; undefined for a search by meaning alone. */
function lexicalOf({
  lexical = 0,
  prefix,
  text,
  like,
}: SearchRequest['search']): StoreSearchRequest['lexical'] {
  // Examples have no words.
  const words = like === undefined ? text : '';
  return lexical > 0 && words !== undefined ? { weight: lexical, text: words, prefix } : undefined;
}

/** Whether a response depends on the meaning of the text: with all the weight on words, only some members tell of it. */
function needsMeaning({ search, explain, passages, map }: SearchRequest & MapOption): boolean {
  return (search.lexical ?? 0) < 1 || explain === true || (passages ?? false) !== false || map === true;
}

function storeSearch(
  { request: { search, pagination, ...rest }, suffix }: CompleteSearch,
  { vector, fingerprint, ...query }: QueryVector | ExampleQuery,
  {
    form,
    scope,
    defaults,
    pageBytes,
  }: Pick<PageOptions, 'form' | 'scope'> & Pick<DatabaseInfo, 'defaults'> & { pageBytes: number },
): StoreSearch {
  const cursorSuffix = ('cursor_suffix' in query ? query.cursor_suffix : '') + suffix;
  const request = {
    form,
    threshold: search.threshold as number,
    lexical: lexicalOf(search),
    boosts: search.boosts,
    ...pagination,
    ...query,
    ...(cursorSuffix !== '' && { cursor_suffix: cursorSuffix }),
    page_bytes: pageBytes,
    defaults,
    ...rest,
    forced_filter: scope?.forcedFilter,
    embedded_by: fingerprint,
  };
  return { request, vector };
}

/** Returns the error with a pointer to the member of the request that it is about; anything else as it is. */
function withOwnPointer<T>(outcome: T, request: (SearchRequest & MapOption) | undefined): T | CosiftError {
  const { search, pagination } = request ?? {};
  if (search?.vector !== undefined && isCode(outcome, 'invalid_vector') && outcome.problems.length === 0) {
    return ofMember(outcome, 'invalid_vector', '/search/vector', outcome.detail);
  }
  const isOfDefault = pagination?.cursor !== undefined && search?.lexical === undefined;
  const isOfWords = isCode(outcome, 'invalid_request') && outcome.problems[0]?.pointer === '/search/lexical';
  if (!isOfDefault || !isOfWords) return outcome;
  const detail = 'is of a search for words that the database no longer indexes; begin again without it';
  return ofMember(outcome, 'invalid_cursor', '/pagination/cursor', detail);
}

function ofMember(
  cause: CosiftError,
  code: 'invalid_vector' | 'invalid_cursor',
  pointer: string,
  detail: string,
): CosiftError {
  const kind = code === 'invalid_vector' ? 'invalid_vector' : 'invalid_value';
  return new CosiftError(code, detail, { problems: [{ pointer, code: kind, detail }], cause });
}

/**
 * Asks the store once a limiter lets the caller run, so that few unsent responses are in memory: `turns`, where a call takes
 * one of the connections of the store, or `places`, of which a call takes as many as it has requests.
 */
function limited<T>(
  turns: FairLimiter | undefined,
  places: FairLimiter,
  requests: number,
  options: PageOptions,
  ask: () => Promise<T>,
): Promise<T> {
  const call = () => {
    options.check?.();
    return ask();
  };
  const caller = options.scope?.caller ?? '';
  return turns === undefined ? places.run(caller, call, options, requests) : turns.run(caller, call, options);
}
