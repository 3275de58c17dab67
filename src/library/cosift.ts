// Declares `Symbol.asyncDispose` for programs whose `lib` is older.
/// <reference lib="esnext.disposable" preserve="true" />
import { backupOptions, callOptions, closing } from '../api/call-options.js';
import { countingBytes } from '../api/counting-bytes.js';
import type { BackupOptions, CallOptions, Databases } from '../api/index.js';
import { itemsOf } from '../api/items-of.js';
import { refuseMore } from '../api/refuse-more.js';
import { embedCall, settingsCall } from '../api/requests.js';
import { unlessAborted, untilAborted } from '../async/until-aborted.js';
import { checkModelSources, type DatabaseService } from '../databases/index.js';
import type { ModelSource } from '../databases/public-types.js';
import {
  type Columns,
  checkDatabaseSettings,
  checkDirectory,
  checkEmbeddingsRequest,
  checkOptions,
  checkStore,
  type Data,
  type DatabaseDescription,
  type DatabaseSettings,
  type DoctorCheck,
} from '../schema/index.js';
import { Handle } from './handle.js';
import { LocalDatabase } from './local-database.js';
import { withinLimit } from './within-limit.js';

/** Options of {@link open}. */
export interface OpenOptions {
  /**
   * Whether the directory is only read. Another process may have it open and write to it: each call sees every write that was
   * acknowledged before the call, and the state of one write as a whole. Calls that write fail with `read_only`. The
   * directory must exist. Default: false. Not allowed with a store, which several processes can have open anyway.
   */
  readOnly?: boolean | undefined;
  /** Number of scan threads. Default: one per core. Not allowed with a store. */
  threads?: number | undefined;
  /**
   * Megabytes of exact vectors and of low nibbles of codes that searches keep in memory once they have read them, of all
   * databases. They are given back while the machine is short of memory. Default: an eighth of the memory. Not allowed with a store.
   */
  vectorMemoryMegabytes?: number | undefined;
  /** Number of threads that embed texts, each with a copy of the model. Default: one per core, at most four. */
  embedWorkers?: number | undefined;
  /**
   * Models other than the built-in one, by name: directories in sentence-transformers layout with ONNX, URLs of
   * OpenAI-compatible endpoints such as `https://api.example.com/v1#model=NAME&key_env=VARIABLE`, and functions.
   */
  models?: Readonly<Record<string, ModelSource>> | undefined;
  /**
   * Whether the models of the databases are loaded before `open` resolves, so that the first search does not wait for them;
   * the built-in model if no database has a model. Default: false.
   */
  warm?: boolean | undefined;
  /** Ends the opening with the signal's reason, once the directory is released. */
  signal?: AbortSignal | undefined;
  /**
   * Called with the progress, a few times a second while databases are loaded, and once when all are: the number of
   * `databases`, and how many of them and of their `records` are loaded.
   */
  onProgress?: ((progress: { databases: number; loaded: number; records: number }) => void) | undefined;
}

/**
 * Opens all databases that are at a place. `place` is the path of a data directory, relative to the working directory of
 * the process, or an object with the URL of a PostgreSQL database with pgvector as `store`, such as
 * `{ store: 'postgres://USER@HOST/DATABASE' }`. A directory is created when it is missing, and only one process at a time
 * can have it open for writing; others can read it with `readOnly`. A process that opens it again shares it, with the options
 * of the first call, until the last `close`. Several processes can have a store open.
 *
 * @example
 * ```ts
 * const cosift = await open('./data');
 * const facts = await cosift.createDatabase('facts');
 * await facts.upsert([{ id: 1, data: { text: 'The Eiffel Tower is in Paris', height_m: 330 } }]);
 * const { results } = await facts.search('a tower in France');
 * await cosift.close();
 * ```
 *
 * @throws {CosiftError} `data_locked` when another process or thread has the directory open; `store_failed` when PostgreSQL cannot
 * be reached; `invalid_request` for an option that
 * is unknown or has a value that is not allowed, for a file in place of the directory, and for a model whose directory is
 * missing or whose URL is not valid.
 */
export async function open(
  place: string | { readonly store: string },
  options: OpenOptions = {},
): Promise<Cosift> {
  const checked = checkPlace(place, options);
  const { warm = false, signal, onProgress, ...settings } = options;
  checkModelSources(settings.models);
  return new Cosift(await Handle.open({ ...checked, ...settings }, { warm, signal, onProgress }));
}

function checkPlace(place: string | { readonly store: string }, options: OpenOptions) {
  if (typeof place !== 'object' || place === null) {
    checkDirectory(place, options);
    return { directory: place };
  }
  checkStore(place, options);
  return { store: { url: place.store } };
}

/** The databases of a data directory. Methods without a comment do what {@link Databases} says. */
export class Cosift implements Databases {
  static {
    refuseMore(Cosift);
  }

  readonly #handle: Handle;

  /** @internal Made by {@link open}. */
  constructor(opened: Handle | DatabaseService) {
    this.#handle = opened instanceof Handle ? opened : Handle.of(opened);
  }

  get #databases(): DatabaseService {
    return this.#handle.databases;
  }

  async createDatabase<T extends Columns<T> = Data>(
    id: string,
    settings?: DatabaseSettings<NoInfer<T>>,
    options?: CallOptions,
  ): Promise<LocalDatabase<T>> {
    const database = this.database<T>(id);
    await settingsCall(settings, options).run(async (request, { signal }) => {
      const checked = checkDatabaseSettings(withinLimit(request));
      await unlessAborted(this.#handle.writable.catalog.create(id, checked), signal);
    });
    return database;
  }

  /**
   * Returns the database with this id, or the one that an alias names, without a request. Its method `sync` keeps records in step
   * with any source: `docs/how-to/keep-in-step.md`.
   */
  database<T extends Columns<T> = Data>(id: string): LocalDatabase<T> {
    checkOptions('database', { id });
    return new LocalDatabase<T>(id, this.#handle);
  }

  async databases(options?: CallOptions): Promise<DatabaseDescription[]> {
    const { signal } = callOptions(options);
    return unlessAborted(this.#databases.catalog.list(), signal);
  }

  async aliases(options?: CallOptions): Promise<{ name: string; database: string }[]> {
    const { signal } = callOptions(options);
    return unlessAborted(this.#databases.aliases.list(), signal);
  }

  async setAlias(name: string, database: string, options?: CallOptions): Promise<void> {
    checkOptions('alias', { name, database });
    const { signal } = callOptions(options);
    await unlessAborted(this.#handle.writable.aliases.set({ name, database }), signal);
  }

  async deleteAlias(name: string, options?: CallOptions): Promise<void> {
    checkOptions('aliasName', { name });
    const { signal } = callOptions(options);
    await unlessAborted(this.#handle.writable.aliases.delete(name), signal);
  }

  async embed(
    texts: readonly string[],
    options?: Parameters<Databases['embed']>[1],
  ): Promise<Float32Array[]> {
    return await embedCall(texts, options).run(async (request, { signal }) => {
      const checked = checkEmbeddingsRequest(withinLimit(request));
      const { vectors, dimensions } = await this.#databases.texts.embed(checked, { signal });
      return texts.map((_, at) => vectors.slice(at * dimensions, (at + 1) * dimensions));
    });
  }

  backup(options?: BackupOptions): AsyncGenerator<Uint8Array, void, undefined> {
    return itemsOf(() => this.#backup(backupOptions(options)));
  }

  async *#backup({
    database: name,
    signal,
    onProgress,
  }: BackupOptions): AsyncGenerator<Uint8Array, void, undefined> {
    const database = name && (await this.#databases.aliases.resolve(name));
    const archive = await this.#databases.backups.begin(database, signal);
    try {
      yield* countingBytes(archive.chunks, archive.bytes, onProgress);
    } finally {
      await archive.release();
    }
  }

  doctor(options?: CallOptions): AsyncGenerator<DoctorCheck, void, undefined> {
    return itemsOf(() => this.#doctor(callOptions(options)));
  }

  async *#doctor({ signal }: CallOptions): AsyncGenerator<DoctorCheck, void, undefined> {
    const ids = (await this.#databases.monitor.states()).map(({ id }) => id);
    const checks = this.#databases.doctor.examine(ids, { signal });
    yield* signal === undefined ? checks : untilAborted(checks, signal);
  }

  /**
   * Finishes the running calls, saves what makes the next start fast, and releases the directory lock. Calls that wait
   * for changes return at once. A later call fails with `not_ready`, and so does the next page of `searchAll` and
   * `queryAll` and the next record of a source of `upsert` that is no array. Closing again returns the same promise. While
   * the process has the directory open by another call of `open`, only the calls of this object fail.
   */
  close(options?: CallOptions): Promise<void> {
    return closing(options, () => this.#handle.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
