import { LIMITS, type Limits } from '../schema/index.js';
import { LocalStore } from '../store/local/index.js';
import type { Backend } from './backend.js';
import { EmbeddingBackend } from './embedding-backend.js';
import { type ModelDirectories, Models } from './models.js';

export interface BackendOptions {
  /** The directory of the databases; it is created when missing. */
  directory: string;
  /** Threads that scan. Default: one per core. */
  threads?: number | undefined;
  /** Threads that embed, for each model. Default: one per core, at most four. */
  embedWorkers?: number | undefined;
  /** The maximum sizes of requests. Default: {@link LIMITS}. */
  limits?: Limits | undefined;
  /** Models other than the built-in one: directories in sentence-transformers layout, by name. */
  models?: ModelDirectories | undefined;
  /** Whether interrupted re-embeddings continue by themselves. Default: true. */
  resume?: boolean | undefined;
}

/**
 * Opens the store and begins to load its databases; await `ready` before the first call. This module alone chooses the
 * store.
 *
 * @throws {CosiftError} `data_locked` when another process has the directory open; `invalid_request` for a model name
 * that is not allowed.
 */
export function beginBackend(options: BackendOptions): Backend {
  const { directory, threads, embedWorkers, limits = LIMITS, models, resume = true } = options;
  // The models are checked before the lock of the directory is taken.
  const checkedModels = new Models(models, embedWorkers);
  const store = LocalStore.open(directory, limits, threads);
  return new EmbeddingBackend(store, checkedModels, { limits, resume });
}

/** Opens a backend as {@link beginBackend} does; resolves once all databases are loaded. */
export async function openBackend(options: BackendOptions): Promise<Backend> {
  const backend = beginBackend(options);
  try {
    await backend.ready;
  } catch (error) {
    await backend.close();
    throw error;
  }
  return backend;
}
