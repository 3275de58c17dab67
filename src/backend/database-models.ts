import type { Embedder, EmbedOptions } from '../embedding/index.js';
import { CosiftError, isCode, type Problem } from '../errors.js';
import type { SearchRequest } from '../schema/index.js';
import type { Engine, EngineDescription } from '../store/local/index.js';
import type { Models } from './models.js';
import type { EmbedTexts } from './upsert.js';

/** What a database is made with, as far as requests need it. */
interface Known {
  model: string | null;
  fingerprint: string | null;
  dimensions: number;
}

/** The model of each database, and texts as vectors of it. */
export class DatabaseModels {
  readonly #engine: Engine;
  readonly #models: Models;
  readonly #known = new Map<string, Known>();

  constructor(engine: Engine, models: Models) {
    this.#engine = engine;
    this.#models = models;
  }

  know({ id, model, fingerprint, dimensions }: EngineDescription): void {
    this.#known.set(id, { model, fingerprint, dimensions });
  }

  /** Asks the engine what the database is made with now. */
  async refresh(id: string): Promise<void> {
    this.know(await this.#engine.describeDatabase(id));
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  ids(): string[] {
    return [...this.#known.keys()];
  }

  /** The models that some database has. */
  models(): Set<string> {
    return new Set([...this.#known.values()].flatMap(({ model }) => model ?? []));
  }

  /** @throws {CosiftError} `database_not_found`, `not_ready` */
  find(id: string): Known {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    if (this.#engine.progress().databases.some((database) => database.id === id)) {
      throw new CosiftError('not_ready', `database "${id}" is not loaded`, { fields: { database: id } });
    }
    throw new CosiftError('database_not_found', `there is no database "${id}"`);
  }

  /**
   * Embeds texts of the records of one write with whatever model the database has at the time of each call.
   *
   * @throws {CosiftError} `model_mismatch` or `not_ready` when it could not embed now.
   */
  async passages(id: string, write: { caller?: string | undefined; patient: boolean }): Promise<EmbedTexts> {
    const call = {};
    const embedder = async () => {
      const { model, fingerprint } = this.find(id);
      return model === null ? undefined : this.#embedderOf(id, model, fingerprint);
    };
    await embedder();
    return async (texts, signal) => {
      const made = await embedder();
      if (made === undefined) return { vectors: new Float32Array(), truncated: 0 };
      const embedded = await made.embedPassages(texts, { ...write, call, signal });
      return { ...embedded, fingerprint: made.fingerprint };
    };
  }

  /** The vector that a search looks for, and the fingerprint of the model that made it. */
  async queryVector(
    id: string,
    search: SearchRequest['search'],
    options: EmbedOptions,
  ): Promise<{ vector: Float64Array; fingerprint: string | null }> {
    const { model, fingerprint, dimensions } = this.find(id);
    if (search.text === undefined) {
      const vector = Float64Array.from(search.vector ?? []);
      if (model !== null) {
        throw invalidSearch(
          'invalid_vector',
          '/search/vector',
          `database "${id}" has a model: search by text`,
        );
      }
      if (vector.length !== dimensions) {
        const detail = `vector has ${vector.length} values, database expects ${dimensions}`;
        throw invalidSearch('invalid_dimensions', '/search/vector', detail, {
          expected: dimensions,
          got: vector.length,
        });
      }
      return { vector, fingerprint: null };
    }
    if (model === null) {
      throw invalidSearch(
        'invalid_request',
        '/search/text',
        `database "${id}" has no model: search by vector`,
      );
    }
    const embedder = await this.#embedderOf(id, model, fingerprint);
    const vector = Float64Array.from(await embedder.embedQuery(search.text, options));
    return { vector, fingerprint: embedder.fingerprint };
  }

  /** The embedder of a database's model, which must be the very model its records were embedded with. */
  async #embedderOf(id: string, model: string, fingerprint: string | null): Promise<Embedder> {
    if (!this.#models.has(model)) {
      const detail =
        `database "${id}" was embedded with model "${model}", which this service does not have; ` +
        'give it in the setting "models", or embed the database again with one that it has';
      throw new CosiftError('model_mismatch', detail);
    }
    const embedder = await this.#models.embedder(model).catch((cause: unknown) => {
      // The request is sound, and the cause names directories, which are not for callers of a service.
      const detail = `model "${model}" of database "${id}" cannot be loaded`;
      throw isCode(cause, 'invalid_request') ? new CosiftError('not_ready', detail, { cause }) : cause;
    });
    if (embedder.fingerprint !== fingerprint) {
      const detail =
        `database "${id}" was embedded with another version of model "${model}" than this service has; ` +
        `embed it again: POST /v1/databases/${id}/reembedding, or cosift reembed ${id} --model ${model}`;
      throw new CosiftError('model_mismatch', detail);
    }
    return embedder;
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
