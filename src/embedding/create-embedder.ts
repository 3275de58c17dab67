import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isEndpoint, parseEndpoint } from '../config/index.js';
import { BUILT_IN_MODEL } from '../schema/index.js';
import type { Embedder, EmbedderOptions } from './embedder.js';
import { openEndpoint } from './endpoint.js';
import { ExternalExecutor } from './external-executor.js';
import { fingerprintOf } from './fingerprint.js';
import { readModelDirectory } from './model-directory.js';
import type { ModelFunction } from './model-source.js';
import { packagedModel } from './packaged-model.js';
import { type ModelIdentity, QueuedEmbedder } from './queued-embedder.js';
import { EmbeddingScheduler, type Executor } from './scheduler.js';
import { createVectorCache } from './vector-cache.js';
import { sharedPool } from './worker-pool.js';

// More workers gain little, because the engine's threads need processors, too. Each holds a copy of the model: 35 MB for
// the built-in one.
const MAX_WORKERS = 4;
const MAX_QUEUE = 4_096;
const MAX_WAIT_MS = 10_000;
// Tokenising a text of 1 MiB takes 70 MB, and a large vocabulary about 300 MB.
const WORKER_MEMORY_MB = 1_024;
const CACHE_BYTES = 16 * 1024 * 1024;

/**
 * Loads a model: from disk, or by the first response of an endpoint. When this resolves, the model is ready. A model from
 * disk never opens a network connection.
 *
 * @throws {CosiftError} `invalid_request` when the directory does not hold a supported model; `not_installed` without
 * onnxruntime or the built-in model; `model_unavailable` when the endpoint does not embed a text.
 */
export async function createEmbedder(options: EmbedderOptions = {}): Promise<Embedder> {
  const { model = packagedModel(BUILT_IN_MODEL), name } = options;
  const opened =
    typeof model !== 'string'
      ? ofFunction(model, name ?? 'function')
      : isEndpoint(model)
        ? await ofEndpoint(model, name)
        : await ofDirectory(model, options);
  const { identity, executor } = opened;
  const scheduler = new EmbeddingScheduler(executor, {
    dimensions: identity.dimensions,
    maxQueue: options.maxQueue ?? MAX_QUEUE,
    maxWaitMs: options.maxWaitMs ?? MAX_WAIT_MS,
  });
  return new QueuedEmbedder(identity, scheduler, createVectorCache(options.cacheBytes ?? CACHE_BYTES));
}

interface OpenModel {
  identity: ModelIdentity;
  executor: Executor;
}

async function ofDirectory(path: string, options: EmbedderOptions): Promise<OpenModel> {
  const directory = await readModelDirectory(path);
  const fingerprint = await fingerprintOf(directory);
  const executor = await sharedPool(directory, fingerprint, {
    workers: options.workers ?? Math.min(availableParallelism(), MAX_WORKERS),
    workerMemoryMb: options.workerMemoryMb ?? WORKER_MEMORY_MB,
  });
  return {
    identity: {
      model: options.name ?? directory.name,
      fingerprint,
      dimensions: directory.dimensions,
      window: directory.maxTokens,
    },
    executor,
  };
}

async function ofEndpoint(source: string, name: string | undefined): Promise<OpenModel> {
  const endpoint = parseEndpoint(source);
  const model = name ?? endpoint.model;
  const { dimensions, fingerprint, embed } = await openEndpoint(model, endpoint);
  return {
    identity: { model, fingerprint, dimensions, window: undefined },
    executor: new ExternalExecutor(model, dimensions, embed),
  };
}

function ofFunction(source: ModelFunction, model: string): OpenModel {
  const { dimensions } = source;
  const settings = { version: 1, kind: 'function', fingerprint: source.fingerprint ?? null, dimensions };
  const fingerprint = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
  const executor = new ExternalExecutor(model, dimensions, async (texts, kind, signal) =>
    source.embed(texts, { kind, signal }),
  );
  return { identity: { model, fingerprint, dimensions, window: undefined }, executor };
}
