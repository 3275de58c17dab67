import type { CheckedRequest } from '../api/checked-copy.js';
import type { DatabasePort, PageRequests } from '../api/database-port.js';
import type { CallOptions, ChangesRequest, MaxDeletes, UpsertOptions } from '../api/options.js';
import { upsertInBatches } from '../api/upsert-in-batches.js';
import { unlessAborted } from '../async/until-aborted.js';
import type { DatabaseService } from '../databases/index.js';
import { besideErrors, CosiftError, isCode, refusalOf } from '../errors.js';
import {
  type BatchResult,
  type Changes,
  checkDatabaseChanges,
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
import type { Handle } from './handle.js';
import { withinLimit } from './within-limit.js';

/** The calls on one database of this process, which is named by its id or by an alias. */
export class LocalPort implements DatabasePort {
  readonly #handle: Handle;
  readonly #name: string;

  constructor(handle: Handle, name: string) {
    this.#handle = handle;
    this.#name = name;
  }

  get #databases(): DatabaseService {
    return this.#handle.databases;
  }

  /** For a call that writes. @throws {CosiftError} `read_only` */
  get #writable(): DatabaseService {
    return this.#handle.writable;
  }

  describe({ signal }: CallOptions): Promise<DatabaseDescription> {
    return unlessAborted(
      this.#run((id) => this.#databases.catalog.describe(id)),
      signal,
    );
  }

  configure(given: CheckedRequest<object>, { signal }: CallOptions): Promise<DatabaseDescription> {
    const changes = checkDatabaseChanges(withinLimit(given));
    return unlessAborted(
      this.#run((id) => this.#writable.catalog.configure(id, changes)),
      signal,
    );
  }

  drop({ signal }: CallOptions): Promise<void> {
    return unlessAborted(
      this.#run((id) => this.#writable.catalog.drop(id)),
      signal,
    );
  }

  /** A close waits until all records of an array are written; any other source is read no further. */
  upsert(records: Iterable<NewRecord>, options: UpsertOptions | undefined): Promise<BatchResult> {
    const { writer } = this.#writable;
    // The records are read before the name of an alias is resolved, because the caller may change them.
    const id = Promise.resolve(this.#databases.aliases.resolve(this.#name));
    id.catch(() => undefined);
    const written = writer.runUpsert(records, (records, upsertBatch) =>
      upsertInBatches(records, options, { vectorsApart: true }, async ({ texts, vectors }, signal) =>
        parseJson(await upsertBatch(await id, bodyOf(texts), { signal, ...(vectors && { vectors }) })),
      ),
    );
    return written.catch((error) => {
      throw this.#named(error);
    });
  }

  upsertLines(chunks: AsyncIterable<Uint8Array>, options: CallOptions): AsyncIterable<LineEvent> {
    return this.#items((id) => this.#writable.writer.upsertLines(id, chunks, options));
  }

  replaceLines(
    chunks: AsyncIterable<Uint8Array>,
    options: CallOptions & MaxDeletes,
  ): AsyncIterable<LineEvent> {
    return this.#items((id) => this.#writable.writer.replaceLines(id, chunks, options));
  }

  exportLines(
    request: CheckedRequest<{ filter?: unknown }>,
    vectors: boolean,
    options: CallOptions,
  ): AsyncIterable<Uint8Array> {
    const filter = checkExportFilter(withinLimit(request).filter);
    return this.#items((id) => this.#databases.exports.lines(id, { filter, vectors }, options));
  }

  async page<Kind extends keyof PageRequests>(
    kind: Kind,
    checked: CheckedRequest<PageRequests[Kind]>,
    { signal }: CallOptions,
  ): Promise<unknown> {
    const options = { form: 'both', signal } as const;
    const request = withinLimit(checked);
    const asked = {
      search: (id: string) => this.#databases.reader.search(id, checkSearchRequest(request), options),
      query: (id: string) => this.#databases.reader.query(id, checkQueryRequest(request), options),
      map: (id: string) => this.#databases.reader.map(id, checkMapRequest(request), options),
    };
    return parseJson((await this.#run(asked[kind])).body);
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
      const options = { form: 'both', signal } as const;
      const { pages } = await this.#run((id) => this.#databases.reader.searches(id, valid, options));
      return pages.map((page) => (page instanceof CosiftError ? page : parseJson<object>(page)));
    });
  }

  async record(id: number | string, vectors: boolean, { signal }: CallOptions): Promise<unknown> {
    const request = { form: 'both', vectors } as const;
    const record = this.#run((database) => this.#databases.reader.record(database, String(id), request, {}));
    return parseJson(await unlessAborted(record, signal));
  }

  async patch(id: number | string, patch: CheckedRequest<object>, options: CallOptions): Promise<unknown> {
    const body = Buffer.from(JSON.stringify(withinLimit(patch)));
    const { writer } = this.#writable;
    const patched = (database: string) => writer.patchRecord(database, String(id), 'both', body, options);
    return parseJson(await this.#run(patched));
  }

  async delete(request: CheckedRequest<object>, options: CallOptions): Promise<{ deleted: number }> {
    const deletion = checkDeleteRequest(withinLimit(request));
    return await this.#run((id) => this.#writable.writer.deleteRecords(id, deletion, options));
  }

  async changes(request: ChangesRequest, options: CallOptions): Promise<Changes> {
    const { after = 0, limit = DEFAULTS.changes_limit, waitMs = 0, epoch } = request;
    const read = { after, limit, waitMs, epoch };
    const body = await this.#run((id) => this.#databases.feed.read(id, read, options));
    // An abort only ends the wait for a change: the feed then returns what there is.
    options.signal?.throwIfAborted();
    return parseJson(body);
  }

  startReembedding(model: string): Promise<Reembedding> {
    return this.#run((id) => this.#writable.reembeddings.start(id, model));
  }

  reembedding(): Promise<Reembedding> {
    return this.#run((id) => this.#databases.reembeddings.find(id));
  }

  cancelReembedding({ signal }: CallOptions): Promise<void> {
    return unlessAborted(
      this.#run((id) => this.#writable.reembeddings.cancel(id)),
      signal,
    );
  }

  /** Runs a call on the database that the name stands for now. It begins at once, unless the name is that of an alias. */
  async #run<T>(call: (id: string) => Promise<T>): Promise<T> {
    const { aliases } = this.#databases;
    const id = aliases.resolve(this.#name);
    try {
      return await call(typeof id === 'string' ? id : await id);
    } catch (error) {
      throw this.#named(error);
    }
  }

  async *#items<T>(call: (id: string) => AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    try {
      yield* call(await this.#databases.aliases.resolve(this.#name));
    } catch (error) {
      throw this.#named(error);
    }
  }

  /** The name may be that of an alias by now, which another process has set. */
  #named(error: unknown): unknown {
    if (isCode(error, 'database_not_found')) this.#databases.aliases.forget(this.#name);
    return error;
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
