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
import type { RefusedQuery, SplitRequest, TextKind } from './job.js';
import { joinPassages, type Split, type TextVectors } from './join-passages.js';
import type { EmbedCall, EmbeddingScheduler } from './scheduler.js';
import { mayHaveMore } from './split-text.js';
import type { VectorCache } from './vector-cache.js';

/** What distinguishes a model from others; see {@link Embedder}. */
export type ModelIdentity = Pick<Embedder, 'model' | 'fingerprint' | 'dimensions'>;

/** Embeds texts in turns by a scheduler, and caches the vectors of queries. */
export class QueuedEmbedder implements Embedder {
  readonly model: string;
  readonly fingerprint: string;
  readonly dimensions: number;
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
    if (!acceptsUnknown) throw refusal(this.model, { text: 0 }, '/search/text');
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
    const { vectors, splits, tokens = 0, refused } = await this.#scheduler.embed(kind, texts, call);
    if (refused !== undefined) throw refusal(this.model, refused, pointerOf(refused.text));
    const [split] = splits;
    if (split !== undefined) {
      const detail = `the text is longer than the window of model "${this.model}": it has ${split.count} passages`;
      throw refusedText('value_too_long', pointerOf(split.text), detail);
    }
    const { dimensions } = this;
    const isUnknown = (at: number) =>
      vectors.subarray(at * dimensions, (at + 1) * dimensions).every((value) => value === 0);
    const unknown = [...texts.keys()].find(isUnknown);
    if (unknown !== undefined) throw refusal(this.model, { text: unknown }, pointerOf(unknown));
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
    const long = [...texts.keys()].filter((at) => mayHaveMore(texts[at]!, split.maxPassages));
    const lines = (text: number) => split.lines(long[text]!);
    const { splits } = await this.#scheduler.embed(
      'passage',
      long.map((at) => texts[at]!),
      { ...call, split: { ...split, lines, onlySplits: true } },
    );
    const beyond = splits.filter(({ count }) => count > split.maxPassages);
    return beyond.map((found) => ({ ...found, text: long[found.text]! }));
  }

  async #runQuery(
    text: string,
    caller: string | undefined,
    stop: AbortSignal,
  ): Promise<Float32Array | undefined> {
    const origin = { caller: caller ?? '', call: {} };
    const { vectors: vector, refused } = await this.#scheduler.embed('query', [text], {
      origin,
      waitForRoom: false,
      signal: stop,
    });
    if (refused?.tooLong !== undefined) throw refusal(this.model, refused, '/search/text');
    if (refused !== undefined) return undefined;
    this.#cache.set(text, vector);
    return vector;
  }
}

/** The error of a text that cannot be embedded, at its place in the request. */
function refusal(model: string, { tooLong }: RefusedQuery, pointer: string): CosiftError {
  if (tooLong === undefined) {
    const detail =
      `model "${model}" knows no word of the text, so it has no meaning to search for: ` +
      'use other words, or a model that knows them';
    return refusedText('invalid_value', pointer, detail);
  }
  const { tokens, max } = tooLong;
  const detail = `the text has ${tokens} tokens, but model "${model}" takes at most ${max}`;
  return refusedText('value_too_long', pointer, detail, tooLong);
}

function refusedText(
  code: 'invalid_value' | 'value_too_long',
  pointer: string,
  detail: string,
  fields: Readonly<Record<string, unknown>> = {},
): CosiftError {
  return new CosiftError('invalid_request', detail, { problems: [{ pointer, code, detail }], fields });
}

/** A vector for a search whose scores do not depend on it: the store takes unit vectors only. */
export function anyUnitVector(dimensions: number): Float64Array {
  const vector = new Float64Array(dimensions);
  vector[0] = 1;
  return vector;
}
