import { FairLimiter } from '../async/fair-limiter.js';
import type { Stoppable } from '../async/stoppable.js';
import { CosiftError, isCode, type Problem } from '../errors.js';
import {
  DEFAULTS,
  defaultThreshold,
  MAP_POINTS,
  type MapRequest,
  type QueryRequest,
  type SearchRequest,
} from '../schema/index.js';
import type { MapOption, RecordForm, RecordRequest, StoreSearchRequest } from '../store/record-store.js';
import { StaleError } from '../store/store-errors.js';
import type { QueryVector } from './database-embedder.js';
import type { Dependencies } from './dependencies.js';
import { type ExampleQuery, exampleQuery, positionOf } from './example-query.js';
import type { Scope, ScopedOptions } from './scope.js';

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
    const { store, infos, turns, calls } = this.#dependencies;
    return await calls.run(async () => {
      const start = performance.now();
      const { search, pagination, ...rest } = request;
      for (;;) {
        const { vector, fingerprint, ...query } = await this.#queryOf(id, request, options);
        const embeddedAt = performance.now();
        const storeRequest = {
          form: options.form,
          threshold: search.threshold ?? defaultThreshold(search.lexical),
          lexical: lexicalOf(search),
          ...query,
          ...pagination,
          cursor: positionOf(pagination?.cursor),
          limit: pagination?.limit ?? DEFAULTS.limit,
          ...rest,
          forced_filter: options.scope?.forcedFilter,
          embedded_by: fingerprint,
        };
        try {
          const { body, searchMs } = await limited(turns.of(id) ?? this.#searches, options, () =>
            store.search(id, storeRequest, vector, options),
          );
          const timings = { embedMs: embeddedAt - start, searchMs, totalMs: performance.now() - start };
          return { body, timings };
        } catch (error) {
          // The database got another model after the text was embedded.
          if (!(error instanceof StaleError)) throw withVectorPointer(error, search);
          await infos.refresh(id);
        }
      }
    });
  }

  async #queryOf(
    id: string,
    request: SearchRequest & MapOption,
    options: PageOptions,
  ): Promise<QueryVector | ExampleQuery> {
    const { search, pagination } = request;
    const { embedder } = this.#dependencies;
    if (search.like !== undefined) {
      const examples = { like: search.like, cursor: pagination?.cursor };
      return await exampleQuery(this.#dependencies, id, examples, options);
    }
    const needs = needsMeaning(request);
    const cached = needs ? embedder.cachedQueryVector(id, search) : undefined;
    const { scope } = options;
    return (
      cached ??
      (await embedder.queryVector(id, search, {
        needsMeaning: needs,
        caller: scope?.caller,
        stoppable: options,
      }))
    );
  }

  async query(id: string, request: QueryRequest & MapOption, options: PageOptions): Promise<PageReply> {
    const { store, turns, calls } = this.#dependencies;
    return await calls.run(async () => {
      const start = performance.now();
      const { pagination, ...rest } = request;
      const storeRequest = {
        form: options.form,
        ...pagination,
        limit: pagination?.limit ?? DEFAULTS.limit,
        ...rest,
        forced_filter: options.scope?.forcedFilter,
      };
      const { body, searchMs } = await limited(turns.of(id) ?? this.#queries, options, () =>
        store.query(id, storeRequest, options.signal),
      );
      return { body, timings: { embedMs: 0, searchMs, totalMs: performance.now() - start } };
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

/** Returns the words that a search takes into account; undefined for a search by meaning alone. */
function lexicalOf({ lexical = 0, text, like }: SearchRequest['search']): StoreSearchRequest['lexical'] {
  // Examples have no words.
  const words = like === undefined ? text : '';
  return lexical > 0 && words !== undefined ? { weight: lexical, text: words } : undefined;
}

/** Whether a response depends on the meaning of the text: with all the weight on words, only some members tell of it. */
function needsMeaning({ search, explain, passages, map }: SearchRequest & MapOption): boolean {
  return (search.lexical ?? 0) < 1 || explain === true || passages === true || map === true;
}

/** Returns the error with a pointer to the vector of the search, if it is about that. */
function withVectorPointer(error: unknown, { vector }: SearchRequest['search']): unknown {
  if (vector === undefined || !isCode(error, 'invalid_vector') || error.problems.length > 0) return error;
  const problem: Problem = { pointer: '/search/vector', code: 'invalid_vector', detail: error.detail };
  return new CosiftError('invalid_vector', error.detail, { problems: [problem], cause: error });
}

/** Asks the store once the limiter lets the caller run, so that few unsent responses are in memory. */
function limited<T>(limiter: FairLimiter, options: PageOptions, ask: () => Promise<T>): Promise<T> {
  const call = () => {
    options.check?.();
    return ask();
  };
  return limiter.run(options.scope?.caller ?? '', call, options);
}
