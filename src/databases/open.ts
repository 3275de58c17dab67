import { existsSync } from 'node:fs';
import path from 'node:path';
import { sleep } from '../async/sleep.js';
import { unlessAborted } from '../async/until-aborted.js';
import { CosiftError } from '../errors.js';
import { LIMITS, type Limits } from '../schema/index.js';
import { STORE_CONNECTIONS } from '../schema/open-options.js';
import { FollowingStore, LocalStore } from '../store/local/index.js';
import type { PostgresStore } from '../store/postgres/index.js';
import { keptModels } from './kept-models.js';
import { isDirectory, type ModelSources, Models } from './models.js';
import { DatabaseService } from './service.js';

/** Passes of syncs that run at the same time. */
const MAX_SYNCS = 32;

/** A PostgreSQL database with pgvector. */
export interface StoreServer {
  url: string;
  /** Connections to it for records, and as many to its replica. Default: 16. */
  connections?: number | undefined;
  /** Milliseconds after which it cancels a statement. Default: never. */
  statementTimeoutMs?: number | undefined;
  /** The URL of a replica, which answers the searches and queries that it can answer exactly. */
  replica?: string | undefined;
}

export interface DatabasesOptions {
  /** The directory of the databases, which is created when missing; with a `store`, the directory of kept models, if any. */
  directory?: string | undefined;
  /** Whether the directory is only read, beside a process that may write it. Default: false. */
  readOnly?: boolean | undefined;
  /** The PostgreSQL database that keeps the databases instead of the directory. */
  store?: StoreServer | undefined;
  /** Threads that scan. Default: one per core. */
  threads?: number | undefined;
  /** Megabytes of exact vectors, and of low nibbles of codes, that searches keep in memory. Default: an eighth of the memory. */
  vectorMemoryMegabytes?: number | undefined;
  /** Threads that embed, for each model. Default: one per core, at most four. */
  embedWorkers?: number | undefined;
  /** The maximum sizes of requests. Default: {@link LIMITS}. */
  limits?: Limits | undefined;
  /** Models other than the built-in one: directories in sentence-transformers layout, by name. */
  models?: ModelSources | undefined;
  /** Whether interrupted re-embeddings continue by themselves. Default: true. */
  resume?: boolean | undefined;
}

/**
 * Opens the store and begins to load its databases; await `ready` before the first call. This module alone chooses the
 * store.
 *
 * @throws {CosiftError} `data_locked` when another process has the directory open; `invalid_request` for a model name
 * that is not allowed, for a file in place of the directory, and for reading a directory that is no data directory.
 */
export async function beginDatabases(options: DatabasesOptions): Promise<DatabaseService> {
  const { directory, store, readOnly = false, embedWorkers, limits = LIMITS, models, ...rest } = options;
  const { resume = !readOnly, ...scans } = rest;
  // A program may change its working directory while the directory is open.
  const place = directory === undefined ? undefined : path.resolve(directory);
  if (place !== undefined && existsSync(place) && !isDirectory(place)) {
    throw new CosiftError('invalid_request', `"${place}" is not a directory`);
  }
  if (readOnly && place !== undefined) checkDataDirectory(place);
  // The models are checked before the lock of the directory is taken.
  const kept = place === undefined ? {} : keptModels(place);
  const checkedModels = new Models({ ...kept, ...models }, embedWorkers);
  const local = readOnly ? FollowingStore : LocalStore;
  const opened =
    store === undefined ? local.open(place as string, limits, scans) : await openPostgres(store, limits);
  return new DatabaseService(opened, checkedModels, { limits, resume });
}

/** @throws {CosiftError} `invalid_request` for a directory that no process has opened for writing yet. */
function checkDataDirectory(place: string): void {
  if (isDirectory(path.join(place, 'databases'))) return;
  const found = existsSync(place) ? 'has no databases yet' : 'does not exist';
  const detail = `"${place}" ${found}: open it for writing first, because reading does not create it`;
  throw new CosiftError('invalid_request', detail);
}

/** Opens a store in PostgreSQL. Its module is loaded only where it is used. */
export async function openPostgres(
  { url, replica, connections = STORE_CONNECTIONS, statementTimeoutMs }: StoreServer,
  limits: Limits,
): Promise<PostgresStore> {
  const { NodePostgres, PostgresStore } = await import('../store/postgres/index.js');
  const common = { maxConnections: connections, statementTimeoutMs };
  return new PostgresStore(new NodePostgres({ ...common, url }), limits, {
    replica:
      replica === undefined ? undefined : new NodePostgres({ ...common, url: replica, isReplica: true }),
    probes: new NodePostgres({ ...common, url, maxConnections: 1 }),
    syncs: new NodePostgres({ ...common, url, maxConnections: MAX_SYNCS }),
    connections,
  });
}

/** How far the opening of a directory has come. */
interface OpenProgress {
  /** Number of databases. */
  databases: number;
  /** Number of databases that are loaded. */
  loaded: number;
  /** Number of records that are loaded. */
  records: number;
}

export interface OpenCall {
  signal?: AbortSignal | undefined;
  /** Called a few times a second, and once when all databases are loaded. */
  onProgress?: ((progress: OpenProgress) => void) | undefined;
}

const PROGRESS_MS = 200;

/** Opens databases as {@link beginDatabases} does; resolves once all databases are loaded. */
export async function openDatabases(
  options: DatabasesOptions,
  call: OpenCall = {},
): Promise<DatabaseService> {
  call.signal?.throwIfAborted();
  const databases = await beginDatabases(options);
  try {
    await whenLoaded(databases, call);
  } catch (error) {
    await databases.close();
    throw error;
  }
  return databases;
}

/** Resolves once all databases are loaded; rejects with the reason of the signal once that is aborted. */
export async function whenLoaded(databases: DatabaseService, call: OpenCall): Promise<void> {
  const loaded = untilReady(databases, call);
  await (call.signal === undefined ? loaded : unlessAborted(loaded, call.signal));
}

async function untilReady(databases: DatabaseService, { signal, onProgress }: OpenCall): Promise<void> {
  if (onProgress === undefined) return databases.ready;
  for (let isReady = false; !isReady; ) {
    isReady = await Promise.race([databases.ready.then(() => true), sleep(PROGRESS_MS).then(() => false)]);
    const states = await databases.monitor.states();
    // After an abort, the caller is told nothing more.
    if (signal?.aborted) return;
    onProgress({
      databases: states.length,
      loaded: states.filter(({ loaded }) => loaded).length,
      records: states.reduce((sum, { records }) => sum + records, 0),
    });
  }
}
