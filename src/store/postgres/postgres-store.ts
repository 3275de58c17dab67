import type { Stoppable } from '../../async/stoppable.js';
import { CosiftError } from '../../errors.js';
import type { Alias, Limits } from '../../schema/index.js';
import { maxOf } from '../../schema/limits.js';
import type { EmbeddedVectors } from '../embedded-vectors.js';
import { unwrap } from '../local/unwrap.js';
import type { AdoptedFeed, MigrationSupport } from '../migration-support.js';
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
import type { DatabaseProgress, ProgressOptions, StoreEvents, StoreStats } from '../store-state.js';
import { aliases, deleteAlias, findAlias, setAlias } from './aliases.js';
import { Catalog, settingsOf } from './catalog.js';
import { DiskSizes } from './disk-sizes.js';
import { Examiner } from './examiner.js';
import { Exporter } from './exporter.js';
import { adoptFeed } from './feed-adopter.js';
import { FeedReader } from './feed-reader.js';
import { limitedDatabase } from './limited-database.js';
import { Lister } from './lister.js';
import { RecordReader } from './record-reader.js';
import { Reembedder } from './reembedder.js';
import { PostgresReembeddingLeases } from './reembedding-leases.js';
import { nativeRow, type Reference, rowsOf } from './rows.js';
import { migrate } from './schema.js';
import { Searcher } from './searcher.js';
import { Servers } from './servers.js';
import type { SqlDatabase } from './sql.js';
import { holdSync } from './sync-holds.js';
import { readSyncState } from './sync-states.js';
import { recordsOf, removeUnusedTables } from './tables.js';
import { announce, CHANNEL, Writer } from './writer.js';
import { WriterHold } from './writer-hold.js';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Milliseconds that a transaction for many callers may take. Usually it is one. */
const LIMIT_MS = 5_000;

export interface PostgresStoreOptions {
  /** A copy of the database that follows it. */
  replica?: SqlDatabase | undefined;
  /** Connections to the same database that searches and writes do not wait for. Default: those of searches and writes. */
  probes?: SqlDatabase | undefined;
  /** Connections to the same database, of which each running sync has one. Default: those of searches and writes. */
  syncs?: SqlDatabase | undefined;
  /** Maximum number of connections to the database, which callers must not use up. Default: not known. */
  connections?: number | undefined;
}

/** The record store in a PostgreSQL database with pgvector. */
export class PostgresStore implements RecordStore, MigrationSupport {
  readonly #database: SqlDatabase;
  /** For what callers wait for together: a statement that is never answered must not keep all later callers waiting. */
  readonly #limited: SqlDatabase;
  readonly #replica: SqlDatabase | undefined;
  /** Tells whether the store answers, also while all other connections are busy. */
  readonly #probes: SqlDatabase;
  readonly #syncs: SqlDatabase;
  readonly #servers: Servers;
  readonly #catalog: Catalog;
  readonly #writer: Writer;
  readonly #reader: RecordReader;
  readonly #searcher: Searcher;
  readonly #lister: Lister;
  readonly #feed: FeedReader;
  readonly #exporter: Exporter;
  readonly #examiner: Examiner;
  readonly reembedder: Reembedder;
  readonly #sizes: DiskSizes;
  readonly #searches = { running: 0, answered: 0 };
  readonly #commits = { running: 0, count: 0, totalMs: 0 };

  constructor(
    database: SqlDatabase,
    limits: Limits,
    { replica, probes = database, syncs = database, connections }: PostgresStoreOptions = {},
  ) {
    const keepChangesMs = limits.change_retention_days * DAY_MS;
    this.#database = database;
    this.#limited = limitedDatabase(database, LIMIT_MS);
    this.#replica = replica;
    this.#probes = limitedDatabase(probes, LIMIT_MS);
    this.#syncs = syncs;
    const servers = new Servers(database, connections);
    this.#servers = servers;
    this.#catalog = new Catalog(limits, servers);
    this.#sizes = new DiskSizes(this.#limited, this.#catalog);
    const hold = new WriterHold(servers);
    this.#writer = new Writer(servers, this.#catalog, hold, keepChangesMs);
    const reader = new RecordReader(servers, this.#catalog, replica);
    this.#reader = reader;
    this.#searcher = new Searcher(reader, this.#catalog);
    this.#lister = new Lister(reader, this.#catalog, limits.page_bytes);
    this.#feed = new FeedReader(this.#catalog, keepChangesMs);
    this.#exporter = new Exporter(servers, this.#catalog);
    // What is stored may be from a time when the limits were higher.
    const any = {
      ...limits,
      database_columns: maxOf('database_columns'),
      record_bytes: maxOf('record_bytes'),
    };
    this.#examiner = new Examiner(new Catalog(any, servers));
    const leases = new PostgresReembeddingLeases(database);
    this.reembedder = new Reembedder(servers, this.#catalog, hold, leases);
  }

  callsOf(id: string): { server: string; atOnce: number } | undefined {
    return this.#servers.callsOf(id);
  }

  async load(): Promise<void> {
    await migrate(this.#database);
    await removeUnusedTables(this.#servers);
  }

  async createDatabase(
    id: string,
    settings: StoreSettings,
  ): Promise<{ created: boolean; database: StoredDatabase }> {
    return await this.#catalog.create(id, settings);
  }

  async changeSettings(
    id: string,
    change: (current: StoreSettings) => StoreSettings,
  ): Promise<StoredDatabase> {
    return await this.#servers.of(id).write((sql) => this.#catalog.changeSettings(sql, id, change));
  }

  async listDatabases(): Promise<StoredDatabase[]> {
    const { answers } = await this.#servers.readAll(async (sql, group) => {
      const described: StoredDatabase[] = [];
      for (const entry of await this.#catalog.list(sql, group)) {
        described.push(await this.#catalog.describe(sql, entry));
      }
      return described;
    });
    return answers.flat().sort(byId);
  }

  async describeDatabase(id: string): Promise<StoredDatabase> {
    return await this.#catalog.read(id, (sql, entry) => this.#catalog.describe(sql, entry));
  }

  async databaseJson(id: string): Promise<Uint8Array> {
    return Buffer.from(JSON.stringify(await this.describeDatabase(id)));
  }

  async databaseInfo(id: string): Promise<DatabaseInfo> {
    return await this.#limited.read(async (sql) => settingsOf(await this.#catalog.find(sql, id)));
  }

  async dropDatabase(id: string): Promise<void> {
    const number = await this.#servers.of(id).write(async (sql) => {
      await announce(sql, id);
      return await this.#catalog.drop(sql, id);
    });
    await removeUnusedTables(this.#servers, number);
  }

  async aliases(): Promise<Alias[]> {
    return await this.#limited.read(aliases);
  }

  async databaseOfAlias(name: string): Promise<string | undefined> {
    return await this.#limited.read((sql) => findAlias(sql, name));
  }

  async setAlias(alias: Alias): Promise<{ created: boolean }> {
    return await this.#servers.of(alias.database).write((sql) => setAlias(sql, this.#catalog, alias));
  }

  async deleteAlias(name: string): Promise<boolean> {
    return await this.#database.write((sql) => deleteAlias(sql, name));
  }

  prepareBatch(id: string, body: Uint8Array, vectors = new Float32Array()): Promise<PreparedRecords> {
    return this.#writer.prepareBatch(id, body, vectors);
  }

  prepareLines(id: string, body: Uint8Array, firstLine: number, rules?: LineRules): Promise<PreparedRecords> {
    return this.#writer.prepareLines(id, body, firstLine, rules);
  }

  preparePatch(id: string, recordId: string, form: RecordForm, patch: Uint8Array): Promise<PreparedRecords> {
    return this.#writer.preparePatch(id, recordId, form, patch);
  }

  async commit(
    id: string,
    prepared: PreparedRecords,
    embedded: EmbeddedVectors,
    signal?: AbortSignal,
  ): Promise<CommitResult> {
    return await this.#measured(() => this.#writer.commit(id, prepared, embedded, signal));
  }

  async record(id: string, recordId: string, request: RecordRequest): Promise<Uint8Array> {
    return await this.#catalog.read(id, async (sql, entry) => {
      const rules = this.#catalog.rulesOf(entry);
      const reference = JSON.parse(unwrap(rules.recordReference(recordId))) as Reference;
      const [row] = await rowsOf(sql, recordsOf(entry), [reference], 'all', request.vectors);
      return unwrap(await rules.record(row && nativeRow(row), recordId, JSON.stringify(request)));
    });
  }

  async examples(id: string, request: ExamplesRequest): Promise<ExampleQuery> {
    const json = JSON.stringify(request);
    return await this.#reader.read(id, async (sql, entry) => {
      const rules = this.#catalog.rulesOf(entry);
      const references = JSON.parse(unwrap(rules.exampleReferences(json))) as Reference[];
      const dataOf = request.forced_filter === undefined ? 'none' : 'all';
      const rows = await rowsOf(sql, recordsOf(entry), references, dataOf, request.query);
      return unwrap(await rules.examples(json, rows.map(nativeRow)));
    });
  }

  async mark(id: string): Promise<WriteMark> {
    return await this.#catalog.read(id, async (_, { epoch, version, records }) => ({
      epoch,
      version,
      records,
    }));
  }

  async deleteRecords(id: string, request: StoreDeleteRequest, signal?: AbortSignal): Promise<number> {
    signal?.throwIfAborted();
    return await this.#measured(() => this.#writer.delete(id, request, signal));
  }

  async syncState(id: string, request: SyncStateRequest): Promise<SyncState> {
    return await this.#catalog.read(id, (sql, entry) => readSyncState(sql, entry, request));
  }

  holdSync(id: string, name: string, signal: AbortSignal): Promise<SyncHold> {
    return holdSync(this.#syncs, id, name, signal);
  }

  async searches(
    id: string,
    searches: readonly StoreSearch[],
    stoppable: Stoppable = {},
  ): Promise<StorePages> {
    stoppable.signal?.throwIfAborted();
    this.#searches.running += searches.length;
    try {
      return await this.#searcher.searches(id, searches, stoppable);
    } finally {
      this.#searches.running -= searches.length;
      this.#searches.answered += searches.length;
    }
  }

  async query(id: string, request: StoreQueryRequest, signal?: AbortSignal): Promise<StorePage> {
    signal?.throwIfAborted();
    return await this.#lister.query(id, request, signal);
  }

  async changes(id: string, request: StoreChangesRequest, signal?: AbortSignal): Promise<Uint8Array> {
    return await this.#feed.changes(id, request, signal);
  }

  watch(onWritten: (id: string | undefined) => void): void {
    this.#database.listen(CHANNEL, onWritten);
  }

  exportLines(
    id: string,
    request: StoreExportRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    return this.#exporter.lines(id, request, signal);
  }

  linesOf(id: string, ids: readonly number[]): Promise<Uint8Array> {
    return this.#exporter.linesOf(id, ids);
  }

  async nextId(id: string): Promise<number> {
    return await this.#catalog.read(id, async (_, entry) => entry.next_id);
  }

  adoptFeed(id: string, feed: AdoptedFeed): Promise<void> {
    return adoptFeed(this.#servers, this.#catalog, id, feed);
  }

  async backup(): Promise<StoreBackup> {
    throw new CosiftError(
      'invalid_request',
      'a PostgreSQL database is backed up with its own tools, such as pg_dump',
    );
  }

  examine(id: string, call: ExamineCall): Promise<Examination> {
    return this.#examiner.examine(id, call);
  }

  async progress({ signal, sizes = false }: ProgressOptions = {}): Promise<DatabaseProgress[]> {
    const database = this.#probes;
    const { answers, silent, groups } = await this.#servers.readAll(
      (sql, group) => this.#catalog.list(sql, group),
      { database, signal },
    );
    const entries = answers.flat().sort(byId);
    const bytes = sizes ? await this.#sizes.of(entries) : undefined;
    const found = entries.map(({ id, records }, at) => ({
      id,
      loaded: true,
      writable: true,
      records,
      memoryBytes: 0,
      diskBytes: bytes?.[at],
    }));
    if (silent.size === 0) return found;
    const ids = await database.read((sql) => this.#catalog.names(sql), signal);
    const missing = ids.filter((id) => silent.has(groups.of(id))).map(unanswered);
    return [...found, ...missing].sort(byId);
  }

  async stats(): Promise<StoreStats> {
    const { running, answered } = this.#searches;
    const { count, totalMs } = this.#commits;
    return {
      searches: { waiting: 0, running, answered, bytesRead: 0 },
      commits: { waiting: this.#commits.running, count, totalMs },
    };
  }

  takeEvents(): StoreEvents {
    return { events: [], dropped: 0 };
  }

  async close(): Promise<void> {
    // A server that hangs ends each of them only after seconds.
    const databases = [this.#replica, this.#probes, this.#syncs, this.#database];
    await Promise.all(databases.map((database) => database?.close()));
  }

  async #measured<T>(write: () => Promise<T>): Promise<T> {
    const start = performance.now();
    this.#commits.running += 1;
    try {
      return await write();
    } finally {
      this.#commits.running -= 1;
      this.#commits.count += 1;
      this.#commits.totalMs += performance.now() - start;
    }
  }
}

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}

/** A database whose server does not answer. */
function unanswered(id: string): DatabaseProgress {
  const problem = { code: 'no_answer', detail: 'its worker does not answer' };
  return { id, loaded: false, writable: false, records: 0, memoryBytes: 0, problem };
}
