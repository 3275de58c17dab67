import type { DatabasePort, PageRequests } from '../api/database-port.js';
import type { CallOptions, ChangesRequest, UpsertOptions } from '../api/index.js';
import type { CheckedRequest } from '../api/request-values.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import { unlessAborted } from '../async/until-aborted.js';
import type { Backend } from '../backend/index.js';
import {
  type BatchResult,
  type Changes,
  checkDeleteRequest,
  checkExportFilter,
  checkMapRequest,
  checkQueryRequest,
  checkSearchRequest,
  type DatabaseDescription,
  DEFAULTS,
  type LineEvent,
  type NewRecord,
  parseJson,
  type Reembedding,
} from '../schema/index.js';
import { withinLimit } from './within-limit.js';

/** The calls on one database of this process. */
export class LocalPort implements DatabasePort {
  readonly #backend: Backend;
  readonly #id: string;

  constructor(backend: Backend, id: string) {
    this.#backend = backend;
    this.#id = id;
  }

  describe({ signal }: CallOptions): Promise<DatabaseDescription> {
    return unlessAborted(this.#backend.describeDatabase(this.#id), signal);
  }

  drop({ signal }: CallOptions): Promise<void> {
    return unlessAborted(this.#backend.dropDatabase(this.#id), signal);
  }

  /** A close waits until all records of an array are written; any other source is read no further. */
  upsert(records: Iterable<NewRecord>, options: UpsertOptions): Promise<BatchResult> {
    return this.#backend.runUpsert(records, (records, upsertBatch) =>
      upsertInBatches(records, options, { vectorsApart: true }, async ({ json, vectors }, signal) =>
        parseJson(await upsertBatch(this.#id, json, { signal, ...(vectors && { vectors }) })),
      ),
    );
  }

  upsertLines(chunks: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterable<LineEvent> {
    return this.#backend.upsertLines(this.#id, chunks, options);
  }

  exportLines(
    request: CheckedRequest<{ filter?: unknown }>,
    vectors: boolean,
    options: CallOptions,
  ): AsyncIterable<Uint8Array> {
    const filter = checkExportFilter(withinLimit(request).filter);
    return this.#backend.exportLines(this.#id, { filter, vectors }, options);
  }

  async page<Kind extends keyof PageRequests>(
    kind: Kind,
    checked: CheckedRequest<PageRequests[Kind]>,
    { signal }: CallOptions,
  ): Promise<unknown> {
    const options = { form: 'both', signal } as const;
    const request = withinLimit(checked);
    const asked = {
      search: () => this.#backend.search(this.#id, checkSearchRequest(request), options),
      query: () => this.#backend.query(this.#id, checkQueryRequest(request), options),
      map: () => this.#backend.map(this.#id, checkMapRequest(request), options),
    };
    return parseJson((await asked[kind]()).body);
  }

  async record(id: number | string, { signal }: CallOptions): Promise<unknown> {
    return parseJson(await unlessAborted(this.#backend.record(this.#id, String(id), 'both', {}), signal));
  }

  async patch(id: number | string, patch: { data: unknown }, options: CallOptions): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(patch));
    return parseJson(await this.#backend.patchRecord(this.#id, String(id), 'both', body, options));
  }

  async delete(request: CheckedRequest<object>, options: CallOptions): Promise<{ deleted: number }> {
    return await this.#backend.deleteRecords(this.#id, checkDeleteRequest(withinLimit(request)), options);
  }

  async changes(request: ChangesRequest, options: CallOptions): Promise<Changes> {
    const { after = 0, limit = DEFAULTS.changes_limit, waitMs = 0, epoch } = request;
    const body = await this.#backend.changes(this.#id, { after, limit, waitMs, epoch }, options);
    // An abort only ends the wait of the backend, which then returns what there is.
    options.signal?.throwIfAborted();
    return parseJson(body);
  }

  startReembedding(model: string): Promise<Reembedding> {
    return this.#backend.startReembedding(this.#id, model);
  }

  reembedding(): Promise<Reembedding> {
    return this.#backend.reembedding(this.#id);
  }

  cancelReembedding({ signal }: CallOptions): Promise<void> {
    return unlessAborted(this.#backend.cancelReembedding(this.#id), signal);
  }
}
