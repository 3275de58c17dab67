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
import { bytesOf } from '../api/line-chunks.js';
import { paginate } from '../api/paginate.js';
import { checkChanges } from '../api/record-values.js';
import { reembed } from '../api/reembed.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import type { Backend } from '../backend/index.js';
import { isCode } from '../errors.js';
import {
  type BatchResult,
  type Change,
  type Changes,
  checkDeleteRequest,
  checkOptions,
  checkQueryRequest,
  checkSearchRequest,
  type Data,
  type DatabaseDescription,
  DEFAULTS,
  type DeleteRequest,
  type LineEvent,
  parseJson,
  type QueryRequest,
  type Reembedding,
  type Variant,
} from '../schema/index.js';
import { checkSurrogates } from './check-surrogates.js';

/** One database of this process. Methods without a comment do what {@link Database} says. */
export class LocalDatabase implements Database {
  readonly id: string;
  readonly #backend: Backend;

  /** @internal Made by `Cosift`. */
  constructor(backend: Backend, id: string) {
    this.#backend = backend;
    this.id = id;
  }

  async describe(options: CallOptions = {}): Promise<DatabaseDescription> {
    checkCall(options);
    return this.#backend.describeDatabase(this.id);
  }

  async drop(options: CallOptions = {}): Promise<void> {
    checkCall(options);
    await this.#backend.dropDatabase(this.id);
  }

  /** A close waits until all records of an array are written; an asynchronous source is read no further. */
  async upsert(
    records: Iterable<RecordInput> | AsyncIterable<RecordInput>,
    options: CallOptions = {},
  ): Promise<BatchResult> {
    return this.#backend.runUpsert(records, (records, upsertBatch) =>
      upsertInBatches(records, options, async (batch) => {
        const { body, vectors } = encode(batch);
        return parseJson(await upsertBatch(this.id, body, { ...options, ...(vectors && { vectors }) }));
      }),
    );
  }

  upsertLines(chunks: LineChunks, options: CallOptions = {}): AsyncIterable<LineEvent> {
    checkOptions('call', options);
    return this.#backend.upsertLines(this.id, bytesOf(chunks), options);
  }

  /** An aborted signal stops the running scan. */
  async search<V extends Variant = 'b'>(
    request: SearchInput,
    options: PageOptions<V> = {},
  ): Promise<PageOf<V>> {
    checkOptions('page', options);
    const variant = options.variant ?? 'b';
    const checked = checkSearchRequest(checkSurrogates(searchWithArrayVector(request)), variant);
    return parseJson((await this.#backend.search(this.id, checked, { ...options, variant })).body);
  }

  searchAll<V extends Variant = 'b'>(
    request: SearchInput,
    options?: PageOptions<V>,
  ): AsyncGenerator<RecordOf<V>, void, undefined> {
    return paginate<V>((pagination) => this.search({ ...request, pagination }, options), request?.pagination);
  }

  /** An aborted signal stops the running scan. */
  async query<V extends Variant = 'b'>(
    request: QueryRequest = {},
    options: PageOptions<V> = {},
  ): Promise<PageOf<V>> {
    checkOptions('page', options);
    const variant = options.variant ?? 'b';
    const checked = checkQueryRequest(checkSurrogates(request), variant);
    return parseJson((await this.#backend.query(this.id, checked, { ...options, variant })).body);
  }

  queryAll<V extends Variant = 'b'>(
    request: QueryRequest = {},
    options?: PageOptions<V>,
  ): AsyncGenerator<RecordOf<V>, void, undefined> {
    return paginate<V>((pagination) => this.query({ ...request, pagination }, options), request?.pagination);
  }

  async get<Id extends number | string>(
    id: Id,
    options: CallOptions = {},
  ): Promise<RecordById<Id> | undefined> {
    checkOptions('record', { id });
    checkCall(options);
    const variant = typeof id === 'number' ? 'b' : 'a';
    try {
      return parseJson(await this.#backend.record(this.id, String(id), variant, {}));
    } catch (error) {
      if (isCode(error, 'record_not_found')) return undefined;
      throw error;
    }
  }

  async patch<Id extends number | string>(
    id: Id,
    changes: Data,
    options: CallOptions = {},
  ): Promise<RecordById<Id>> {
    checkOptions('record', { id });
    checkOptions('call', options);
    checkChanges(changes);
    const body = Buffer.from(JSON.stringify({ data: changes }));
    return parseJson(await this.#backend.patchRecord(this.id, String(id), body, options));
  }

  async delete(request: DeleteRequest, options: CallOptions = {}): Promise<number> {
    checkOptions('call', options);
    const checked = checkDeleteRequest(checkSurrogates(request));
    return (await this.#backend.deleteRecords(this.id, checked, options)).deleted;
  }

  async changes(request: ChangesRequest = {}, options: CallOptions = {}): Promise<Changes> {
    checkOptions('changes', request);
    checkOptions('call', options);
    const { after = 0, limit = DEFAULTS.changes_limit, waitMs = 0, epoch } = request;
    const body = await this.#backend.changes(this.id, { after, limit, waitMs, epoch }, options);
    // An abort only ends the wait of the backend, which then returns what there is.
    options.signal?.throwIfAborted();
    return parseJson(body);
  }

  follow(request?: FollowRequest, options?: CallOptions): AsyncGenerator<Change, never, undefined> {
    return follow(this, request, options);
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
    await this.#backend.cancelReembedding(this.id);
  }
}

/** Checks the options of a call that cannot be ended once it has begun. */
function checkCall(options: CallOptions): void {
  checkOptions('call', options);
  options.signal?.throwIfAborted();
}

/** Encodes a batch as JSON, with typed vectors apart: as text they would be five times as large. */
function encode(records: readonly RecordInput[]): { body: Uint8Array; vectors?: Float32Array } {
  const typed = records.map(({ vector }) => (vector instanceof Float32Array ? vector : undefined));
  const dimensions = typed[0]?.length;
  if (dimensions === undefined || typed.some((vector) => vector?.length !== dimensions)) {
    return { body: Buffer.from(JSON.stringify({ records: records.map(withArrayVector) })) };
  }
  const vectors = new Float32Array(records.length * dimensions);
  for (const [at, vector] of typed.entries()) if (vector) vectors.set(vector, at * dimensions);
  const bare = records.map(({ vector: _, ...record }) => record);
  return { body: Buffer.from(JSON.stringify({ records: bare })), vectors };
}
