import { v7 } from 'uuid';
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
import { checkedRequest } from '../api/request-values.js';
import { searchAll } from '../api/search-all.js';
import { type SearchCall, searchCall, withGroup } from '../api/search-call.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import { requestWithArrayVector } from '../api/vectors.js';
import { withProgress } from '../api/with-progress.js';
import { isCode } from '../errors.js';
import { checkOptions } from '../schema/options.js';
import type {
  BatchResult,
  Change,
  Changes,
  ColumnChanges,
  Columns,
  CreatedWebhook,
  Data,
  DatabaseDescription,
  DeleteRequest,
  LineEvent,
  MapRequest,
  NewRecord,
  Page,
  Points,
  QueryRequest,
  Reembedding,
  SearchRequest,
  Variant,
  WebhookDescription,
  WebhookRequest,
} from '../schema/public-types.js';
import { readChanges } from './read-changes.js';
import { matchesShape, SHAPES } from './response-shapes.js';
import { jsonOf, type Transport } from './transport.js';

/** One database of a service. Methods without a comment do what {@link Database} says. */
export class RemoteDatabase<T extends Columns<T> = Data> implements Database<T> {
  readonly id: string;
  readonly #transport: Transport;
  readonly #path: string;

  /** @internal Made by `Client`. */
  constructor(transport: Transport, id: string) {
    this.id = id;
    this.#transport = transport;
    this.#path = `/databases/${encodeURIComponent(id)}`;
  }

  describe(options?: CallOptions): Promise<DatabaseDescription> {
    return this.#transport.json('GET', this.#path, SHAPES.database, undefined, options);
  }

  drop(options?: CallOptions): Promise<void> {
    return this.#transport.delete(this.#path, options);
  }

  /**
   * Writes records as {@link Database.upsert} does. A record without `id`, `uuid` and `key` gets a version 7 UUID before it is sent, so that a batch that is sent again after a
   * lost response is not stored twice.
   */
  async upsert<Given extends Columns<Given> = T>(
    records: RecordSource<NewRecord<DataToWrite<T, Given>>>,
    options: UpsertOptions = {},
  ): Promise<BatchResult> {
    return this.#transport.run((send) =>
      upsertInBatches(
        this.#transport.untilClosing(records as Iterable<NewRecord>),
        options,
        { vectorsApart: false, complete: withIdentity },
        ({ json }, signal) =>
          send('POST', `${this.#path}/records`, SHAPES.batch, new TextDecoder().decode(json), { signal }),
      ),
    );
  }

  /**
   * Writes NDJSON as {@link Database.upsertLines} does. It is sent once: a stream cannot be repeated after a lost
   * connection.
   */
  upsertLines(
    chunks: LineChunks,
    options: UpsertLinesOptions = {},
  ): AsyncGenerator<LineEvent, void, undefined> {
    checkOptions('upsert', options);
    const { signal, onProgress } = options;
    signal?.throwIfAborted();
    const events = this.#transport.lines(`${this.#path}/records`, bytesOf(chunks), { signal });
    return withProgress(events, { onProgress });
  }

  exportLines(options: ExportOptions<T> = {}): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#exportLines(copied(options));
  }

  async search<V extends Variant = 'integer', Query extends string | object = string | SearchRequest<T>>(
    query: Query extends string ? Query : SearchRequest<T>,
    options?: Query extends string ? SearchOptions<T, V> : PageOptions<V>,
  ): Promise<Page<ResultOf<V, T>>> {
    return this.#matches('search', searchCall(query, options));
  }

  searchAll<V extends Variant = 'integer', Query extends string | object = string | SearchRequest<T>>(
    query: Query extends string ? Query : SearchRequest<T>,
    options?: Query extends string ? SearchOptions<T, V> : PageOptions<V>,
  ): AsyncGenerator<ResultOf<V, T>, void, undefined> {
    return searchAll<T, V, ResultOf<V, T>>(query, options, (call: SearchCall<V>) =>
      this.#matches<Page<ResultOf<V, T>>>('search', call),
    );
  }

  async query<V extends Variant = 'integer'>(
    request: QueryRequest<T, V> = {},
    options: PageOptions<V> = {},
  ): Promise<Page<RecordOf<V, T>>> {
    checkOptions('page', options);
    return this.#matches('query', { ...withGroup(request as unknown as QueryRequest), options });
  }

  async map<V extends Variant = 'integer'>(
    request: MapRequest<T> = {},
    options: PageOptions<V> = {},
  ): Promise<Points<PointOf<V, T>>> {
    checkOptions('page', options);
    const grouped = withGroup(requestWithArrayVector(request as unknown as MapRequest));
    return this.#matches('map', { ...grouped, options });
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
    options?: CallOptions,
  ): Promise<RecordById<Id, T> | undefined> {
    checkOptions('record', { id });
    const path = `${this.#path}/records/${encodeURIComponent(id)}`;
    try {
      return await this.#transport.json('GET', path, SHAPES.record, undefined, options);
    } catch (error) {
      if (isCode(error, 'record_not_found')) return undefined;
      throw error;
    }
  }

  async patch<Id extends number | string, Given extends Columns<Given> = Data>(
    id: Id,
    changes: ColumnChanges<T, Given>,
    options?: CallOptions,
  ): Promise<RecordById<Id, T>> {
    checkOptions('record', { id });
    checkChanges(changes);
    const path = `${this.#path}/records/${encodeURIComponent(id)}`;
    return this.#transport.json('PATCH', path, SHAPES.record, { data: changes }, options);
  }

  /**
   * Deletes records as {@link Database.delete} does. The request is sent again after a lost response: records that the
   * first request deleted are then not counted.
   */
  async delete(request: DeleteRequest<T>, options?: CallOptions): Promise<number> {
    const path = `${this.#path}/records/delete`;
    const grouped = withGroup(request as DeleteRequest);
    type Deletion = { deleted: number };
    try {
      const { request: body } = checkedRequest(grouped.request);
      return (await this.#transport.json<Deletion>('POST', path, SHAPES.deletion, body, options)).deleted;
    } catch (error) {
      throw grouped.asGiven(error);
    }
  }

  async changes(request: ChangesRequest = {}, options: CallOptions = {}): Promise<Changes> {
    checkOptions('changes', request);
    checkOptions('call', options);
    return readChanges(this.#transport, this.#path, request, options);
  }

  follow(request?: FollowRequest, options?: CallOptions): AsyncGenerator<Change, never, undefined> {
    return follow(this, copied(request), copied(options));
  }

  async reembed(model: string, options?: ReembedOptions): Promise<Reembedding> {
    const path = `${this.#path}/reembedding`;
    const reembedder = {
      start: (model: string) =>
        this.#transport.json<Reembedding>('POST', path, SHAPES.reembedding, { model }),
      read: (options: CallOptions) =>
        this.#transport.json<Reembedding>('GET', path, SHAPES.reembedding, undefined, options),
      describe: (options: CallOptions) => this.describe(options),
      cancel: () => this.cancelReembedding(),
    };
    return reembed(reembedder, model, options);
  }

  cancelReembedding(options?: CallOptions): Promise<void> {
    return this.#transport.delete(`${this.#path}/reembedding`, options);
  }

  /** Creates a webhook to which changes are posted. `secret` of the result signs them and is shown only here. */
  async createWebhook(request: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook> {
    const { request: body } = checkedRequest(request);
    const path = `${this.#path}/webhooks`;
    return this.#transport.json('POST', path, SHAPES.createdWebhook, body, options);
  }

  /** Returns the webhooks of this database with their positions in the change feed. */
  async webhooks(options?: CallOptions): Promise<WebhookDescription[]> {
    type List = { webhooks: WebhookDescription[] };
    const path = `${this.#path}/webhooks`;
    return (await this.#transport.json<List>('GET', path, SHAPES.webhooks, undefined, options)).webhooks;
  }

  /** Deletes a webhook: nothing more is posted to it. */
  async deleteWebhook(webhookId: string, options?: CallOptions): Promise<void> {
    checkOptions('named', { id: webhookId });
    await this.#transport.delete(`${this.#path}/webhooks/${encodeURIComponent(webhookId)}`, options);
  }

  async *#exportLines(options: ExportOptions<T>): AsyncGenerator<Uint8Array, void, undefined> {
    const { request, vectors, signal, asGiven } = exportCall(options);
    try {
      const filter = jsonOf(checkedRequest(request).request.filter);
      const query = new URLSearchParams({
        ...(vectors && { vectors: 'true' }),
        ...(filter !== undefined && { filter }),
      });
      yield* this.#transport.bytes('GET', `${this.#path}/export?${query}`, { signal });
    } catch (error) {
      throw asGiven(error);
    }
  }

  async #matches<Response>(
    kind: 'search' | 'query' | 'map',
    { request, options: { variant = 'integer', signal }, asGiven }: MatchesCall,
  ): Promise<Response> {
    const path = variant === 'uuid' ? `${this.#path}/records/${kind}` : `${this.#path}/${kind}`;
    try {
      const { request: body } = checkedRequest(request);
      return await this.#transport.json('POST', path, matchesShape(variant, kind), body, { signal });
    } catch (error) {
      throw asGiven(error);
    }
  }
}

/** A search, a query or a map in the form in which it is sent. */
type MatchesCall = Pick<SearchCall<Variant>, 'options' | 'asGiven'> & { request: object };

function withIdentity(record: NewRecord): NewRecord {
  const isIdentified = [record.id, record.uuid, record.key].some((identity) => identity !== undefined);
  return isIdentified ? record : { ...record, uuid: v7() };
}
