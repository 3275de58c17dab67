import { v7 } from 'uuid';
import { follow } from '../api/follow.js';
import type {
  CallOptions,
  ChangesRequest,
  Database,
  FollowRequest,
  LineChunks,
  PageOf,
  PageOptions,
  RecordById,
  RecordInput,
  RecordOf,
  ReembedOptions,
  SearchInput,
} from '../api/index.js';
import { searchWithArrayVector, withArrayVector } from '../api/inputs.js';
import { paginate } from '../api/paginate.js';
import { checkChanges } from '../api/record-values.js';
import { reembed } from '../api/reembed.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import { isCode } from '../errors.js';
import type {
  BatchResult,
  Change,
  Changes,
  CreatedWebhook,
  Data,
  DatabaseDescription,
  DeleteRequest,
  LineEvent,
  QueryRequest,
  Reembedding,
  Variant,
  WebhookDescription,
  WebhookRequest,
} from '../schema/index.js';
import { checkOptions } from '../schema/options.js';
import { readChanges } from './read-changes.js';
import { pageShape, SHAPES } from './response-shapes.js';
import type { Transport } from './transport.js';

/** One database of a service. Methods without a comment do what {@link Database} says. */
export class RemoteDatabase implements Database {
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
   * A record without `id` and `uuid` gets a version 7 UUID before it is sent, so that a batch that is sent again after a
   * lost response is not stored twice.
   */
  async upsert(
    records: Iterable<RecordInput> | AsyncIterable<RecordInput>,
    options: CallOptions = {},
  ): Promise<BatchResult> {
    return this.#transport.run((json) =>
      upsertInBatches(this.#transport.untilClosing(records), options, (batch) => {
        const body = { records: batch.map((record) => withIdentity(withArrayVector(record))) };
        return json('POST', `${this.#path}/records`, SHAPES.batch, body, options);
      }),
    );
  }

  /** Sent once: a stream cannot be repeated after a lost connection. */
  upsertLines(chunks: LineChunks, options?: CallOptions): AsyncGenerator<LineEvent, void, undefined> {
    return this.#transport.lines(`${this.#path}/records`, chunks, options);
  }

  async search<V extends Variant = 'b'>(request: SearchInput, options?: PageOptions<V>): Promise<PageOf<V>> {
    return this.#page('search', searchWithArrayVector(request), options);
  }

  searchAll<V extends Variant = 'b'>(
    request: SearchInput,
    options?: PageOptions<V>,
  ): AsyncGenerator<RecordOf<V>, void, undefined> {
    return paginate<V>((pagination) => this.search({ ...request, pagination }, options), request?.pagination);
  }

  query<V extends Variant = 'b'>(request: QueryRequest = {}, options?: PageOptions<V>): Promise<PageOf<V>> {
    return this.#page('query', request, options);
  }

  queryAll<V extends Variant = 'b'>(
    request: QueryRequest = {},
    options?: PageOptions<V>,
  ): AsyncGenerator<RecordOf<V>, void, undefined> {
    return paginate<V>((pagination) => this.query({ ...request, pagination }, options), request?.pagination);
  }

  async get<Id extends number | string>(id: Id, options?: CallOptions): Promise<RecordById<Id> | undefined> {
    checkOptions('record', { id });
    const path = `${this.#path}/records/${encodeURIComponent(id)}`;
    try {
      return await this.#transport.json('GET', path, SHAPES.record, undefined, options);
    } catch (error) {
      if (isCode(error, 'record_not_found')) return undefined;
      throw error;
    }
  }

  async patch<Id extends number | string>(
    id: Id,
    changes: Data,
    options?: CallOptions,
  ): Promise<RecordById<Id>> {
    checkOptions('record', { id });
    checkChanges(changes);
    const path = `${this.#path}/records/${encodeURIComponent(id)}`;
    return this.#transport.json('PATCH', path, SHAPES.record, { data: changes }, options);
  }

  /** Sent again after a lost response: records that the first request deleted are then not counted. */
  async delete(request: DeleteRequest, options?: CallOptions): Promise<number> {
    const path = `${this.#path}/records/delete`;
    type Deletion = { deleted: number };
    return (await this.#transport.json<Deletion>('POST', path, SHAPES.deletion, request, options)).deleted;
  }

  async changes(request: ChangesRequest = {}, options: CallOptions = {}): Promise<Changes> {
    checkOptions('changes', request);
    checkOptions('call', options);
    return readChanges(this.#transport, this.#path, request, options);
  }

  follow(request?: FollowRequest, options?: CallOptions): AsyncGenerator<Change, never, undefined> {
    return follow(this, request, options);
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
  createWebhook(request: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook> {
    const path = `${this.#path}/webhooks`;
    return this.#transport.json('POST', path, SHAPES.createdWebhook, request, options);
  }

  /** Returns the webhooks of this database with their positions in the change feed. */
  async webhooks(options?: CallOptions): Promise<WebhookDescription[]> {
    type List = { webhooks: WebhookDescription[] };
    const path = `${this.#path}/webhooks`;
    return (await this.#transport.json<List>('GET', path, SHAPES.webhooks, undefined, options)).webhooks;
  }

  /** Deletes a webhook: nothing more is posted to it. */
  deleteWebhook(webhookId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(`${this.#path}/webhooks/${encodeURIComponent(webhookId)}`, options);
  }

  async #page<V extends Variant>(
    kind: 'search' | 'query',
    request: object,
    options: PageOptions<V> = {},
  ): Promise<PageOf<V>> {
    checkOptions('page', options);
    const { variant = 'b', signal } = options;
    const path = variant === 'a' ? `${this.#path}/records/${kind}` : `${this.#path}/${kind}`;
    return this.#transport.json('POST', path, pageShape(variant, kind), request, { signal });
  }
}

function withIdentity(record: RecordInput): RecordInput {
  return record.id === undefined && record.uuid === undefined ? { ...record, uuid: v7() } : record;
}
