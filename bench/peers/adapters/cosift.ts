import { setTimeout } from 'node:timers/promises';
import { type NativeEngine, native } from '../../../src/store/local/binding.js';
import { pagesOf } from '../../../src/store/local/pages-of.js';
import { CATEGORIES } from '../../data/columns.js';
import type { Dataset } from '../../data/dataset.js';
import type { Filter } from '../../data/filters.js';
import type { Hits, PageRequest, Peer, PeerCard } from '../peer.js';

/** The binding returns failures as values. */
interface Failure {
  code: string;
  detail: string;
}

/** A page of a listing. */
export interface Listed {
  readonly results: readonly { readonly id: number }[];
  readonly pagination: { readonly next_cursor?: string };
  readonly total?: { readonly value: number };
}

interface Response {
  results: { id: number; relevance_score: number }[];
  pagination: { next_cursor?: string };
  total?: { value: number };
}

/** The binding alone. */
export const COSIFT: PeerCard = {
  name: 'cosift',
  exact: true,
  ours: true,
  keeps: true,
  maxRecords: 10_000_000,
  settings: 'the native binding; threads as the cell says',
  make: async ({ threads }) => new Cosift(threads),
};

/** A model name for the vectors. With a model, the binding takes vectors as numbers instead of JSON. */
export interface GivenModel {
  readonly model: string;
  readonly fingerprint: string;
}

/** The database id of the suites that have one database. */
export const DATABASE = 'bench';

/** An engine with the database of the bench. */
export class Cosift implements Peer {
  readonly #native = native();
  readonly #threads: number;
  readonly #model: GivenModel;
  readonly #database: string;
  #engine?: NativeEngine;

  constructor(
    threads: number,
    model: GivenModel = { model: 'given', fingerprint: 'given' },
    database = DATABASE,
  ) {
    this.#threads = threads;
    this.#model = model;
    this.#database = database;
  }

  /** Makes another database in the same engine. Only the first database is closed. */
  async beside(database: string, dataset: Dataset): Promise<Cosift> {
    const other = new Cosift(this.#threads, this.#model, database);
    other.#engine = this.engine;
    await other.#fill(dataset);
    return other;
  }

  /** The engine that was opened. */
  get engine(): NativeEngine {
    if (this.#engine === undefined) throw new Error('not loaded');
    return this.#engine;
  }

  async load(dataset: Dataset, directory: string): Promise<void> {
    await this.#open(directory);
    await this.#fill(dataset);
  }

  async #fill(dataset: Dataset): Promise<void> {
    const settings = {
      ...this.#model,
      dimensions: dataset.dimensions,
      embed: { columns: ['title'] },
    };
    unwrap(await this.engine.createDatabase(this.#database, JSON.stringify(settings)));
    const step = 4_000;
    for (let start = 0; start < dataset.records; start += step) {
      await this.upsert(dataset, start, Math.min(dataset.records, start + step));
    }
  }

  /** Waits until the process is idle, because background jobs recode vectors and write files after a load. */
  async settle(): Promise<void> {
    let idle = 0;
    while (idle < IDLE_MS) {
      const before = process.cpuUsage();
      await setTimeout(STEP_MS);
      const { user, system } = process.cpuUsage(before);
      idle = (user + system) / 1_000 < STEP_MS / 20 ? idle + STEP_MS : 0;
    }
  }

  async reopen(_dataset: Dataset, directory: string): Promise<void> {
    await this.#open(directory);
  }

  /** Writes the records from `start` to before `end` in one commit. `lines`: the records, if they were made before. */
  async upsert(
    dataset: Dataset,
    start: number,
    end: number,
    lines = linesOf(dataset, start, end),
  ): Promise<void> {
    const { dimensions, vectors } = dataset;
    const prepared = unwrap(await this.engine.prepareLines(this.#database, lines, 1, false));
    const texts = prepared.texts().length;
    if (texts !== end - start) throw new Error(`${texts} texts of ${end - start} records`);
    unwrap(
      await this.engine.commit(
        this.#database,
        prepared,
        vectors.subarray(start * dimensions, end * dimensions),
        new Uint32Array(),
        this.#model.fingerprint,
      ),
    );
  }

  /** Runs one search. `members` are added to the request. `stop` ends the search early. */
  async search(
    query: Float32Array,
    request: PageRequest,
    members: object = {},
    stop = new (native().StopFlag)(),
  ): Promise<PageHits> {
    const [hits] = await this.searchMany([query], request, members, stop);
    return hits as PageHits;
  }

  /** Runs searches in one call, in one moment. */
  async searchMany(
    queries: readonly Float32Array[],
    request: PageRequest,
    members: object = {},
    stop = new (native().StopFlag)(),
  ): Promise<PageHits[]> {
    const requests = queries.map(() => searchRequest(request, members));
    const found = await this.engine.searches(this.#database, requests, [...queries], stop);
    return pagesOf(unwrap(found)).map((page) => new PageHits(unwrap(page).body));
  }

  /** Lists records without scores. `members` are those of the request. */
  async query(members: object, stop = new (native().StopFlag)()): Promise<Listed> {
    const request = JSON.stringify({ variant: 'b', ...members });
    return JSON.parse(unwrap(await this.engine.query(this.#database, request, stop)).body.toString());
  }

  async close(): Promise<void> {
    await this.#engine?.close();
  }

  async #open(directory: string): Promise<void> {
    this.#engine = unwrap(
      this.#native.openEngine(directory, {
        threads: this.#threads,
        vectorMegabytes: 2_048,
        limits: {
          filterDepth: 32,
          filterRules: 1000,
          filterValueBytes: 10_000,
          batchRecords: 1000,
          recordBytes: 1 << 20,
          pageBytes: 4_194_304,
          databaseColumns: 20_000,
          changeRetentionDays: 30,
        },
      }),
    );
    unwrap(await this.#engine.load());
  }
}

/**
 * A process that was idle for this time has no background work left. A job starts at most two seconds after the last write
 * or job, whose syncs of files take no processor time.
 */
const IDLE_MS = 5_000;
const STEP_MS = 250;

/** Parses the page only when it is read, so that the measured time is that of the binding. */
class PageHits implements Hits {
  readonly #body: Buffer;
  #page?: Response;

  constructor(body: Buffer) {
    this.#body = body;
  }

  get ids(): number[] {
    return this.#read().results.map(({ id }) => id);
  }

  get scores(): number[] {
    return this.#read().results.map((result) => result.relevance_score);
  }

  /** Number of all matches, if requested. */
  get total(): number | undefined {
    return this.#read().total?.value;
  }

  get next(): string | undefined {
    return this.#read().pagination.next_cursor;
  }

  #read(): Response {
    this.#page ??= JSON.parse(this.#body.toString()) as Response;
    return this.#page;
  }
}

/** The request for the binding. */
export function searchRequest(
  { filter, threshold, limit, cursor }: PageRequest,
  members: object = {},
): string {
  return JSON.stringify({
    variant: 'b',
    threshold,
    limit,
    cursor,
    ...bodyOf(filter),
    ...members,
  });
}

/** The filter in the format of the API. */
export function bodyOf({ group, time }: Filter): object {
  return {
    ...(group === undefined ? {} : { filter: group }),
    ...(time === undefined
      ? {}
      : {
          time_range: {
            start_time: new Date(time.startMs).toISOString(),
            end_time: new Date(time.endMs).toISOString(),
          },
        }),
  };
}

/** Records as NDJSON lines. */
export function linesOf({ columns }: Dataset, start: number, end: number): Buffer {
  const lines: string[] = [];
  for (let i = start; i < end; i++) {
    const time = `"${new Date(columns.synced[i] as number).toISOString()}"`;
    lines.push(
      `{"id":${i + 1},"data":{"category":"${CATEGORIES[columns.category[i] as number]}","price":${columns.price[i]},` +
        `"flag":${columns.flag[i] === 1},"title":"${columns.title[i]}"},` +
        `"timestamps":{"first_seen_time":${time},"last_changed_time":${time},"last_seen_time":${time}}}\n`,
    );
  }
  return Buffer.from(lines.join(''));
}

/** The page of a call with one search. */
export function firstPage(found: Awaited<ReturnType<NativeEngine['searches']>>) {
  const [page] = pagesOf(unwrap(found));
  return unwrap(page as NonNullable<typeof page>);
}

/** Returns the value, or throws the failure. */
export function unwrap<T extends object | undefined>(outcome: T): Exclude<T, Failure> {
  if (outcome !== undefined && 'code' in outcome) {
    const { code, detail } = outcome as unknown as Failure;
    throw new Error(`${code}: ${detail}`);
  }
  return outcome as Exclude<T, Failure>;
}
