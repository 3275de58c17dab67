import { v7 } from 'uuid';
import { upsertInBatches } from '../batches.js';
import { type ReembedOptions, reembedOrCancel } from '../reembed.js';
import type {
  BatchResult,
  Change,
  Changes,
  CreatedWebhook,
  DatabaseDescription,
  DeleteRequest,
  NewRecord,
  PageA,
  PageB,
  QueryRequest,
  RecordA,
  RecordB,
  Reembedding,
  SearchRequest,
  Variant,
  WebhookDescription,
  WebhookRequest,
} from '../schema/index.js';
import { checkOptions } from '../schema/options.js';
import { checkRecordValues } from '../schema/record-values.js';
import type { CallOptions, Transport } from './transport.js';

export type PageOf<V extends Variant> = V extends 'a' ? PageA : PageB;
export type RecordOf<V extends Variant> = V extends 'a' ? RecordA : RecordB;

const BATCH_RECORDS = 1000;

/** One database of a service, as one variant shows it: `a` with UUIDs, `b` with integers. */
export class Database<V extends Variant = 'b'> {
  readonly id: string;
  readonly #transport: Transport;
  readonly #path: string;
  readonly #pages: string;

  /** @internal Made by `Client`. */
  constructor(transport: Transport, id: string, variant: V) {
    this.id = id;
    this.#transport = transport;
    this.#path = `/databases/${encodeURIComponent(id)}`;
    this.#pages = variant === 'a' ? `${this.#path}/records` : this.#path;
  }

  describe(options?: CallOptions): Promise<DatabaseDescription> {
    return this.#transport.call('GET', this.#path, undefined, options);
  }

  /**
   * Gives every record the vectors of another model that the service has, and waits for it. Searches and writes go on
   * meanwhile; the change is at once. When the signal ends it, the database stays as it was.
   */
  reembed(model: string, options: ReembedOptions = {}): Promise<Reembedding> {
    checkOptions('reembed', options);
    const path = `${this.#path}/reembedding`;
    const reembedder = {
      start: (model: string) => this.#transport.call<Reembedding>('POST', path, { model }),
      read: () => this.#transport.call<Reembedding>('GET', path),
      describe: () => this.describe(),
      cancel: () => this.#transport.call<void>('DELETE', path),
    };
    return reembedOrCancel(reembedder, model, options);
  }

  drop(options?: CallOptions): Promise<void> {
    return this.#transport.call('DELETE', this.#path, undefined, options);
  }

  /**
   * Writes records in batches of 1,000; each is durable and searchable before the next is sent. A record without `id`
   * and `uuid` gets a version 7 UUID here, so that a batch that is sent again after a lost response is not stored twice.
   *
   * @throws {CosiftError} with the code of the service. Pointers such as `/records/1200/data/name` count from the first
   * of `records`; `fields.committed` is the number of records that were committed before.
   */
  async upsert(
    records: Iterable<NewRecord> | AsyncIterable<NewRecord>,
    options?: CallOptions,
  ): Promise<BatchResult> {
    return upsertInBatches(records, BATCH_RECORDS, async (batch) => {
      checkRecordValues(batch);
      const body = { records: batch.map(withIdentity) };
      return this.#transport.call<BatchResult>('POST', `${this.#path}/records`, body, options);
    });
  }

  search(request: SearchRequest, options?: CallOptions): Promise<PageOf<V>> {
    return this.#transport.call('POST', `${this.#pages}/search`, request, options);
  }

  /** Every match, most relevant first, page after page. */
  searchAll(request: SearchRequest, options?: CallOptions): AsyncGenerator<RecordOf<V>, void, undefined> {
    return drain<V>((pagination) => this.search({ ...request, pagination }, options), request?.pagination);
  }

  query(request: QueryRequest = {}, options?: CallOptions): Promise<PageOf<V>> {
    return this.#transport.call('POST', `${this.#pages}/query`, request, options);
  }

  /** Every match, in the order of `sort`, page after page. */
  queryAll(request: QueryRequest = {}, options?: CallOptions): AsyncGenerator<RecordOf<V>, void, undefined> {
    return drain<V>((pagination) => this.query({ ...request, pagination }, options), request?.pagination);
  }

  /** One record; a UUID answers in the shape of variant A, an integer in that of B. */
  record<Id extends number | string>(
    id: Id,
    options?: CallOptions,
  ): Promise<Id extends number ? RecordB : RecordA> {
    return this.#transport.call('GET', `${this.#path}/records/${encodeURIComponent(id)}`, undefined, options);
  }

  /**
   * Deletes by `ids`, or by `filter` and `time_range`; resolves with how many records there were. After a lost response
   * the request is sent again, and records that the first one deleted are not counted.
   */
  async delete(request: DeleteRequest, options?: CallOptions): Promise<number> {
    const path = `${this.#path}/records/delete`;
    return (await this.#transport.call<{ deleted: number }>('POST', path, request, options)).deleted;
  }

  /** One answer of the change feed; `wait` is in seconds, `epoch` that of the answer before. */
  changes(
    request: { after?: number; limit?: number; wait?: number; epoch?: string } = {},
    options?: CallOptions,
  ): Promise<Changes> {
    checkOptions('clientChanges', request);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request)) {
      if (value !== undefined) query.set(name, String(value));
    }
    return this.#transport.call('GET', `${this.#path}/changes?${query}`, undefined, options);
  }

  /**
   * Every change after a position, for as long as the loop goes on. Throws `feed_restarted` once the database is made
   * again, and `changes_removed` when changes after the position are no longer kept.
   */
  async *follow(after = 0, options?: CallOptions): AsyncGenerator<Change, never, undefined> {
    let place: { after: number; epoch?: string } = { after };
    for (;;) {
      const answer = await this.changes({ ...place, limit: BATCH_RECORDS, wait: 30 }, options);
      yield* answer.changes;
      place = { after: answer.position, epoch: answer.epoch };
    }
  }

  /** Has changes posted to a URL. `secret` of the result signs them and is shown this once. */
  createWebhook(request: WebhookRequest, options?: CallOptions): Promise<CreatedWebhook> {
    return this.#transport.call('POST', `${this.#path}/webhooks`, request, options);
  }

  /** Those of this database, and how far each has come. */
  async webhooks(options?: CallOptions): Promise<WebhookDescription[]> {
    type List = { webhooks: WebhookDescription[] };
    const path = `${this.#path}/webhooks`;
    return (await this.#transport.call<List>('GET', path, undefined, options)).webhooks;
  }

  deleteWebhook(webhookId: string, options?: CallOptions): Promise<void> {
    const path = `${this.#path}/webhooks/${encodeURIComponent(webhookId)}`;
    return this.#transport.call('DELETE', path, undefined, options);
  }
}

function withIdentity(record: NewRecord): NewRecord {
  return record.id === undefined && record.uuid === undefined ? { ...record, uuid: v7() } : record;
}

async function* drain<V extends Variant>(
  fetchPage: (pagination: { limit: number; cursor?: string }) => Promise<PageOf<V>>,
  { limit = 100, cursor }: { limit?: number; cursor?: string } = {},
): AsyncGenerator<RecordOf<V>, void, undefined> {
  let next = cursor;
  do {
    const page = await fetchPage({ limit, ...(next !== undefined && { cursor: next }) });
    yield* page.results as RecordOf<V>[];
    next = page.pagination.next_cursor;
  } while (next !== undefined);
}
