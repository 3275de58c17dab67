import { v7 } from 'uuid';
import type { CheckedRequest } from '../api/checked-copy.js';
import type { DatabasePort, PageRequests } from '../api/database-port.js';
import type { CallOptions, ChangesRequest, MaxDeletes, UpsertOptions } from '../api/options.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import { CosiftError, isCode, type Problem, withoutPlace } from '../errors.js';
import type {
  BatchResult,
  Changes,
  DatabaseDescription,
  LineEvent,
  NewRecord,
  ProblemBody,
  Reembedding,
  SearchRequest,
} from '../schema/public-types.js';
import { readChanges } from './read-changes.js';
import { errorOfProblem } from './read-response.js';
import { SHAPES } from './response-shapes.js';
import type { Transport } from './transport.js';

/** The calls on one database of a service. */
export class HttpPort implements DatabasePort {
  readonly #transport: Transport;
  readonly #path: string;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  describe(options: CallOptions): Promise<DatabaseDescription> {
    return this.#transport.json('GET', this.#path, SHAPES.database, undefined, options);
  }

  configure({ request }: CheckedRequest<object>, options: CallOptions): Promise<DatabaseDescription> {
    return this.#transport.json('PATCH', this.#path, SHAPES.database, request, options);
  }

  drop(options: CallOptions): Promise<void> {
    return this.#transport.delete(this.#path, options);
  }

  /**
   * A record without `id`, `uuid` and `key` gets a version 7 UUID before it is sent, so that a batch that is sent again
   * after a lost response is not stored twice.
   */
  upsert(records: Iterable<NewRecord>, options: UpsertOptions | undefined): Promise<BatchResult> {
    return this.#transport.run((send) =>
      upsertInBatches(
        this.#transport.untilClosing(records),
        options,
        { vectorsApart: false, complete: withIdentity },
        ({ texts, isConditional }, signal) => {
          const json = `{"records":[${texts.join(',')}]}`;
          return send('POST', `${this.#path}/records`, SHAPES.batch, json, { signal, isConditional });
        },
      ),
    );
  }

  /** The lines are sent once: a stream cannot be repeated after a lost connection. */
  upsertLines(chunks: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterable<LineEvent> {
    return this.#transport.lines('POST', `${this.#path}/records`, chunks, options);
  }

  /** Sent once, like {@link upsertLines}. */
  replaceLines(
    chunks: AsyncIterable<Uint8Array>,
    { maxDeletes, ...options }: CallOptions & MaxDeletes,
  ): AsyncIterable<LineEvent> {
    const query = maxDeletes === undefined ? '' : `?max_deletes=${maxDeletes}`;
    return this.#transport.lines('PUT', `${this.#path}/records${query}`, chunks, options);
  }

  /** The filter is a part of the address, so it may be as long as the headers of a request. */
  async *exportLines(
    { request }: CheckedRequest<{ filter?: unknown }>,
    vectors: boolean,
    options: CallOptions,
  ): AsyncIterable<Uint8Array> {
    const filter = request.filter === undefined ? undefined : JSON.stringify(request.filter);
    const query = new URLSearchParams({
      ...(vectors && { vectors: 'true' }),
      ...(filter !== undefined && { filter }),
    });
    try {
      yield* this.#transport.bytes('GET', `${this.#path}/export?${query}`, options);
    } catch (error) {
      if (filter === undefined || !isCode(error, 'headers_too_large')) throw error;
      throw tooLong(filter, error);
    }
  }

  page<Kind extends keyof PageRequests>(
    kind: Kind,
    { request }: CheckedRequest<PageRequests[Kind]>,
    options: CallOptions,
  ): Promise<unknown> {
    return this.#transport.json('POST', `${this.#path}/${kind}`, SHAPES[kind], request, options);
  }

  async searches(
    requests: readonly CheckedRequest<SearchRequest>[],
    options: CallOptions,
  ): Promise<(object | CosiftError)[]> {
    const batch = { searches: requests.map(({ request }) => request) };
    const path = `${this.#path}/searches`;
    type Response = { pages: ({ page: object } | { problem: ProblemBody })[] };
    const { pages } = await this.#transport.json<Response>('POST', path, SHAPES.searches, batch, options);
    return pages.map((outcome, at) =>
      'page' in outcome ? outcome.page : withoutPlace(errorOfProblem(outcome.problem), `/searches/${at}`),
    );
  }

  record(id: number | string, vectors: boolean, options: CallOptions): Promise<unknown> {
    const path = `${this.#recordPath(id)}${vectors ? '?vectors=true' : ''}`;
    return this.#transport.json('GET', path, SHAPES.record, undefined, options);
  }

  patch(
    id: number | string,
    { request }: CheckedRequest<{ if_changed_at?: unknown }>,
    options: CallOptions,
  ): Promise<unknown> {
    const isConditional = request.if_changed_at !== undefined;
    return this.#transport.send('PATCH', this.#recordPath(id), SHAPES.record, request, {
      ...options,
      isConditional,
    });
  }

  /**
   * A request without conditions is sent again after a lost response: records that the first request deleted are then not
   * counted.
   */
  delete({ request }: CheckedRequest<{ ids?: object }>, options: CallOptions): Promise<{ deleted: number }> {
    // The service refuses ids that are no list.
    const isConditional = Object.values(request.ids ?? []).some((id) => typeof id === 'object');
    return this.#transport.send('POST', `${this.#path}/records/delete`, SHAPES.deletion, request, {
      ...options,
      isConditional,
    });
  }

  changes(request: ChangesRequest, options: CallOptions): Promise<Changes> {
    return readChanges(this.#transport, this.#path, request, options);
  }

  startReembedding(model: string): Promise<Reembedding> {
    return this.#transport.json('POST', this.#reembeddingPath, SHAPES.reembedding, { model });
  }

  reembedding(options: CallOptions): Promise<Reembedding> {
    return this.#transport.json('GET', this.#reembeddingPath, SHAPES.reembedding, undefined, options);
  }

  cancelReembedding(options: CallOptions): Promise<void> {
    return this.#transport.delete(this.#reembeddingPath, options);
  }

  get #reembeddingPath(): string {
    return `${this.#path}/reembedding`;
  }

  #recordPath(id: number | string): string {
    return `${this.#path}/records/${encodeURIComponent(id)}`;
  }
}

function tooLong(filter: string, cause: CosiftError): CosiftError {
  const bytes = encodeURIComponent(filter).length;
  const detail =
    `has ${bytes} bytes, more than the service takes in the address of an export: ` +
    'shorten it, or use `queryAll`';
  const problems: Problem[] = [{ pointer: '/filter', code: 'value_too_long', detail }];
  return new CosiftError(cause.code, `/filter: ${detail}`, { problems, fields: cause.fields, cause });
}

function withIdentity(record: NewRecord): NewRecord {
  const isIdentified = [record.id, record.uuid, record.key].some((identity) => identity !== undefined);
  return isIdentified ? record : { ...record, uuid: v7() };
}
