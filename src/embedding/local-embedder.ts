import { availableParallelism } from 'node:os';
import type { Embedder, EmbedderOptions, EmbedderStats, EmbedOptions, PassageOptions } from './embedder.js';
import type { Embedded } from './job.js';
import { BUILT_IN_MODEL, fingerprintOf, type ModelDirectory, readModelDirectory } from './model-directory.js';
import { SharedRuns } from './shared-runs.js';
import { VectorCache } from './vector-cache.js';
import { WorkerPool } from './worker-pool.js';

// Beyond four, memory (35 MB a copy of the built-in model) buys little beside the engine's own threads.
const MOST_WORKERS = 4;
const MAX_QUEUE = 4_096;
const MAX_WAIT_MS = 10_000;
// A text of 1 MiB takes 70 MB to tokenise, a large vocabulary some 300.
const WORKER_MEMORY_MB = 1_024;
const CACHE_BYTES = 16 * 1024 * 1024;

/** Runs a model of this machine's disk in worker threads. Never opens a connection. */
class LocalEmbedder implements Embedder {
  readonly model: string;
  readonly fingerprint: string;
  readonly dimensions: number;
  readonly #pool: WorkerPool;
  readonly #cache: VectorCache;
  readonly #runs = new SharedRuns<Float32Array>();
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
    if (cached !== undefined || this.#runs.has(text)) {
      this.#cacheHits += 1;
    } else {
      this.#cacheMisses += 1;
    }
    const vector =
      cached ?? (await this.#runs.join(text, (stop) => this.#runQuery(text, caller, stop), signal));
    // A copy: what a caller does to its vector must not reach the next one.
    return vector.slice();
  }

  embedPassages(texts: readonly string[], options: PassageOptions = {}): Promise<Embedded> {
    const { signal, caller = '', call = {}, patient = false } = options;
    return this.#pool.embed('passage', texts, { origin: { caller, call }, patient, signal });
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
      patient: false,
      signal: stop,
    });
    this.#cache.add(text, vector);
    return vector;
  }
}

/**
 * Loads a model from disk; it is ready once this resolves.
 *
 * @throws {CosiftError} `invalid_request` when the directory is not a model that can be used here.
 */
export async function createEmbedder(options: EmbedderOptions = {}): Promise<Embedder> {
  const directory = await readModelDirectory(options.model ?? BUILT_IN_MODEL);
  const workers = options.workers ?? Math.min(availableParallelism(), MOST_WORKERS);
  const fingerprint = await fingerprintOf(directory);
  const pool = await WorkerPool.open(directory, {
    workers,
    maxQueue: options.maxQueue ?? MAX_QUEUE,
    maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
    workerMemoryMb: options.workerMemoryMb ?? WORKER_MEMORY_MB,
  });
  return new LocalEmbedder(directory, fingerprint, pool, new VectorCache(options.cacheBytes ?? CACHE_BYTES));
}
