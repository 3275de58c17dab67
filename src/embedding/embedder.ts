import type { Embedded } from './job.js';

/** How much an {@link Embedder} has done and has before it. */
export interface EmbedderStats {
  /** Texts that wait for a worker. */
  queued: number;
  /** Texts that workers have in hand. */
  running: number;
  /** Queries answered from the cache, or by a run that another caller had started. */
  cacheHits: number;
  cacheMisses: number;
  /** Texts that went through the model. */
  inferences: number;
  /** Milliseconds of worker time these took. */
  totalMs: number;
}

export interface EmbedOptions {
  /** Ends the wait with the signal's reason; texts that no worker has begun are dropped. */
  signal?: AbortSignal | undefined;
  /** Who asks, such as the id of a key: callers take turns. */
  caller?: string | undefined;
}

export interface PassageOptions extends EmbedOptions {
  /** The same for all texts of one call: calls take turns. Default: these texts are a call of their own. */
  call?: object | undefined;
  /** Whether to wait for room for as long as it takes, as a stream does that must not fail in the middle. */
  patient?: boolean | undefined;
}

/**
 * Turns texts into unit vectors. The same text gives the same bits whatever runs beside it.
 *
 * Queries and record texts share the workers, three parts to one while both wait; callers take turns, and so do the
 * calls of a caller.
 *
 * @throws {CosiftError} `busy` from either method when so many texts of the caller wait that there is no room for
 * more, and none is made for some seconds.
 */
export interface Embedder {
  /** Name of the model, such as `all-MiniLM-L6-v2`. */
  readonly model: string;
  /** Sha256 of all that decides the vectors: model, tokenizer, pooling, prompts. Kept with each database. */
  readonly fingerprint: string;
  /** Values of a vector. */
  readonly dimensions: number;
  /** The vector of a search text. Cached; callers who want the same text at the same time share one run. */
  embedQuery(text: string, options?: EmbedOptions): Promise<Float32Array>;
  /**
   * The vectors of record texts in the order of `texts`. A text without a token, such as one of nothing but spaces,
   * has a vector of zeros.
   */
  embedPassages(texts: readonly string[], options?: PassageOptions): Promise<Embedded>;
  stats(): EmbedderStats;
  /** Lets texts in hand finish, rejects those that wait, and frees the model. */
  close(): Promise<void>;
}

export interface EmbedderOptions {
  /** A local directory in sentence-transformers layout; the built-in model when absent. */
  model?: string | undefined;
  /** Threads with a copy of the model each. Default: one a core, four at most. */
  workers?: number | undefined;
  /** Queries of a caller that may wait, and as many record texts; one more waits for room. Default 4096. */
  maxQueue?: number | undefined;
  /** How long a call waits for room until it gets `busy`. Default 10,000. */
  maxWaitMs?: number | undefined;
  /** JavaScript memory of a worker in MiB; a worker that needs more is replaced. Default 1,024. */
  workerMemoryMb?: number | undefined;
  /** Memory for vectors of past queries. Default 16 MiB. */
  cacheBytes?: number | undefined;
}
