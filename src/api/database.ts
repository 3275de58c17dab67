import { atPlace, besideErrors, CosiftError, isCode } from '../errors.js';
import { checkOptions } from '../schema/options.js';
import type {
  BatchResult,
  Change,
  Changes,
  ColumnChanges,
  Columns,
  ColumnValue,
  Data,
  DatabaseChanges,
  DatabaseDescription,
  LineEvent,
  NewColumns,
  NewRecord,
  Page,
  Points,
  Reembedding,
  SearchRequest,
  StoredRecord,
} from '../schema/public-types.js';
import { callOptions, getOptions } from './call-options.js';
import type { CheckedRequest } from './checked-copy.js';
import type { DatabasePort, PageRequests } from './database-port.js';
import { follow } from './follow.js';
import { itemsOf } from './items-of.js';
import { bytesOf } from './line-chunks.js';
import type {
  CallOptions,
  ChangesRequest,
  DeleteOptions,
  ExportOptions,
  GetOptions,
  MapOptions,
  Query,
  QueryOptions,
  ReembedOptions,
  SearchOptions,
  UpsertLinesOptions,
  UpsertOptions,
} from './options.js';
import { paginate } from './paginate.js';
import { reembed } from './reembed.js';
import { refuseMore } from './refuse-more.js';
import { namingMaxDeletes, replaceAll, replaceOptions } from './replace-all.js';
import {
  batchCalls,
  type Call,
  deleteCall,
  exportCall,
  mapCall,
  patchCall,
  queryCall,
  requestCall,
  searchCall,
} from './requests.js';
import { upsertOptions } from './upsert-in-batches.js';

/**
 * The type of the data of records to write: `T`; any columns, or the type `Given` of the argument, if `T` has any
 * columns. For a `Database<any>`, which takes every database, it is any type.
 */
type DataToWrite<T, Given> = 0 extends 1 & T
  ? T
  : string extends keyof T
    ? Given | Readonly<Record<string, ColumnValue | undefined>>
    : T;

/** A record that a search found. */
export interface SearchResult<T = Data> extends StoredRecord<T> {
  /** Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning. */
  relevance_score: number;
}

// An array is iterable, too. It is listed so that the compiler points to the record that is wrong.
/** Records to write: an array, or a source that is read record by record. */
export type RecordSource<R> = readonly R[] | Iterable<R> | AsyncIterable<R>;

/**
 * One database, in this process or behind a service. `T` is the type of the data of a record: with it, the names of
 * columns and the operators of rules are checked. Without it, records may have any columns. A function that takes the
 * databases of every type has a parameter of the type `Database<any>`.
 *
 * Every method fails with a `CosiftError`: `database_not_found` when there is no such database, `invalid_request` for an
 * option that is unknown or has a value that is not allowed, and for more arguments than it takes. If a method returns
 * something to iterate over, its first item fails.
 *
 * Arguments are read when a method is called: a program may change them afterwards, while the call runs. Only what is
 * read little by little must stay as it is until it is read: the records of a source, those of an array after
 * the first commit, and the bytes of lines.
 */
export class Database<T extends Columns<T> = Data> {
  static {
    refuseMore(Database);
  }

  /** The id of the database. */
  readonly id: string;

  /** @internal Made by `Cosift` and by `Client`. */
  constructor(id: string, port: DatabasePort) {
    this.id = id;
    ports.set(this, port);
  }

  /** Describes the database: settings, columns, number of records, sizes in bytes, times. */
  async describe(options?: CallOptions): Promise<DatabaseDescription> {
    return await portOf(this).describe(callOptions(options));
  }

  /**
   * Changes settings, and returns the description of the database. What is left out stays, and null removes a setting.
   *
   * `embed` and `model` change in the background: every record gets its new vector, and then the database switches to all of
   * them at once. The description has the state in `reembedding`, and {@link reembed} with the model waits until it is done.
   *
   * @throws {CosiftError} `invalid_request` with a pointer such as `/defaults/lexical`; `reembedding_running` while another
   * re-embedding runs.
   *
   * @example
   * ```ts
   * await facts.configure({ lexical: true, defaults: { lexical: 0.3, limit: 20 } });
   * const { results } = await facts.search('deep water');
   * ```
   */
  async configure(changes: DatabaseChanges<T>, options?: CallOptions): Promise<DatabaseDescription> {
    const call = requestCall<object>(changes, 'the changes', options);
    return await call.run((changes, options) => portOf(this).configure(changes, options));
  }

  /** Drops the database with all its records. */
  async drop(options?: CallOptions): Promise<void> {
    await portOf(this).drop(callOptions(options));
  }

  /**
   * Writes records, up to 1,000 a commit. Each commit is durable and searchable before the next begins. A column that is
   * undefined is left out; any other value that JSON cannot represent, such as NaN or a `Date`, is refused.
   *
   * @throws {CosiftError} `invalid_record` and the other codes of records; `precondition_failed` when a stored record is
   * not as `if_changed_at` says. Pointers such as `/records/1200/data/name` count from the first of `records`;
   * `fields.committed` is the number of records that were committed before.
   *
   * @example
   * ```ts
   * const { created } = await facts.upsert([{ id: 1, data: { text: 'The Eiffel Tower is in Paris', height_m: 330 } }]);
   * ```
   */
  async upsert<Given extends NewColumns<Given> = Data>(
    records: RecordSource<NewRecord<DataToWrite<T, Given>>>,
    options?: UpsertOptions,
  ): Promise<BatchResult> {
    return await portOf(this).upsert(records as Iterable<NewRecord>, options);
  }

  /**
   * Writes NDJSON, one record a line. Yields each problem of a line, the progress after each commit, and a summary at
   * the end. A line with a problem does not prevent the others from being stored. A failure of `chunks` is thrown as it
   * is.
   *
   * @throws {CosiftError} `invalid_request` for a chunk that is neither bytes nor text.
   */
  upsertLines(
    chunks: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
    options?: UpsertLinesOptions,
  ): AsyncGenerator<LineEvent, void, undefined> {
    return itemsOf(() => {
      const { signal, onProgress } = upsertOptions(options);
      return withProgress(portOf(this).upsertLines(bytesOf(chunks), { signal }), { onProgress });
    });
  }

  /**
   * Writes records like {@link upsert}, then deletes the records that `records` lacks. Records that other calls write
   * meanwhile stay. A record without `id`, `uuid` and `key` is not valid, because each call would store it again.
   *
   * `onProgress` is called as by {@link upsert}. `maxDeletes` is how many records may be deleted, at least 0. Default: a tenth
   * of the records at the start, or 10 if that is more; none if there are no `records`.
   *
   * Nothing is deleted unless `records` ends without an error and every record is stored; valid records are written in any
   * case. A close ends the call with `not_ready`, and a client sends the records once.
   *
   * @throws {CosiftError} `deletion_refused` when a record is not valid, or more than `maxDeletes` would be deleted:
   * `fields.missing` is how many. Its pointers, such as `/records/1200/data/name`, name the first problems.
   *
   * @example
   * ```ts
   * const source = [{ id: 1, data: { text: 'The Eiffel Tower is in Paris', height_m: 330 } }];
   * const { created, changed, unchanged, deleted } = await facts.replaceAll(source);
   * ```
   */
  async replaceAll<Given extends NewColumns<Given> = Data>(
    records: RecordSource<NewRecord<DataToWrite<T, Given>>>,
    options?: UpsertOptions & { maxDeletes?: number | undefined },
  ): Promise<Pick<BatchResult, 'created' | 'changed' | 'unchanged'> & { deleted: number }> {
    return await replaceAll(portOf(this), records as Iterable<NewRecord>, options);
  }

  /**
   * Writes NDJSON like {@link upsertLines}, then deletes the records that the lines lack, as {@link replaceAll} does. The
   * summary has `deleted`.
   *
   * @throws {CosiftError} `deletion_refused` in place of the summary when a line has a problem, or more than `maxDeletes`
   * records would be deleted.
   */
  replaceLines(
    chunks: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
    options?: UpsertLinesOptions & { maxDeletes?: number | undefined },
  ): AsyncGenerator<LineEvent, void, undefined> {
    return itemsOf(() => {
      const { onProgress, ...call } = replaceOptions(options);
      const events = namingMaxDeletes(portOf(this).replaceLines(bytesOf(chunks), call));
      return withProgress(events, { onProgress });
    });
  }

  /**
   * Yields all records as NDJSON in chunks of bytes, in the order of the integer ids: the mirror of {@link upsertLines},
   * which takes the lines back as they are. A chunk ends with a line. The records are those of the moment at which the
   * export begins, however slowly it is read; writes continue meanwhile.
   *
   * A line has `id`, `uuid`, `data` and `timestamps`. With `vectors`, it also has the exact `vector`, and `embedded_by`
   * in a database with a model: imported into a database with the same model, nothing is embedded again, and searches
   * have equal scores.
   *
   * @throws {CosiftError} `invalid_filter`; `busy` when too many exports are in progress; `database_not_found`, also when
   * the database is dropped meanwhile; `not_ready` when a close begins. A client fails with `unreachable` when the
   * connection ends before the export.
   *
   * @example
   * ```ts
   * let bytes = 0;
   * for await (const chunk of facts.exportLines({ filter: greaterThan('height_m', 300) })) bytes += chunk.length;
   * ```
   */
  exportLines(options?: ExportOptions<T>): AsyncGenerator<Uint8Array, void, undefined> {
    return itemsOf(() => exportedLines(portOf(this), exportCall(options)));
  }

  /**
   * Returns one page of the records that are similar in meaning to a text, or to a vector; highest relevance score
   * first, ties by id.
   *
   * @throws {CosiftError} `invalid_filter`, `invalid_cursor`, `invalid_time`, `invalid_dimensions`
   *
   * @example
   * ```ts
   * const { results } = await facts.search('a tall tower', { filter: greaterThan('height_m', 300), limit: 10 });
   * ```
   *
   * @example
   * ```ts
   * const points = await cosift.createDatabase('points', { dimensions: 2 });
   * await points.upsert([{ id: 1, data: { name: 'east' }, vector: [1, 0] }]);
   * const { results } = await points.search({ vector: [0.6, 0.8] }, { threshold: 0.3 });
   * ```
   */
  async search(query: Query, options?: SearchOptions<T>): Promise<Page<SearchResult<T>>> {
    return (await searchCall(query, options).run(pagesOf(this, 'search'))) as Page<SearchResult<T>>;
  }

  /**
   * Runs up to 64 searches at once. It takes far less time than one search after the other, and all pages show the same
   * moment. A search has the options of {@link search}, and `search` is its text, its vector or examples. Returns a page or
   * an error for each search, in their order: a search that is not valid leaves the others.
   *
   * The pages together have at most as many bytes as a single page may have.
   *
   * @throws {CosiftError} `invalid_request` for no searches and for more than 64; what is wrong with one search is the
   * error of that search.
   *
   * @example
   * ```ts
   * const texts = ['a tall tower', 'a deep lake'];
   * const outcomes = await facts.searchMany(texts.map((search) => ({ search, limit: 3 })));
   * for (const { page, error } of outcomes) console.log(error?.detail ?? page?.results.map(({ id }) => id));
   * ```
   */
  async searchMany(
    searches: readonly ({ search: Query } & Omit<SearchOptions<T>, 'signal'>)[],
    options?: CallOptions,
  ): Promise<
    ({ page: Page<SearchResult<T>>; error?: undefined } | { page?: undefined; error: CosiftError })[]
  > {
    const given = callOptions(options);
    const calls = batchCalls(searches);
    const found = await besideErrors(calls, (valid: Call<SearchRequest>[]) =>
      valid.length === 0
        ? Promise.resolve([])
        : portOf(this).searches(
            valid.map(({ checked }) => checked),
            given,
          ),
    );
    return found.map((outcome, at) => {
      if (!(outcome instanceof CosiftError)) return { page: outcome as Page<SearchResult<T>> };
      const call = calls[at];
      const named = call instanceof CosiftError ? call : (call?.named(outcome) as CosiftError);
      return { error: atPlace(named, `/searches/${at}`) };
    });
  }

  /**
   * Yields every record that a search finds, in the order of {@link search}, page after page.
   *
   * @example
   * ```ts
   * for await (const { id, relevance_score } of facts.searchAll('deep water', { threshold: 0.4 })) {
   *   console.log(id, relevance_score);
   * }
   * ```
   */
  searchAll(query: Query, options?: SearchOptions<T>): AsyncGenerator<SearchResult<T>, void, undefined> {
    return itemsOf(() => paginate(searchCall(query, options), pagesOf(this, 'search')));
  }

  /**
   * Returns one page of the records that satisfy filter and time range, in the order of `sort`, without scores.
   *
   * @example
   * ```ts
   * const { results } = await facts.query({ filter: isNotEmpty('height_m'), sort: { column: 'height_m' } });
   * ```
   */
  async query(options?: QueryOptions<T>): Promise<Page<StoredRecord<T>>> {
    return (await queryCall(options).run(pagesOf(this, 'query'))) as Page<StoredRecord<T>>;
  }

  /**
   * Puts the first 2,000 matches of a search, or of a query, on a plane: records of similar meaning are near each other.
   * The same records have the same places on every machine. A key needs `records.read`.
   *
   * @example
   * ```ts
   * const { points } = await facts.map({ search: 'a tall tower', columns: ['country'] });
   * for (const { x, y, data } of points) console.log(x, y, data.country);
   * ```
   */
  async map(options?: MapOptions<T>): Promise<Points<T>> {
    return (await mapCall(options).run(pagesOf(this, 'map'))) as Points<T>;
  }

  /** Yields every record that satisfies the query, in the order of `sort`, page after page. */
  queryAll(options?: QueryOptions<T>): AsyncGenerator<StoredRecord<T>, void, undefined> {
    return itemsOf(() => paginate(queryCall(options), pagesOf(this, 'query')));
  }

  /** Returns a record by its integer id, its UUID, or `key:` and its key; undefined when there is none. */
  async get(id: number | string, options?: GetOptions): Promise<StoredRecord<T> | undefined> {
    checkOptions('record', { id });
    const { vectors, signal } = getOptions(options);
    try {
      return (await portOf(this).record(id, vectors, { signal })) as StoredRecord<T>;
    } catch (error) {
      if (isCode(error, 'record_not_found')) return undefined;
      throw error;
    }
  }

  /** Returns a record for each id, as {@link get} does, in the order of the ids. Each record is read for itself. */
  async getMany(
    ids: readonly (number | string)[],
    options?: GetOptions,
  ): Promise<(StoredRecord<T> | undefined)[]> {
    checkOptions('records', { ids });
    return await Promise.all(ids.map((id) => this.get(id, options)));
  }

  /**
   * Changes columns of one record and keeps the others. A column with null is removed. The record is embedded again only
   * if its text changes. Two calls that change different columns of the same record at the same time both take effect.
   *
   * With `ifChangedAt`, only a record that was last changed at this time is changed: the `changed_at` of its `timestamps`.
   *
   * Returns the record right after the change. A client whose key lacks
   * `records.read` gets only the columns that it set.
   *
   * @throws {CosiftError} `record_not_found`; `invalid_record` with a pointer such as `/data/price`; `too_large` when the
   * changed record would be too large; `precondition_failed` when the record was not last changed at `ifChangedAt`.
   *
   * @example
   * ```ts
   * const { data } = await facts.patch(1, { height_m: 330, architect: null });
   * ```
   */
  async patch<Given extends NewColumns<Given> = Data>(
    id: number | string,
    changes: ColumnChanges<T, Given>,
    options?: CallOptions & { ifChangedAt?: string | undefined },
  ): Promise<StoredRecord<T>> {
    checkOptions('record', { id });
    const call = patchCall(changes, options);
    return (await call.run((patch, options) => portOf(this).patch(id, patch, options))) as StoredRecord<T>;
  }

  /**
   * Deletes records by `ids`, or by `filter` and `timeRange`. Returns the number of deleted records.
   *
   * @throws {CosiftError} `precondition_failed` when a record was not last changed at the `if_changed_at` of its id. Nothing
   * is deleted then.
   *
   * @example
   * ```ts
   * const deleted = await facts.delete({ filter: equals('country', 'Atlantis') });
   * ```
   */
  async delete(options: DeleteOptions<T>): Promise<number> {
    const call = deleteCall(options);
    return (await call.run((request, options) => portOf(this).delete(request, options))).deleted;
  }

  /**
   * Returns changes after a position of the change feed, oldest first. Pass `position` and `epoch` of the result as
   * `after` and `epoch` of the next call.
   *
   * @throws {CosiftError} `feed_restarted` when the database was created again since `epoch`; `changes_removed` when
   * changes after the position are no longer kept.
   */
  async changes(request?: ChangesRequest, options?: CallOptions): Promise<Changes> {
    const given = request === undefined ? {} : request;
    checkOptions('changes', given);
    return await portOf(this).changes(given, callOptions(options));
  }

  /** Yields every change after a position, and waits for further ones. Fails as {@link changes} does. */
  follow(
    request?: Omit<ChangesRequest, 'limit'>,
    options?: CallOptions,
  ): AsyncGenerator<Change, never, undefined> {
    return itemsOf(() => follow(this, request, options));
  }

  /**
   * Gives every record a vector of another model, and waits until that is done. Searches and writes continue meanwhile,
   * but writes that are faster than the embedding are slowed, and a write that waits for ten seconds fails with `busy`.
   * The database switches to the new vectors at once. If the process ends first, its next start continues the
   * re-embedding.
   *
   * @throws {CosiftError} `invalid_request` when there is no such model; `reembedding_not_found` when another caller
   * cancels the re-embedding.
   */
  async reembed(model: string, options?: ReembedOptions): Promise<Reembedding> {
    return await reembed(portOf(this), model, options);
  }

  /**
   * Cancels a re-embedding. The database stays as it was.
   *
   * @throws {CosiftError} `reembedding_not_found` when none was begun.
   */
  async cancelReembedding(options?: CallOptions): Promise<void> {
    await portOf(this).cancelReembedding(callOptions(options));
  }
}

// Not a private member: databases of `cosift` and of `@cosift/client` would have types that exclude each other.
const ports = new WeakMap<object, DatabasePort>();

function portOf(database: object): DatabasePort {
  return ports.get(database) as DatabasePort;
}

/** Requests pages of a database. */
function pagesOf<Kind extends keyof PageRequests>(database: object, kind: Kind) {
  return (request: CheckedRequest<PageRequests[Kind]>, options: CallOptions) =>
    portOf(database).page(kind, request, options);
}

/**
 * Yields the events of a stream of lines, and calls `onProgress` with each event of progress before. What was committed
 * before an abort is told, so the events go on until the stream ends.
 */
async function* withProgress(
  events: AsyncIterable<LineEvent>,
  { onProgress }: UpsertLinesOptions,
): AsyncGenerator<LineEvent, void, undefined> {
  for await (const event of events) {
    if (event.type === 'progress') onProgress?.(event);
    yield event;
  }
}

async function* exportedLines(
  port: DatabasePort,
  { checked, vectors, signal, named }: ReturnType<typeof exportCall>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* port.exportLines(checked, vectors, { signal });
  } catch (error) {
    throw named(error);
  }
}
