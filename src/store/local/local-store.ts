import { totalmem } from 'node:os';
import { endOfTurn } from '../../async/end-of-turn.js';
import { type Stoppable, throwIfStopped } from '../../async/stoppable.js';
import { TurnBudget } from '../../async/turn-budget.js';
import { CosiftError, isCode } from '../../errors.js';
import { removeAddress } from '../../files/address-file.js';
import { type Alias, type Limits, parseJson } from '../../schema/index.js';
import type { EmbeddedVectors } from '../embedded-vectors.js';
import type {
  CommitResult,
  DatabaseInfo,
  Examination,
  ExamineCall,
  ExampleQuery,
  ExamplesRequest,
  LineRules,
  PreparedRecords,
  RecordForm,
  RecordRequest,
  RecordStore,
  StoreBackup,
  StoreChangesRequest,
  StoreDeleteRequest,
  StoredDatabase,
  StoreExportRequest,
  StorePage,
  StorePages,
  StoreQueryRequest,
  StoreSearch,
  StoreSettings,
  SyncHold,
  SyncState,
  SyncStateRequest,
  WriteMark,
} from '../record-store.js';
import { settingsIn } from '../settings.js';
import { databaseOfAlias, refuseNamed, StaleError } from '../store-errors.js';
import type { DatabaseProgress, StoreEvents, StoreStats } from '../store-state.js';
import { AliasesFile } from './aliases-file.js';
import { type NativeEngine, type NativePage, native, type Prepared, type StopFlag } from './binding.js';
import { engineLimits } from './engine-limits.js';
import { runExamination } from './examination.js';
import { makeBackup } from './local-backup.js';
import { LocalReembedder } from './local-reembedder.js';
import { pagesOf } from './pages-of.js';
import { refuseUnfinishedRestore } from './refuse-unfinished-restore.js';
import { withStopFlag, withStopFlagIfPending, withStopFlagUntilDone } from './stop-flag.js';
import { TemporaryCopy } from './temporary-copy.js';
import { unwrap } from './unwrap.js';

export interface LocalOptions {
  /** Threads that scan. Default: one per core. */
  threads?: number | undefined;
  /** Megabytes of exact vectors, and of low nibbles of codes, that searches keep in memory. Default: an eighth of the memory. */
  vectorMemoryMegabytes?: number | undefined;
}

/**
 * The record store of this process: the embedded engine over a data directory.
 *
 * The handles of prepared records are objects of the binding. The binding types the code of a problem as a string; a
 * test compares the codes of the engine's problems with `PROBLEM_CODES`.
 */
export class LocalStore implements RecordStore {
  readonly #native: NativeEngine;
  readonly #directory: string;
  readonly #aliases: AliasesFile;
  readonly reembedder: LocalReembedder;
  #isBackingUp = false;

  protected constructor(engine: NativeEngine, directory: string) {
    this.#native = engine;
    this.#directory = directory;
    this.#aliases = new AliasesFile(directory);
    this.reembedder = new LocalReembedder(engine);
  }

  /**
   * Opens a data directory and takes its lock.
   *
   * @throws {CosiftError} `data_locked` when another process has the directory open.
   */
  static open(directory: string, limits: Limits, options: LocalOptions = {}): LocalStore {
    refuseUnfinishedRestore(directory);
    const store = new LocalStore(openEngine(directory, limits, options, false), directory);
    // The lock is held now, so no other process writes these files.
    TemporaryCopy.removeLeftover(directory);
    removeAddress(directory);
    return store;
  }

  /** Undefined: the engine schedules its work itself. */
  callsOf(): undefined {}

  async load(): Promise<void> {
    await this.#aliases.removeTemporaries();
    await this.loadFiles();
  }

  /** Reads the aliases and the databases, and writes nothing. */
  protected async loadFiles(): Promise<void> {
    await this.loadAliases();
    unwrap(await this.#native.load());
  }

  protected loadAliases(): Promise<void> {
    return this.#aliases.load();
  }

  /** Brings a database, or all of them, up to date with what another process wrote. */
  protected async refresh(id?: string): Promise<void> {
    unwrap(await this.#native.refresh(id));
  }

  /** Runs `read` on the newest state of a database. */
  protected onNewest<T>(_id: string, read: () => Promise<T>): Promise<T> {
    return read();
  }

  async createDatabase(
    id: string,
    settings: StoreSettings,
  ): Promise<{ created: boolean; database: StoredDatabase }> {
    return await this.#aliases.alone(async () => {
      this.#aliases.refuseName(id);
      return parseJson(unwrap(await this.#native.createDatabase(id, JSON.stringify(settings))));
    });
  }

  async changeSettings(
    id: string,
    change: (current: StoreSettings) => StoreSettings,
  ): Promise<StoredDatabase> {
    return await this.#aliases.alone(async () => {
      for (;;) {
        const settings = JSON.stringify(change(settingsIn(await this.describeDatabase(id))));
        try {
          return parseJson(unwrap(await this.#native.configureDatabase(id, settings)));
        } catch (error) {
          // A re-embedding has ended meanwhile.
          if (!(error instanceof StaleError)) throw error;
        }
      }
    });
  }

  async listDatabases(): Promise<StoredDatabase[]> {
    return parseJson(unwrap(await this.#native.listDatabases()));
  }

  async describeDatabase(id: string): Promise<StoredDatabase> {
    return parseJson(await this.databaseJson(id));
  }

  databaseJson(id: string): Promise<Uint8Array> {
    return this.onNewest(id, async () => unwrap(await this.#native.describeDatabase(id)));
  }

  async databaseInfo(id: string): Promise<DatabaseInfo> {
    return await this.describeDatabase(id);
  }

  async dropDatabase(id: string): Promise<void> {
    await this.#aliases.alone(async () => {
      refuseNamed(id, this.#aliases.all());
      unwrap(await this.#native.dropDatabase(id));
    });
  }

  async aliases(): Promise<Alias[]> {
    return this.#aliases.all();
  }

  async databaseOfAlias(name: string): Promise<string | undefined> {
    return this.#aliases.get(name);
  }

  async setAlias({ name, database }: Alias): Promise<{ created: boolean }> {
    return await this.#aliases.alone(async () => {
      // Also one that could not be opened.
      if ((await this.progress()).some(({ id }) => id === name)) throw databaseOfAlias(name);
      await this.nextId(database);
      const created = this.#aliases.get(name) === undefined;
      await this.#aliases.set(name, database);
      return { created };
    });
  }

  async deleteAlias(name: string): Promise<boolean> {
    return await this.#aliases.alone(async () => {
      const exists = this.#aliases.get(name) !== undefined;
      if (exists) await this.#aliases.set(name, undefined);
      return exists;
    });
  }

  async prepareBatch(
    id: string,
    body: Uint8Array,
    vectors: Float32Array = new Float32Array(),
  ): Promise<PreparedRecords> {
    return unwrap(await this.#native.prepareBatch(id, body, vectors)) as PreparedRecords;
  }

  async prepareLines(
    id: string,
    body: Uint8Array,
    firstLine: number,
    { needsIdentity = false, readAt }: LineRules = {},
  ): Promise<PreparedRecords> {
    const prepared = unwrap(await this.#native.prepareLines(id, body, firstLine, needsIdentity, readAt));
    return prepared as PreparedRecords;
  }

  async preparePatch(
    id: string,
    recordId: string,
    form: RecordForm,
    patch: Uint8Array,
  ): Promise<PreparedRecords> {
    return unwrap(await this.#native.preparePatch(id, recordId, form, patch)) as PreparedRecords;
  }

  async commit(
    id: string,
    prepared: PreparedRecords,
    { vectors, splits = new Uint32Array(), fingerprint }: EmbeddedVectors,
  ): Promise<CommitResult> {
    const records = prepared as Prepared;
    return unwrap(await this.#native.commit(id, records, vectors, splits, fingerprint)) as CommitResult;
  }

  record(id: string, recordId: string, request: RecordRequest): Promise<Uint8Array> {
    return this.onNewest(id, async () =>
      unwrap(await this.#native.record(id, recordId, JSON.stringify(request))),
    );
  }

  examples(id: string, request: ExamplesRequest): Promise<ExampleQuery> {
    return this.onNewest(id, async () => unwrap(await this.#native.examples(id, JSON.stringify(request))));
  }

  async mark(id: string): Promise<WriteMark> {
    return parseJson(unwrap(await this.#native.mark(id)));
  }

  async deleteRecords(id: string, request: StoreDeleteRequest, signal?: AbortSignal): Promise<number> {
    const text = JSON.stringify(request);
    const deleted = await withStopFlagUntilDone(signal, (stop) => this.#native.deleteRecords(id, text, stop));
    try {
      return unwrap(deleted);
    } catch (error) {
      if (isCode(error, 'stopped')) signal?.throwIfAborted();
      throw error;
    }
  }

  syncState(id: string, request: SyncStateRequest): Promise<SyncState> {
    return this.onNewest(id, async () =>
      parseJson(unwrap(await this.#native.syncState(id, JSON.stringify(request)))),
    );
  }

  /** No other process has the directory. */
  async holdSync(): Promise<SyncHold> {
    return { lost: new AbortController().signal, release: async () => undefined };
  }

  async searches(
    id: string,
    searches: readonly StoreSearch[],
    stoppable: Stoppable = {},
  ): Promise<StorePages> {
    const turns = new TurnBudget();
    const requests: string[] = [];
    for (const { request } of searches) {
      requests.push(JSON.stringify(request));
      if (turns.isUsed) await turns.next();
    }
    const vectors = searches.map(({ vector }) => vector);
    // The native call carries out a search of a small database.
    await endOfTurn();
    throwIfStopped(stoppable);
    const call = (stop: StopFlag) => this.#native.searches(id, requests, vectors, stop);
    const outcomes = pagesOf(unwrap(await withStopFlagIfPending(stoppable, call)));
    let searchMs = 0;
    const pages = outcomes.map((outcome) => {
      if (outcome instanceof CosiftError) return outcome;
      searchMs = Math.max(searchMs, outcome.searchMs);
      return outcome.body;
    });
    return { pages, searchMs };
  }

  query(id: string, request: StoreQueryRequest, signal?: AbortSignal): Promise<StorePage> {
    return this.onNewest(id, async () => {
      const text = JSON.stringify(request);
      return pageOf(unwrap(await withStopFlag(signal, (stop) => this.#native.query(id, text, stop))));
    });
  }

  changes(id: string, request: StoreChangesRequest, signal?: AbortSignal): Promise<Uint8Array> {
    return this.onNewest(id, async () => {
      const text = JSON.stringify(request);
      return unwrap(await withStopFlag(signal, (stop) => this.#native.changes(id, text, stop)));
    });
  }

  /** Does nothing: no other process writes to the directory. */
  watch(_onWritten: (id: string | undefined) => void): void {}

  async *exportLines(
    id: string,
    request: StoreExportRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const text = JSON.stringify(request);
    const opened = unwrap(await withStopFlag(signal, (stop) => this.#native.openExport(id, text, stop)));
    // Nobody may be reading when the signal is aborted.
    const close = () => opened.close();
    signal?.addEventListener('abort', close, { once: true });
    try {
      for (;;) {
        const chunk = unwrap(await withStopFlag(signal, (stop) => this.#native.exportChunk(opened, stop)));
        if (chunk.length === 0) return;
        yield chunk;
      }
    } finally {
      signal?.removeEventListener('abort', close);
      close();
    }
  }

  nextId(id: string): Promise<number> {
    return this.onNewest(id, async () => unwrap(await this.#native.nextId(id)));
  }

  async backup(database: string | undefined, signal: AbortSignal): Promise<StoreBackup> {
    if (this.#isBackingUp) {
      throw new CosiftError('busy', 'another backup is in progress; try again when it is done', {
        fields: { limit: 1 },
      });
    }
    this.#isBackingUp = true;
    const end = () => {
      this.#isBackingUp = false;
    };
    try {
      return await makeBackup(this.#native, this.#directory, database, signal, end);
    } catch (error) {
      end();
      throw error;
    }
  }

  examine(id: string, call: ExamineCall): Promise<Examination> {
    return this.onNewest(id, () =>
      runExamination(call, (stop, progress) => this.#native.examine(id, stop, progress)),
    );
  }

  async progress(): Promise<DatabaseProgress[]> {
    const { databases } = JSON.parse(this.#native.progress()) as { databases: NativeProgress[] };
    // Only these members, because the engine reports more.
    return databases.map(({ id, loaded, writable, records, memory_bytes, disk_bytes, problem }) => ({
      id,
      loaded,
      writable,
      records,
      memoryBytes: memory_bytes,
      diskBytes: disk_bytes,
      ...(problem && { problem }),
    }));
  }

  async stats(): Promise<StoreStats> {
    const { waiting, passes, answered } = this.#native.scanStats();
    const { commits, commitMicros, writesWaiting, scannedBytes } = this.#native.meter();
    return {
      searches: { waiting, running: passes, answered, bytesRead: scannedBytes },
      commits: { waiting: writesWaiting, count: commits, totalMs: commitMicros / 1000 },
    };
  }

  takeEvents(): StoreEvents {
    return JSON.parse(this.#native.takeEvents());
  }

  /** Finishes the calls in progress, saves what makes the next start fast, and releases the directory lock. */
  async close(): Promise<void> {
    unwrap(await this.#native.close());
  }
}

/** Opens the engine; with `readOnly`, beside the process that writes the directory. */
export function openEngine(
  directory: string,
  limits: Limits,
  { threads, vectorMemoryMegabytes }: LocalOptions,
  readOnly: boolean,
): NativeEngine {
  const vectorMegabytes = vectorMemoryMegabytes ?? defaultVectorMegabytes();
  const options = { threads, vectorMegabytes, readOnly, limits: engineLimits(limits) };
  return unwrap(native().openEngine(directory, options));
}

/** An eighth of the memory of the machine, or of the container if that is less. */
function defaultVectorMegabytes(): number {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return Math.floor(bytes / 8 / 2 ** 20);
}

/** The state of a database in the JSON of the binding. */
type NativeProgress = Omit<DatabaseProgress, 'memoryBytes' | 'diskBytes'> & {
  memory_bytes: number;
  disk_bytes: number;
};

function pageOf({ body, totalMicros }: NativePage): StorePage {
  return { body, searchMs: totalMicros / 1000 };
}
