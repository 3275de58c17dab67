import { SingleFlight } from '../async/single-flight.js';
import { CosiftError } from '../errors.js';
import type {
  EmbeddedTexts,
  Embedder,
  EmbedderStats,
  PassageOptions,
  QueryOptions,
  TextOptions,
} from './embedder.js';
import type { Embedded, SplitRequest, TextKind } from './job.js';
import { joinPassages, type Split, type TextVectors } from './join-passages.js';
import type { EmbedCall, EmbeddingScheduler } from './scheduler.js';
import { mayHaveMore } from './split-text.js';
import type { VectorCache } from './vector-cache.js';

/** What distinguishes a model from others; see {@link Embedder}. */
export type ModelIdentity = Pick<Embedder, 'model' | 'fingerprint' | 'dimensions' | 'window'>;

/** Passages at most of a text to search for. */
const MAX_QUERY_PASSAGES = 64;

/** Passages at most of the texts of a batch: their vectors are in memory at once. */
const MAX_BATCH_PASSAGES = 131_072;

/** Embeds texts in turns by a scheduler, and caches the vectors of queries. */
export class QueuedEmbedder implements Embedder {
  readonly model: string;
  readonly fingerprint: string;
  readonly dimensions: number;
  readonly window: number | undefined;
  readonly #scheduler: EmbeddingScheduler;
  readonly #cache: VectorCache;
  // The `fetch` method of the cache is not used: its signal, and an eviction, would end the call for all callers.
  /** They result in undefined for a text of which the model knows nothing. */
  readonly #inferences = new SingleFlight<Float32Array | undefined>();
  #cacheHits = 0;
  #cacheMisses = 0;

  constructor(identity: ModelIdentity, scheduler: EmbeddingScheduler, cache: VectorCache) {
    this.model = identity.model;
    this.fingerprint = identity.fingerprint;
    this.dimensions = identity.dimensions;
    this.window = identity.window;
    this.#scheduler = scheduler;
    this.#cache = cache;
  }

  async embedQuery(
    text: string,
    { signal, caller, acceptsUnknown = false }: QueryOptions = {},
  ): Promise<Float64Array> {
    const cached = this.cachedQuery(text);
    // A copy, because a caller may change its vector.
    if (cached !== undefined) return new Float64Array(cached);
    if (this.#inferences.has(text)) this.#cacheHits += 1;
    else this.#cacheMisses += 1;
    const run = (stop: AbortSignal) => this.#runQuery(text, caller, stop);
    const vector = await this.#inferences.run(text, run, signal);
    if (vector !== undefined) return new Float64Array(vector);
    if (!acceptsUnknown) throw unknownText(this.model, '/search/text');
    return anyUnitVector(this.dimensions);
  }

  cachedQuery(text: string): Float32Array | undefined {
    const cached = this.#cache.get(text);
    if (cached !== undefined) this.#cacheHits += 1;
    return cached;
  }

  async embedPassages(texts: readonly string[], options: PassageOptions = {}): Promise<TextVectors> {
    const { signal, caller = '', call = {}, waitForRoom = false, split, allOrNothing = false } = options;
    const origin = { caller, call };
    if (split !== undefined && allOrNothing) {
      const refused = await this.#textsBeyond(split, texts, { origin, waitForRoom, signal });
      if (refused.length > 0) {
        const nothing = new Float32Array(texts.length * this.dimensions);
        return joinPassages(nothing, refused, new Float32Array(), this.dimensions);
      }
    }
    const ofTexts = await this.#scheduler.embed('passage', texts, { origin, waitForRoom, signal, split });
    const { vectors, splits } = ofTexts;
    if (allOrNothing) checkPassageCount(splits);
    if (splits.length === 0) return { vectors, splits: new Uint32Array() };
    const passages = splits.flatMap((split) => split.passages.map(({ text }) => text));
    // The call was admitted, so its passages wait for room without a time limit.
    const ofPassages = await this.#scheduler.embed('passage', passages, {
      origin,
      waitForRoom: true,
      signal,
    });
    if (ofPassages.splits.length > 0)
      throw new CosiftError('internal', 'a passage is too long for the model');
    return joinPassages(vectors, splits, ofPassages.vectors, this.dimensions);
  }

  async embedTexts(
    kind: TextKind,
    texts: readonly string[],
    { signal, caller = '', pointerOf }: TextOptions,
  ): Promise<EmbeddedTexts> {
    const call = { origin: { caller, call: {} }, waitForRoom: false, signal };
    const embedded = kind === 'query' ? this.#embedQueries(texts, call, pointerOf) : undefined;
    const {
      vectors,
      splits,
      tokens = 0,
      refused,
    } = await (embedded ?? this.#scheduler.embed(kind, texts, call));
    if (refused !== undefined) throw unknownText(this.model, pointerOf(refused));
    const [split] = splits;
    if (split !== undefined) {
      const detail = `the text is longer than the window of model "${this.model}": it has ${split.count} passages`;
      throw refusedText('value_too_long', pointerOf(split.text), detail);
    }
    const { dimensions } = this;
    const isUnknown = (at: number) =>
      vectors.subarray(at * dimensions, (at + 1) * dimensions).every((value) => value === 0);
    const unknown = [...texts.keys()].find(isUnknown);
    if (unknown !== undefined) throw unknownText(this.model, pointerOf(unknown));
    return { vectors, tokens };
  }

  stats(): EmbedderStats {
    return { ...this.#scheduler.stats, cacheHits: this.#cacheHits, cacheMisses: this.#cacheMisses };
  }

  close(): Promise<void> {
    return this.#scheduler.close();
  }

  /** The texts with more passages than allowed. Texts are split for it, and not embedded. */
  async #textsBeyond(split: SplitRequest, texts: readonly string[], call: EmbedCall): Promise<Split[]> {
    const long = [...texts.keys()].filter((at) => mayHaveMore(texts[at]!, split.passages));
    const lines = (text: number) => split.lines(long[text]!);
    const { splits } = await this.#scheduler.embed(
      'passage',
      long.map((at) => texts[at]!),
      { ...call, split: { ...split, lines, onlySplits: true } },
    );
    const beyond = splits.filter(({ count }) => count > split.passages.perRecord);
    if (beyond.length === 0) checkPassageCount(splits);
    return beyond.map((found) => ({ ...found, text: long[found.text]! }));
  }

  /** Embeds queries; a long one gets the direction of the mean of its passages' vectors. No query is left in `splits`. */
  async #embedQueries(
    texts: readonly string[],
    call: EmbedCall,
    pointerOf: (text: number) => string,
  ): Promise<Embedded> {
    const lines = (text: number) => [{ column: '', start: 0, end: texts[text]!.length }];
    const split = { lines, passages: { perRecord: MAX_QUERY_PASSAGES } };
    const made = await this.#scheduler.embed('query', texts, { ...call, split });
    if (made.splits.length === 0) return made;
    const beyond = made.splits.find(({ count }) => count > MAX_QUERY_PASSAGES);
    if (beyond !== undefined) {
      const detail =
        `the text has more than ${MAX_QUERY_PASSAGES} passages: parts that model "${this.model}" takes ` +
        `when a text is longer than its window of ${this.window} tokens`;
      throw refusedText('value_too_long', pointerOf(beyond.text), detail);
    }
    const empty = made.splits.find(({ count }) => count === 0)?.text;
    if (empty !== undefined) return { ...made, refused: Math.min(empty, made.refused ?? empty) };
    // The call was admitted, so its passages wait for room without a time limit.
    const passages = made.splits.flatMap((split) => split.passages.map(({ text }) => text));
    const parts = await this.#scheduler.embed('query', passages, { ...call, waitForRoom: true });
    const { dimensions } = this;
    let from = 0;
    for (const { text, count } of made.splits) {
      const to = from + count * dimensions;
      made.vectors.set(meanDirection(parts.vectors.subarray(from, to), dimensions), text * dimensions);
      from = to;
    }
    return { ...made, splits: [], tokens: (made.tokens ?? 0) + (parts.tokens ?? 0) };
  }

  async #runQuery(
    text: string,
    caller: string | undefined,
    stop: AbortSignal,
  ): Promise<Float32Array | undefined> {
    const origin = { caller: caller ?? '', call: {} };
    const call = { origin, waitForRoom: false, signal: stop };
    const { vectors: vector, refused } = await this.#embedQueries([text], call, () => '/search/text');
    if (refused !== undefined) return undefined;
    this.#cache.set(text, vector);
    return vector;
  }
}

/** @throws {CosiftError} `too_large` */
function checkPassageCount(splits: readonly Split[]): void {
  const passages = splits.reduce((sum, { count }) => sum + count, 0);
  if (passages <= MAX_BATCH_PASSAGES) return;
  const detail =
    `the texts of the batch make at least ${passages} passages, at most ${MAX_BATCH_PASSAGES} are embedded at once: ` +
    'send fewer records at a time';
  throw new CosiftError('too_large', detail, { fields: { max: MAX_BATCH_PASSAGES } });
}

/** The error of a text of which the model knows nothing, at its place in the request. */
function unknownText(model: string, pointer: string): CosiftError {
  const detail =
    `model "${model}" knows no word of the text, so it has no meaning to search for: ` +
    'use other words, or a model that knows them';
  return refusedText('invalid_value', pointer, detail);
}

function refusedText(code: 'invalid_value' | 'value_too_long', pointer: string, detail: string): CosiftError {
  return new CosiftError('invalid_request', detail, { problems: [{ pointer, code, detail }] });
}

/** The direction of the mean of vectors; zeros if there is none. */
function meanDirection(vectors: Float32Array, dimensions: number): Float64Array {
  const sum = new Float64Array(dimensions);
  for (const [at, value] of vectors.entries()) sum[at % dimensions]! += value;
  const length = Math.sqrt(sum.reduce((squares, value) => squares + value * value, 0));
  return length === 0 ? sum : sum.map((value) => value / length);
}

/** A vector for a search whose scores do not depend on it: the store takes unit vectors only. */
export function anyUnitVector(dimensions: number): Float64Array {
  const vector = new Float64Array(dimensions);
  vector[0] = 1;
  return vector;
}
