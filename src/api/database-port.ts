import type { CosiftError } from '../errors.js';
import type {
  BatchResult,
  Changes,
  DatabaseDescription,
  LineEvent,
  MapRequest,
  NewRecord,
  QueryRequest,
  Reembedding,
  SearchRequest,
} from '../schema/public-types.js';
import type { CheckedRequest } from './checked-copy.js';
import type { CallOptions, ChangesRequest, MaxDeletes, UpsertOptions } from './options.js';

/** The requests that are answered with records. */
export interface PageRequests {
  search: SearchRequest;
  query: QueryRequest;
  map: MapRequest;
}

/** The calls on one database that `Database` consists of: in this process, or over HTTP. */
export interface DatabasePort {
  describe(options: CallOptions): Promise<DatabaseDescription>;
  configure(changes: CheckedRequest<object>, options: CallOptions): Promise<DatabaseDescription>;
  drop(options: CallOptions): Promise<void>;
  upsert(records: Iterable<NewRecord>, options: UpsertOptions | undefined): Promise<BatchResult>;
  upsertLines(chunks: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterable<LineEvent>;
  /** Yields the events of an upsert; the summary says how many records were deleted. */
  replaceLines(
    chunks: AsyncIterable<Uint8Array>,
    options: CallOptions & MaxDeletes,
  ): AsyncIterable<LineEvent>;
  exportLines(
    request: CheckedRequest<object>,
    vectors: boolean,
    options: CallOptions,
  ): AsyncIterable<Uint8Array>;
  /** Returns the parsed response. */
  page<Kind extends keyof PageRequests>(
    kind: Kind,
    request: CheckedRequest<PageRequests[Kind]>,
    options: CallOptions,
  ): Promise<unknown>;
  /** Returns the parsed page of each search, or its error. */
  searches(
    requests: readonly CheckedRequest<SearchRequest>[],
    options: CallOptions,
  ): Promise<(object | CosiftError)[]>;
  record(id: number | string, vectors: boolean, options: CallOptions): Promise<unknown>;
  patch(id: number | string, patch: CheckedRequest<object>, options: CallOptions): Promise<unknown>;
  delete(request: CheckedRequest<object>, options: CallOptions): Promise<{ deleted: number }>;
  changes(request: ChangesRequest, options: CallOptions): Promise<Changes>;
  startReembedding(model: string): Promise<Reembedding>;
  reembedding(options: CallOptions): Promise<Reembedding>;
  cancelReembedding(options: CallOptions): Promise<void>;
}
