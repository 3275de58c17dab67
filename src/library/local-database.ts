import { copied } from '../api/copied.js';
import { exportCall } from '../api/export-call.js';
import { follow } from '../api/follow.js';
import type {
  CallOptions,
  ChangesRequest,
  Database,
  DataToWrite,
  ExportOptions,
  FollowRequest,
  LineChunks,
  PageOptions,
  PointOf,
  RecordById,
  RecordOf,
  RecordSource,
  ReembedOptions,
  ResultOf,
  SearchOptions,
  UpsertLinesOptions,
  UpsertOptions,
} from '../api/index.js';
import { bytesOf } from '../api/line-chunks.js';
import { paginate } from '../api/paginate.js';
import { checkChanges } from '../api/record-values.js';
import { reembed } from '../api/reembed.js';
import { searchAll } from '../api/search-all.js';
import { type SearchCall, searchCall, withGroup } from '../api/search-call.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import { requestWithArrayVector } from '../api/vectors.js';
import { withProgress } from '../api/with-progress.js';
import { unlessAborted } from '../async/until-aborted.js';
import type { Backend } from '../backend/index.js';
import { isCode } from '../errors.js';
import {
  type BatchResult,
  type Change,
  type Changes,
  type ColumnChanges,
  type Columns,
  checkDeleteRequest,
  checkExportFilter,
  checkMapRequest,
  checkOptions,
  checkQueryRequest,
  checkSearchRequest,
  type Data,
  type DatabaseDescription,
  DEFAULTS,
  type DeleteRequest,
  type LineEvent,
  type MapRequest,
  type NewRecord,
  type Page,
  type Points,
  parseJson,
  type QueryRequest,
  type Reembedding,
  type SearchRequest,
  type Variant,
} from '../schema/index.js';
import { checkCall } from './call.js';
import { checkRequest } from './check-request.js';

/** One database of this process. Methods without a comment do what {@link Database} says. */
export class LocalDatabase<T extends Columns<T> = Data> implements Database<T> {
  readonly id: string;
  readonly #backend: Backend;

  /** @internal Made by `Cosift`. */
  constructor(backend: Backend, id: string) {
    this.#backend = backend;
    this.id = id;
  }

  async describe(options: CallOptions = {}): Promise<DatabaseDescription> {
    checkCall(options);
    return unlessAborted(this.#backend.describeDatabase(this.id), options.signal);
  }

  async drop(options: CallOptions = {}): Promise<void> {
    checkCall(options);
    await unlessAborted(this.#backend.dropDatabase(this.id), options.signal);
  }

  /** A close waits until all records of an array are written; any other source is read no further. */
  async upsert<Given extends Columns<Given> = T>(
    records: RecordSource<NewRecord<DataToWrite<T, Given>>>,
    options: UpsertOptions = {},
  ): Promise<BatchResult> {
    return this.#backend.runUpsert(records as Iterable<NewRecord>, (records, upsertBatch) =>
      upsertInBatches(records, options, { vectorsApart: true }, async ({ json, vectors }, signal) =>
        parseJson(await upsertBatch(this.id, json, { signal, ...(vectors && { vectors }) })),
      ),
    );
  }

  upsertLines(chunks: LineChunks, options: UpsertLinesOptions = {}): AsyncIterable<LineEvent> {
    checkOptions('upsert', options);
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    const events = this.#backend.upsertLines(this.id, bytesOf(chunks), { signal });
    return withProgress(events, { onProgress });
  }

  exportLines(options: ExportOptions<T> = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#exportLines(copied(options));
  }

  async search<V extends Variant = 'integer', Query extends string | object = string | SearchRequest<T>>(
    query: Query extends string ? Query : SearchRequest<T>,
    options?: Query extends string ? SearchOptions<T, V> : PageOptions<V>,
  ): Promise<Page<ResultOf<V, T>>> {
    return this.#search(searchCall(query, options));
  }

  searchAll<V extends Variant = 'integer', Query extends string | object = string | SearchRequest<T>>(
    query: Query extends string ? Query : SearchRequest<T>,
    options?: Query extends string ? SearchOptions<T, V> : PageOptions<V>,
  ): AsyncGenerator<ResultOf<V, T>, void, undefined> {
    return searchAll<T, V, ResultOf<V, T>>(query, options, (call: SearchCall<V>) => this.#search<V>(call));
  }

  async query<V extends Variant = 'integer'>(
    request: QueryRequest<T, V> = {},
    options: PageOptions<V> = {},
  ): Promise<Page<RecordOf<V, T>>> {
    checkOptions('page', options);
    const { variant = 'integer', signal } = options;
    const grouped = withGroup(request as unknown as QueryRequest);
    try {
      signal?.throwIfAborted();
      const checked = checkQueryRequest(checkRequest(grouped.request), variant);
      return parseJson((await this.#backend.query(this.id, checked, { variant, signal })).body);
    } catch (error) {
      throw grouped.asGiven(error);
    }
  }

  async map<V extends Variant = 'integer'>(
    request: MapRequest<T> = {},
    options: PageOptions<V> = {},
  ): Promise<Points<PointOf<V, T>>> {
    checkOptions('page', options);
    const { variant = 'integer', signal } = options;
    const grouped = withGroup(requestWithArrayVector(request as unknown as MapRequest));
    try {
      signal?.throwIfAborted();
      const checked = checkMapRequest(checkRequest(grouped.request), variant);
      return parseJson((await this.#backend.map(this.id, checked, { variant, signal })).body);
    } catch (error) {
      throw grouped.asGiven(error);
    }
  }

  queryAll<V extends Variant = 'integer'>(
    request: QueryRequest<T, V> = {},
    options?: PageOptions<V>,
  ): AsyncGenerator<RecordOf<V, T>, void, undefined> {
    const given = copied(options);
    return paginate(copied(request), (request) => this.query<V>(request, given), given?.signal);
  }

  async get<Id extends number | string>(
    id: Id,
    options: CallOptions = {},
  ): Promise<RecordById<Id, T> | undefined> {
    checkOptions('record', { id });
    checkCall(options);
    const variant = typeof id === 'number' ? 'integer' : 'uuid';
    try {
      const read = this.#backend.record(this.id, String(id), variant, {});
      return parseJson(await unlessAborted(read, options.signal));
    } catch (error) {
      if (isCode(error, 'record_not_found')) return undefined;
      throw error;
    }
  }

  async patch<Id extends number | string, Given extends Columns<Given> = Data>(
    id: Id,
    changes: ColumnChanges<T, Given>,
    options: CallOptions = {},
  ): Promise<RecordById<Id, T>> {
    checkOptions('record', { id });
    checkCall(options);
    checkChanges(changes);
    const body = Buffer.from(JSON.stringify({ data: changes }));
    return parseJson(await this.#backend.patchRecord(this.id, String(id), body, options));
  }

  async delete(request: DeleteRequest<T>, options: CallOptions = {}): Promise<number> {
    checkCall(options);
    const grouped = withGroup(request as DeleteRequest);
    try {
      const checked = checkDeleteRequest(checkRequest(grouped.request));
      return (await this.#backend.deleteRecords(this.id, checked, options)).deleted;
    } catch (error) {
      throw grouped.asGiven(error);
    }
  }

  async changes(request: ChangesRequest = {}, options: CallOptions = {}): Promise<Changes> {
    checkOptions('changes', request);
    checkCall(options);
    const { after = 0, limit = DEFAULTS.changes_limit, waitMs = 0, epoch } = request;
    const body = await this.#backend.changes(this.id, { after, limit, waitMs, epoch }, options);
    // An abort only ends the wait of the backend, which then returns what there is.
    options.signal?.throwIfAborted();
    return parseJson(body);
  }

  follow(request?: FollowRequest, options?: CallOptions): AsyncGenerator<Change, never, undefined> {
    return follow(this, copied(request), copied(options));
  }

  async reembed(model: string, options?: ReembedOptions): Promise<Reembedding> {
    const reembedder = {
      start: (model: string) => this.#backend.startReembedding(this.id, model),
      read: () => this.#backend.reembedding(this.id),
      describe: () => this.describe(),
      cancel: () => this.cancelReembedding(),
    };
    return reembed(reembedder, model, options);
  }

  async cancelReembedding(options: CallOptions = {}): Promise<void> {
    checkCall(options);
    await unlessAborted(this.#backend.cancelReembedding(this.id), options.signal);
  }

  async *#exportLines(options: ExportOptions<T>): AsyncGenerator<Uint8Array, void, undefined> {
    const { request, vectors, signal, asGiven } = exportCall(options);
    try {
      const filter = checkExportFilter(checkRequest(request).filter);
      yield* this.#backend.exportLines(this.id, { filter, vectors }, { signal });
    } catch (error) {
      throw asGiven(error);
    }
  }

  async #search<V extends Variant>({
    request,
    options: { variant, signal },
    asGiven,
  }: SearchCall<V>): Promise<Page<ResultOf<V, T>>> {
    const shape = variant ?? 'integer';
    try {
      signal?.throwIfAborted();
      const checked = checkSearchRequest(checkRequest(request), shape);
      return parseJson((await this.#backend.search(this.id, checked, { variant: shape, signal })).body);
    } catch (error) {
      throw asGiven(error);
    }
  }
}
