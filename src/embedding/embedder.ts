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
}

/**
 * Turns texts into unit vectors. The same text gives the same bits whatever runs beside it.
 *
 * @throws {CosiftError} `busy` from either method when too many texts wait; nothing was queued.
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
  /** The vectors of record texts, one after the other in the order of `texts`. Queries go before them. */
  embedPassages(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array>;
  stats(): EmbedderStats;
  /** Lets texts in hand finish, rejects those that wait, and frees the model. */
  close(): Promise<void>;
}

export interface EmbedderOptions {
  /** A local directory in sentence-transformers layout; the built-in model when absent. */
  model?: string | undefined;
  /** Threads with a copy of the model each. Default: one a core, four at most. */
  workers?: number | undefined;
  /** Queries that may wait, and likewise record texts; at the limit, callers get `busy`. Default 4096. */
  maxQueue?: number | undefined;
  /** Memory for vectors of past queries. Default 16 MiB. */
  cacheBytes?: number | undefined;
}
