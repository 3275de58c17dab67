import { FairLimiter } from '../async/fair-limiter.js';
import { CosiftError, isCode, type Problem } from '../errors.js';
import {
  DEFAULTS,
  defaultThreshold,
  MAP_POINTS,
  type MapRequest,
  type QueryRequest,
  type SearchRequest,
} from '../schema/index.js';
import type { MapOption, RecordStore, StoreSearchRequest } from '../store/record-store.js';
import { StaleError } from '../store/store-errors.js';
import type { PageOptions, PageReply } from './backend.js';
import type { CallerTurns } from './caller-turns.js';
import type { DatabaseEmbedder } from './database-embedder.js';
import type { DatabaseInfoCache } from './database-info-cache.js';

/** Answers searches and queries with a page each. */
export class PageReader {
  readonly #store: RecordStore;
  readonly #infos: DatabaseInfoCache;
  readonly #embedder: DatabaseEmbedder;
  readonly #turns: CallerTurns;
  // Searches share scans of the vectors, so many searches at once are faster than one after the other.
  readonly #searches = new FairLimiter({ total: 128, perCaller: 96 });
  readonly #queries = new FairLimiter({ total: 16, perCaller: 12 });

  constructor(store: RecordStore, infos: DatabaseInfoCache, embedder: DatabaseEmbedder, turns: CallerTurns) {
    this.#store = store;
    this.#infos = infos;
    this.#embedder = embedder;
    this.#turns = turns;
  }

  /** See `Backend.search`. */
  async search(id: string, request: SearchRequest & MapOption, options: PageOptions): Promise<PageReply> {
    const start = performance.now();
    const { search, pagination, ...rest } = request;
    for (;;) {
      const needs = needsMeaning(request);
      const { vector, fingerprint } =
        (needs ? this.#embedder.cachedQueryVector(id, search) : undefined) ??
        (await this.#embedder.queryVector(id, search, {
          needsMeaning: needs,
          caller: options.scope?.caller,
          stoppable: options,
        }));
      const embeddedAt = performance.now();
      const storeRequest = {
        form: options.form,
        threshold: search.threshold ?? defaultThreshold(search.lexical),
        lexical: lexicalOf(search),
        ...pagination,
        limit: pagination?.limit ?? DEFAULTS.limit,
        ...rest,
        forced_filter: options.scope?.forcedFilter,
        embedded_by: fingerprint,
      };
      try {
        const { body, searchMs } = await limited(this.#turns.of(id) ?? this.#searches, options, () =>
          this.#store.search(id, storeRequest, vector, options),
        );
        const timings = { embedMs: embeddedAt - start, searchMs, totalMs: performance.now() - start };
        return { body, timings };
      } catch (error) {
        // The database got another model after the text was embedded.
        if (!(error instanceof StaleError)) throw withVectorPointer(error, search);
        await this.#infos.refresh(id);
      }
    }
  }

  /** See `Backend.query`. */
  async query(id: string, request: QueryRequest & MapOption, options: PageOptions): Promise<PageReply> {
    const start = performance.now();
    const { pagination, ...rest } = request;
    const storeRequest = {
      form: options.form,
      ...pagination,
      limit: pagination?.limit ?? DEFAULTS.limit,
      ...rest,
      forced_filter: options.scope?.forcedFilter,
    };
    const { body, searchMs } = await limited(this.#turns.of(id) ?? this.#queries, options, () =>
      this.#store.query(id, storeRequest, options.signal),
    );
    return { body, timings: { embedMs: 0, searchMs, totalMs: performance.now() - start } };
  }

  /** See `Backend.map`. */
  async map(
    id: string,
    { search, columns = [], ...rest }: MapRequest,
    options: PageOptions,
  ): Promise<PageReply> {
    const request = { ...rest, map: { columns }, pagination: { limit: MAP_POINTS } };
    return search === undefined
      ? await this.query(id, request, options)
      : await this.search(id, { search, ...request }, options);
  }
}

/** Returns the words that a search takes into account; undefined for a search by meaning alone. */
function lexicalOf({ lexical = 0, text }: SearchRequest['search']): StoreSearchRequest['lexical'] {
  return lexical > 0 && text !== undefined ? { weight: lexical, text } : undefined;
}

/** Whether a response depends on the meaning of the text: with all the weight on words, only some members tell of it. */
function needsMeaning({ search, explain, passages, map }: SearchRequest & MapOption): boolean {
  return (search.lexical ?? 0) < 1 || explain === true || passages === true || map !== undefined;
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
