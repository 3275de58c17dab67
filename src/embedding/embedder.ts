import type { SplitRequest, TextKind } from './job.js';
import type { TextVectors } from './join-passages.js';
import type { ModelSource } from './model-source.js';

/** Work that an {@link Embedder} has done and has queued. */
export interface EmbedderStats {
  /** Texts that wait for a worker. */
  queued: number;
  /** Texts that workers are embedding. */
  running: number;
  /** Queries whose vector was in the cache, or was already being computed for another caller. */
  cacheHits: number;
  cacheMisses: number;
  /** Embedded texts. */
  inferences: number;
  /** Worker time of `inferences`, in milliseconds. */
  totalMs: number;
}

export interface EmbedOptions {
  /** Rejects the call with the signal's reason. Texts that no worker has started are dropped. */
  signal?: AbortSignal | undefined;
  /** Identifies the caller, such as by a key id. Callers take turns. */
  caller?: string | undefined;
}

export interface QueryOptions extends EmbedOptions {
  /** Whether a text of which the model knows nothing gets any unit vector instead of an error. Default: false. */
  acceptsUnknown?: boolean | undefined;
}

export interface PassageOptions extends EmbedOptions {
  /** Identifies a call that embeds its texts in several steps. Calls take turns. Default: each step is its own call. */
  call?: object | undefined;
  /** Waits for room in the queue without a time limit, for streams that must not fail halfway. Default: false. */
  waitForRoom?: boolean | undefined;
  /** How long texts are split. Default: as one value, into any number of passages. */
  split?: SplitRequest | undefined;
  /**
   * Whether the vectors are of no use if a text has too many passages: then none is made, and all vectors are of zeros.
   * Default: false.
   */
  allOrNothing?: boolean | undefined;
}

export interface TextOptions extends EmbedOptions {
  /** The pointer to a text in the request, by its place in `texts`, for errors. */
  pointerOf: (text: number) => string;
}

/** The vectors of texts, one for each. */
export interface EmbeddedTexts {
  /** The values of all vectors, one vector after the other. */
  vectors: Float32Array;
  /** The tokens of all texts; 0 for a model that does not tell: an endpoint or a function. */
  tokens: number;
}

/**
 * Turns texts into unit vectors. The vector of a text is the same to the bit, whatever else is embedded concurrently,
 * unless an endpoint or a function makes other vectors.
 *
 * While queries and record texts wait, queries get three quarters of the workers' time. Callers take turns, and
 * so do the calls of a caller.
 *
 * @throws {CosiftError} `busy` from either method when the queue of the caller stays full for some seconds.
 */
export interface Embedder {
  /** Name of the model, such as `all-MiniLM-L6-v2`. */
  readonly model: string;
  /**
   * SHA-256 of everything that determines the vectors: the files and settings of the model, or what identifies an
   * endpoint or a function. Stored with each database.
   */
  readonly fingerprint: string;
  /** Number of values of a vector. */
  readonly dimensions: number;
  /** The tokens that the model takes at most; undefined for an endpoint or a function, which get whole texts. */
  readonly window: number | undefined;
  /**
   * The vector of a search text, as doubles, like the vectors of callers. It is cached, and concurrent calls with the same
   * text share one inference. A text that is longer than the window of the model is split into passages, and its vector is
   * the normalised mean of theirs.
   *
   * @throws {CosiftError} `invalid_request` for a text with too many passages, or of which the model knows nothing.
   */
  embedQuery(text: string, options?: QueryOptions): Promise<Float64Array>;
  /** The vector that {@link embedQuery} would find in the cache. It is shared, so it must not be changed. */
  cachedQuery(text: string): Float32Array | undefined;
  /**
   * The vectors of record texts in the order of `texts`. A text of which the model knows nothing, such as one of only
   * spaces or of letters of another script, has a vector of zeros. A text that is too long for one vector is split into
   * passages, which have a vector each. Passages of which the model knows nothing are left out.
   *
   * @throws {CosiftError} `too_large` with `allOrNothing`, for texts that have very many passages together;
   * `model_unavailable` when an endpoint or a function fails, and so does `embedQuery`.
   */
  embedPassages(texts: readonly string[], options?: PassageOptions): Promise<TextVectors>;
  /**
   * The vectors of search texts or of record texts in the order of `texts`, each with one vector: those that
   * {@link embedQuery} or {@link embedPassages} makes.
   *
   * @throws {CosiftError} `invalid_request` for a search text with too many passages, for a record text that is longer than the
   * window of the model, and for a text of which the model knows nothing.
   */
  embedTexts(kind: TextKind, texts: readonly string[], options: TextOptions): Promise<EmbeddedTexts>;
  stats(): EmbedderStats;
  /** Finishes the texts that are being embedded, rejects the waiting ones, and frees the model. */
  close(): Promise<void>;
}

export interface EmbedderOptions {
  /** Where the model comes from. Default: the built-in model. */
  model?: ModelSource | undefined;
  /** The name of the model. Default: that of the directory, or of the model at its service. */
  name?: string | undefined;
  /** Worker threads, each with a copy of the model. Default: one per core, at most four. */
  workers?: number | undefined;
  /** Maximum queue length of each caller, for queries and for record texts separately. Default: 4,096. */
  maxQueue?: number | undefined;
  /** How long a call waits for room in the queue before it fails with `busy`. Default: 10,000. */
  maxWaitMs?: number | undefined;
  /** JavaScript heap of a worker in MiB. A worker that needs more is replaced. Default: 1,024. */
  workerMemoryMb?: number | undefined;
  /** Size of the cache of query vectors in bytes. Default: 16 MiB. */
  cacheBytes?: number | undefined;
}
