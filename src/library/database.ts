import type { LocalBackend, PageReply } from '../backend/index.js';
import { upsertInBatches } from '../batches.js';
import { CosiftError } from '../errors.js';
import { type ReembedOptions, reembedOrCancel } from '../reembed.js';
import {
  type BatchResult,
  type Changes,
  checkDeleteRequest,
  checkOptions,
  checkQueryRequest,
  checkRecordValues,
  checkSearchRequest,
  type DatabaseDescription,
  DEFAULTS,
  type DeleteRequest,
  LIMITS,
  type NewRecord,
  type PageA,
  type PageB,
  type QueryRequest,
  type RecordA,
  type RecordB,
  type Reembedding,
  type SearchRequest,
  type Variant,
} from '../schema/index.js';

/**
 * A record to upsert. Its vector, if any, may be a typed array; a column that is undefined is left out, and any other
 * value that JSON cannot hold, such as NaN or a `Date`, is refused.
 */
export type RecordInput = Omit<NewRecord, 'data' | 'vector'> & {
  data: Record<string, string | number | boolean | null | undefined>;
  vector?: Float32Array | readonly number[];
};

/** A search as over HTTP; its vector, if any, may be a typed array. */
export type SearchInput = Omit<SearchRequest, 'search'> & {
  search: Omit<SearchRequest['search'], 'vector'> & { vector?: Float32Array | readonly number[] };
};

/** Options of one call. `variant` decides ids and time names of results: `a` UUIDs, `b` integers (default). */
export interface CallOptions<V extends Variant = Variant> {
  variant?: V;
  /** Ends the call with the signal's reason; a running scan really stops. */
  signal?: AbortSignal;
}

type PageOf<V extends Variant> = V extends 'a' ? PageA : PageB;
type RecordOf<V extends Variant> = V extends 'a' ? RecordA : RecordB;

/** One database. Requests are those of the HTTP interface, checked by the same schemas. */
export class Database {
  readonly id: string;
  readonly #backend: LocalBackend;

  /** @internal Made by `Cosift`. */
  constructor(backend: LocalBackend, id: string) {
    this.#backend = backend;
    this.id = id;
  }

  /**
   * Gives every record the vectors of another model. Searches and writes go on meanwhile; the change is at once. When
   * the signal ends it, the database stays as it was; when the process ends first, the next one goes on.
   *
   * @throws {CosiftError} `invalid_request` for a model that is not there.
   */
  async reembed(model: string, options: ReembedOptions = {}): Promise<Reembedding> {
    checkOptions('model', { model });
    checkOptions('reembed', options);
    const backend = this.#backend;
    const reembedder = {
      start: (model: string) => backend.startReembedding(this.id, model),
      read: () => backend.reembedding(this.id),
      describe: () => this.describe(),
      cancel: () => backend.cancelReembedding(this.id),
    };
    return reembedOrCancel(reembedder, model, options);
  }

  async describe(): Promise<DatabaseDescription> {
    return this.#backend.describeDatabase(this.id);
  }

  /**
   * Writes records, 1,000 a commit; each commit is durable and searchable before the next begins.
   *
   * A close waits until all records of an array are written; an asynchronous source is read no further.
   *
   * @throws {CosiftError} `invalid_record` and its like. Pointers such as `/records/1200/data/name` count from the first
   * of `records`; `fields.committed` is the number of records that were committed before.
   */
  async upsert(
    records: Iterable<RecordInput> | AsyncIterable<RecordInput>,
    options: { signal?: AbortSignal } = {},
  ): Promise<BatchResult> {
    checkOptions('call', options);
    return this.#backend.upserting(records, (records, upsertBatch) =>
      upsertInBatches(records, LIMITS.batch_records, async (batch) => {
        options.signal?.throwIfAborted();
        const { body, vectors } = encode(batch);
        return parse(await upsertBatch(this.id, body, { ...options, ...(vectors && { vectors }) }));
      }),
    );
  }

  /** One page of the records nearest in meaning that satisfy everything, best first. */
  async search<V extends Variant = 'b'>(
    request: SearchInput,
    options: CallOptions<V> = {},
  ): Promise<PageOf<V>> {
    checkOptions('page', options);
    const variant = options.variant ?? 'b';
    const checked = checkSearchRequest(withPlainVector(request), variant);
    return pageOf<V>(await this.#backend.search(this.id, checked, { ...options, variant }));
  }

  /** Every record that satisfies the search, best first, page after page. */
  async *searchAll<V extends Variant = 'b'>(
    request: SearchInput,
    options: CallOptions<V> = {},
  ): AsyncGenerator<RecordOf<V>, void, undefined> {
    yield* drain<V>((pagination) => this.search({ ...request, pagination }, options), request?.pagination);
  }

  /** One page of the records that satisfy filter and time range, in the order of `sort`; no scores. */
  async query<V extends Variant = 'b'>(
    request: QueryRequest,
    options: CallOptions<V> = {},
  ): Promise<PageOf<V>> {
    checkOptions('page', options);
    const variant = options.variant ?? 'b';
    const checked = checkQueryRequest(request, variant);
    return pageOf<V>(await this.#backend.query(this.id, checked, { ...options, variant }));
  }

  /** Every record that satisfies the query, page after page. */
  async *queryAll<V extends Variant = 'b'>(
    request: QueryRequest = {},
    options: CallOptions<V> = {},
  ): AsyncGenerator<RecordOf<V>, void, undefined> {
    yield* drain<V>((pagination) => this.query({ ...request, pagination }, options), request?.pagination);
  }

  /** One record by integer id or UUID; undefined when there is none. */
  async get<V extends Variant = 'b'>(
    id: number | string,
    options: { variant?: V } = {},
  ): Promise<RecordOf<V> | undefined> {
    checkOptions('get', options);
    try {
      return parse(await this.#backend.record(this.id, String(id), options.variant ?? 'b', {}));
    } catch (error) {
      if (error instanceof CosiftError && error.code === 'record_not_found') return undefined;
      throw error;
    }
  }

  /** Deletes records by `ids`, or by `filter` and `time_range`; resolves with how many there were. */
  async delete(request: DeleteRequest): Promise<number> {
    return (await this.#backend.deleteRecords(this.id, checkDeleteRequest(request))).deleted;
  }

  /** Changes after a position of the feed `epoch`, oldest first; waits up to `waitMs` for a first one. */
  async changes(
    request: { after?: number; limit?: number; waitMs?: number; epoch?: string } = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<Changes> {
    checkOptions('changes', request);
    checkOptions('call', options);
    const { after = 0, limit = DEFAULTS.changes_limit, waitMs = 0, epoch } = request;
    return parse(await this.#backend.changes(this.id, { after, limit, waitMs, epoch }, options));
  }
}

/** Records a page while draining: as many as a request may ask for. */
const DRAIN_LIMIT = 100;

type Position = { limit?: number; cursor?: string };

async function* drain<V extends Variant>(
  page: (pagination: Position) => Promise<PageA | PageB>,
  start: Position = {},
): AsyncGenerator<RecordOf<V>, void, undefined> {
  let pagination: Position = { limit: DRAIN_LIMIT, ...start };
  for (;;) {
    const { results, pagination: position } = await page(pagination);
    yield* results as RecordOf<V>[];
    if (!position.has_more || position.next_cursor === undefined) return;
    pagination = { ...pagination, cursor: position.next_cursor };
  }
}

/** A batch as JSON; typed vectors apart, as text they would be five times as large. */
function encode(records: readonly RecordInput[]): { body: Uint8Array; vectors?: Float32Array } {
  checkRecordValues(records);
  const typed = records.map(({ vector }) => (vector instanceof Float32Array ? vector : undefined));
  const dimensions = typed[0]?.length;
  if (dimensions === undefined || typed.some((vector) => vector?.length !== dimensions)) {
    const plain = records.map((record) =>
      record.vector ? { ...record, vector: Array.from(record.vector) } : record,
    );
    return { body: Buffer.from(JSON.stringify({ records: plain })) };
  }
  const vectors = new Float32Array(records.length * dimensions);
  for (const [at, vector] of typed.entries()) if (vector) vectors.set(vector, at * dimensions);
  const bare = records.map(({ vector: _, ...record }) => record);
  return { body: Buffer.from(JSON.stringify({ records: bare })), vectors };
}

function withPlainVector(request: SearchInput): unknown {
  // A program in plain JavaScript may leave the request out: the schema says so.
  const vector = (request as SearchInput | undefined)?.search?.vector;
  return ArrayBuffer.isView(vector)
    ? { ...request, search: { ...request.search, vector: Array.from(vector as Float32Array) } }
    : request;
}

function pageOf<V extends Variant>(reply: PageReply): PageOf<V> {
  return parse(reply.body);
}

function parse<T>(json: Uint8Array): T {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8'));
}
