import type { TextSource } from '../api/text-line.js';
import type { Stoppable } from '../async/stoppable.js';
import { anyUnitVector, type Embedder } from '../embedding/index.js';
import { CosiftError, type Problem } from '../errors.js';
import type { TextSearch, VectorSearch } from '../schema/index.js';
import type { EmbeddedVectors } from '../store/embedded-vectors.js';
import type { DatabaseInfo, SearchVector } from '../store/record-store.js';
import type { DatabaseInfoCache } from './database-info-cache.js';
import type { Models } from './models.js';

/** Matches a text that says something: it has more than white space and characters without a shape. */
export const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;

/** Embeds texts with the model of a database; returns no vectors for a database without a model. */
export type EmbedTexts = (source: TextSource, signal?: AbortSignal) => Promise<EmbeddedVectors>;

/** What a search is scored by. */
export interface QueryVector {
  /** May be shared with other searches. */
  vector: SearchVector;
  /** The fingerprint of the model that made it; null for a vector of the caller. */
  fingerprint: string | null;
}

export interface QueryVectorOptions {
  /** Whether the response depends on the vector. */
  needsMeaning: boolean;
  /** The path of the caller's key. */
  caller: string | undefined;
  /** Stops the embedding. */
  stoppable: Stoppable;
}

export interface WriteOrigin {
  /** The path of the caller's key: keys take turns where texts wait for the model. */
  caller?: string | undefined;
  /** Whether to wait for room in the queue of the model without a time limit. */
  waitForRoom: boolean;
  /** Whether a text with too many passages fails the write. Then no other text is embedded. */
  allOrNothing: boolean;
}

/** Embeds texts with the model of a database. */
export class DatabaseEmbedder {
  readonly #infos: DatabaseInfoCache;
  readonly #models: Models;

  constructor(infos: DatabaseInfoCache, models: Models) {
    this.#infos = infos;
    this.#models = models;
  }

  /**
   * Loads the model of the database, unless it is loaded.
   *
   * @throws {CosiftError} `model_mismatch` or `not_ready` when the model of the database cannot embed texts.
   */
  async load(id: string): Promise<void> {
    await this.#embedderOfDatabase(id);
  }

  /**
   * Returns a function that embeds the texts of one write, each time with the current model of the database. The
   * function fails as {@link load} does.
   */
  forWrite(id: string, origin: WriteOrigin): EmbedTexts {
    const call = {};
    return async (source, signal) => {
      const embedder = await this.#embedderOfDatabase(id);
      if (embedder === undefined) return { vectors: new Float32Array() };
      const texts = source.texts();
      const split = { lines: (text: number) => source.lines(text), passages: source.passages() };
      const embedded = await embedder.embedPassages(texts, { ...origin, call, signal, split });
      return { ...embedded, fingerprint: embedder.fingerprint };
    };
  }

  /** Returns the query vector of a text that was searched for before, at once; undefined if it is not in the cache. */
  cachedQueryVector(id: string, { text, vector }: TextSearch | VectorSearch): QueryVector | undefined {
    if (text === undefined || vector !== undefined) return undefined;
    const info = this.#infos.cached(id);
    const embedder = info?.model ? this.#models.loaded(info.model) : undefined;
    if (embedder === undefined || embedder.fingerprint !== info?.fingerprint) return undefined;
    // A blank text is never embedded, so it is not in the cache.
    const cached = embedder.cachedQuery(text);
    return cached && { vector: cached, fingerprint: embedder.fingerprint };
  }

  /**
   * Returns the query vector of a search.
   *
   * With `needsMeaning: false`, the response does not depend on the vector. Then it is any unit vector, and the
   * text is not embedded.
   */
  async queryVector(
    id: string,
    search: TextSearch | VectorSearch,
    { needsMeaning, caller, stoppable }: QueryVectorOptions,
  ): Promise<QueryVector> {
    const { model, fingerprint, dimensions } = await this.#infoFor(id, search);
    if (search.vector !== undefined) {
      checkWords(search);
      return { vector: new Float64Array(search.vector), fingerprint: null };
    }
    if (!VISIBLE.test(search.text)) {
      throw invalidSearch(
        'invalid_request',
        '/search/text',
        'the text is blank, so it has no meaning to search for',
      );
    }
    if (!needsMeaning) return { vector: anyUnitVector(dimensions), fingerprint };
    const embedder = await this.#embedderOf(id, model as string, fingerprint);
    const vector = await embedder.embedQuery(search.text, {
      caller,
      signal: stoppable.signal,
      // With all the weight on words, other members of the response may tell of a meaning that there is not.
      acceptsUnknown: search.lexical === 1,
    });
    return { vector, fingerprint: embedder.fingerprint };
  }

  /**
   * Returns the model and the dimensions of a database.
   *
   * @throws {CosiftError} `invalid_request`, `invalid_vector`, `invalid_dimensions` where the search does not fit them.
   */
  async #infoFor(id: string, search: TextSearch | VectorSearch): Promise<DatabaseInfo> {
    const known = await this.#infos.get(id);
    if (misfitOf(id, known, search) === undefined) return known;
    // Another process may have dropped the database, and created it with other settings.
    const current = await this.#infos.refresh(id);
    const misfit = misfitOf(id, current, search);
    if (misfit !== undefined) throw misfit;
    return current;
  }

  /** Returns the embedder of the current model of a database; undefined for a database without a model. */
  async #embedderOfDatabase(id: string): Promise<Embedder | undefined> {
    const { model, fingerprint } = await this.#infos.get(id);
    return model === null ? undefined : this.#embedderOf(id, model, fingerprint);
  }

  /**
   * Returns the embedder of a database.
   *
   * @throws {CosiftError} `model_mismatch` unless its fingerprint is that of the vectors of the database.
   */
  async #embedderOf(id: string, model: string, fingerprint: string | null): Promise<Embedder> {
    if (!this.#models.has(model)) {
      const detail =
        `database "${id}" was embedded with model "${model}", which this service does not have; ` +
        'give it in the setting "models", or embed the database again with one that it has';
      throw new CosiftError('model_mismatch', detail);
    }
    const embedder = await this.#models.ready(model, ` of database "${id}"`);
    if (embedder.fingerprint !== fingerprint) {
      const detail =
        `database "${id}" was embedded with a different version of model "${model}" than this service has; ` +
        `embed it again: database.reembed("${model}"), POST /v1/databases/${id}/reembedding, or ` +
        `cosift reembed ${id} --model ${model}`;
      throw new CosiftError('model_mismatch', detail);
    }
    return embedder;
  }
}

/** Why a search does not fit the model and the dimensions of a database; undefined if it fits. */
function misfitOf(
  id: string,
  { model, dimensions }: DatabaseInfo,
  { vector }: TextSearch | VectorSearch,
): CosiftError | undefined {
  if (vector === undefined) {
    if (model !== null) return undefined;
    const detail = `database "${id}" has no model: search by vector`;
    return invalidSearch('invalid_request', '/search/text', detail);
  }
  if (vector.length === dimensions) return undefined;
  const detail = `vector has ${vector.length} values, database expects ${dimensions}`;
  const facts = { expected: dimensions, got: vector.length };
  return invalidSearch('invalid_dimensions', '/search/vector', detail, facts);
}

/** Checks that a search by vector has a text if it takes words into account. With the weight 0, a text has no effect. */
function checkWords({ text, lexical = 0 }: TextSearch | VectorSearch): void {
  if (lexical > 0 && text === undefined) {
    const detail = 'needs the text whose words are searched for: give text beside vector';
    throw invalidSearch('invalid_request', '/search/lexical', detail);
  }
}

function invalidSearch(
  code: 'invalid_vector' | 'invalid_dimensions' | 'invalid_request',
  pointer: string,
  detail: string,
  fields: Readonly<Record<string, unknown>> = {},
): CosiftError {
  const problem: Problem = { pointer, code: code === 'invalid_request' ? 'invalid_value' : code, detail };
  return new CosiftError(code, detail, { problems: [problem], fields });
}
