import type { CheckedRequest } from '../api/checked-copy.js';
import type { DatabasePort, PageRequests } from '../api/database-port.js';
import type { CallOptions, ChangesRequest, MaxDeletes, UpsertOptions } from '../api/options.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import { unlessAborted } from '../async/until-aborted.js';
import type { DatabaseService } from '../databases/index.js';
import { besideErrors, CosiftError, refusalOf } from '../errors.js';
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
  type SearchRequest,
} from '../schema/index.js';
import { withinLimit } from './within-limit.js';

/** The calls on one database of this process. */
export class LocalPort implements DatabasePort {
  readonly #databases: DatabaseService;
  readonly #id: string;

  constructor(databases: DatabaseService, id: string) {
    this.#databases = databases;
    this.#id = id;
  }

  describe({ signal }: CallOptions): Promise<DatabaseDescription> {
    return unlessAborted(this.#databases.catalog.describe(this.#id), signal);
  }

  drop({ signal }: CallOptions): Promise<void> {
    return unlessAborted(this.#databases.catalog.drop(this.#id), signal);
  }

  /** A close waits until all records of an array are written; any other source is read no further. */
  upsert(records: Iterable<NewRecord>, options: UpsertOptions | undefined): Promise<BatchResult> {
    return this.#databases.writer.runUpsert(records, (records, upsertBatch) =>
      upsertInBatches(records, options, { vectorsApart: true }, async ({ texts, vectors }, signal) =>
        parseJson(await upsertBatch(this.#id, bodyOf(texts), { signal, ...(vectors && { vectors }) })),
      ),
    );
  }

  upsertLines(chunks: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterable<LineEvent> {
    return this.#databases.writer.upsertLines(this.#id, chunks, options);
  }

  replaceLines(
    chunks: AsyncIterable<Uint8Array>,
    options: CallOptions & MaxDeletes,
  ): AsyncIterable<LineEvent> {
    return this.#databases.writer.replaceLines(this.#id, chunks, options);
  }

  exportLines(
    request: CheckedRequest<{ filter?: unknown }>,
    vectors: boolean,
    options: CallOptions,
  ): AsyncIterable<Uint8Array> {
    const filter = checkExportFilter(withinLimit(request).filter);
    return this.#databases.exports.lines(this.#id, { filter, vectors }, options);
  }

  async page<Kind extends keyof PageRequests>(
    kind: Kind,
    checked: CheckedRequest<PageRequests[Kind]>,
    { signal }: CallOptions,
  ): Promise<unknown> {
    const options = { form: 'both', signal } as const;
    const request = withinLimit(checked);
    const asked = {
      search: () => this.#databases.reader.search(this.#id, checkSearchRequest(request), options),
      query: () => this.#databases.reader.query(this.#id, checkQueryRequest(request), options),
      map: () => this.#databases.reader.map(this.#id, checkMapRequest(request), options),
    };
    return parseJson((await asked[kind]()).body);
  }

  async searches(
    requests: readonly CheckedRequest<SearchRequest>[],
    { signal }: CallOptions,
  ): Promise<(object | CosiftError)[]> {
    const checked = requests.map((request) => {
      try {
        return checkSearchRequest(withinLimit(request));
      } catch (error) {
        return refusalOf(error);
      }
    });
    return await besideErrors(checked, async (valid: SearchRequest[]) => {
      const { pages } = await this.#databases.reader.searches(this.#id, valid, { form: 'both', signal });
      return pages.map((page) => (page instanceof CosiftError ? page : parseJson<object>(page)));
    });
  }

  async record(id: number | string, vectors: boolean, { signal }: CallOptions): Promise<unknown> {
    const record = this.#databases.reader.record(this.#id, String(id), { form: 'both', vectors }, {});
    return parseJson(await unlessAborted(record, signal));
  }

  async patch(id: number | string, patch: CheckedRequest<object>, options: CallOptions): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(withinLimit(patch)));
    return parseJson(await this.#databases.writer.patchRecord(this.#id, String(id), 'both', body, options));
  }

  async delete(request: CheckedRequest<object>, options: CallOptions): Promise<{ deleted: number }> {
    return await this.#databases.writer.deleteRecords(
      this.#id,
      checkDeleteRequest(withinLimit(request)),
      options,
    );
  }

  async changes(request: ChangesRequest, options: CallOptions): Promise<Changes> {
    const { after = 0, limit = DEFAULTS.changes_limit, waitMs = 0, epoch } = request;
    const body = await this.#databases.feed.read(this.#id, { after, limit, waitMs, epoch }, options);
    // An abort only ends the wait for a change: the feed then returns what there is.
    options.signal?.throwIfAborted();
    return parseJson(body);
  }

  startReembedding(model: string): Promise<Reembedding> {
    return this.#databases.reembeddings.start(this.#id, model);
  }

  reembedding(): Promise<Reembedding> {
    return this.#databases.reembeddings.find(this.#id);
  }

  cancelReembedding({ signal }: CallOptions): Promise<void> {
    return unlessAborted(this.#databases.reembeddings.cancel(this.#id), signal);
  }
}

/** Returns the request that writes records. They are encoded one by one: a text of all of them would be slower to make. */
function bodyOf(records: readonly string[]): Uint8Array {
  const units = records.reduce((sum, text) => sum + text.length + 1, START.length + END.length);
  // A code unit has at most three bytes.
  const body = Buffer.allocUnsafe(3 * units);
  let at = body.write(START);
  for (const text of records) {
    at += body.write(text, at);
    at += body.write(',', at);
  }
  // Over the last comma.
  if (records.length > 0) at -= 1;
  return body.subarray(0, at + body.write(END, at));
}

const START = '{"records":[';
const END = ']}';
