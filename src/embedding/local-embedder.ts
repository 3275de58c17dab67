import { availableParallelism } from 'node:os';
import { SingleFlight } from '../async/single-flight.js';
import { builtInModel } from './built-in-model.js';
import type { Embedder, EmbedderOptions, EmbedderStats, EmbedOptions, PassageOptions } from './embedder.js';
import type { Embedded } from './job.js';
import { fingerprintOf, type ModelDirectory, readModelDirectory } from './model-directory.js';
import { createVectorCache, type VectorCache } from './vector-cache.js';
import { WorkerPool } from './worker-pool.js';

// More workers gain little, because the engine's threads need processors, too. Each holds a copy of the model: 35 MB for
// the built-in one.
const MAX_WORKERS = 4;
const MAX_QUEUE = 4_096;
const MAX_WAIT_MS = 10_000;
// Tokenising a text of 1 MiB takes 70 MB, and a large vocabulary about 300 MB.
const WORKER_MEMORY_MB = 1_024;
const CACHE_BYTES = 16 * 1024 * 1024;

/** Runs a model from the local disk in worker threads. It never opens a network connection. */
class LocalEmbedder implements Embedder {
  readonly model: string;
  readonly fingerprint: string;
  readonly dimensions: number;
  readonly #pool: WorkerPool;
  readonly #cache: VectorCache;
  // The `fetch` method of the cache is not used: its signal, and an eviction, would end the call for all callers.
  readonly #inferences = new SingleFlight<Float32Array>();
  #cacheHits = 0;
  #cacheMisses = 0;

  constructor(directory: ModelDirectory, fingerprint: string, pool: WorkerPool, cache: VectorCache) {
    this.model = directory.name;
    this.fingerprint = fingerprint;
    this.dimensions = directory.dimensions;
    this.#pool = pool;
    this.#cache = cache;
  }

  async embedQuery(text: string, { signal, caller }: EmbedOptions = {}): Promise<Float32Array> {
    const cached = this.#cache.get(text);
    if (cached !== undefined || this.#inferences.has(text)) {
      this.#cacheHits += 1;
    } else {
      this.#cacheMisses += 1;
    }
    const vector =
      cached ?? (await this.#inferences.run(text, (stop) => this.#runQuery(text, caller, stop), signal));
    // A copy, because a caller may change its vector, and the cached one is shared.
    return vector.slice();
  }

  embedPassages(texts: readonly string[], options: PassageOptions = {}): Promise<Embedded> {
    const { signal, caller = '', call = {}, waitForRoom = false } = options;
    return this.#pool.embed('passage', texts, { origin: { caller, call }, waitForRoom, signal });
  }

  stats(): EmbedderStats {
    return { ...this.#pool.stats, cacheHits: this.#cacheHits, cacheMisses: this.#cacheMisses };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #runQuery(text: string, caller: string | undefined, stop: AbortSignal): Promise<Float32Array> {
    const origin = { caller: caller ?? '', call: {} };
    const { vectors: vector } = await this.#pool.embed('query', [text], {
      origin,
      waitForRoom: false,
      signal: stop,
    });
    this.#cache.set(text, vector);
    return vector;
  }
}

/**
 * Loads a model from disk. When this resolves, the model is ready.
 *
 * @throws {CosiftError} `invalid_request` when the directory does not hold a supported model; `not_installed` without
 * onnxruntime or the built-in model.
 */
export async function createEmbedder(options: EmbedderOptions = {}): Promise<Embedder> {
  const directory = await readModelDirectory(options.model ?? builtInModel());
  const workers = options.workers ?? Math.min(availableParallelism(), MAX_WORKERS);
  const fingerprint = await fingerprintOf(directory);
  const pool = await WorkerPool.open(directory, {
    workers,
    maxQueue: options.maxQueue ?? MAX_QUEUE,
    maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
    workerMemoryMb: options.workerMemoryMb ?? WORKER_MEMORY_MB,
  });
  return new LocalEmbedder(
    directory,
    fingerprint,
    pool,
    createVectorCache(options.cacheBytes ?? CACHE_BYTES),
  );
}
