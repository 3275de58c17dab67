import type { Stoppable } from '../async/stoppable.js';
import type { EmbeddedTexts } from '../embedding/index.js';
import { CosiftError, isCode } from '../errors.js';
import { BUILT_IN_MODEL, type EmbeddingsRequest, inputPointer } from '../schema/index.js';
import { VISIBLE } from './database-embedder.js';
import type { Dependencies } from './dependencies.js';
import type { ScopedOptions } from './scope.js';

/** The vectors of texts, with the model that made them. */
export interface ModelVectors extends EmbeddedTexts {
  model: string;
  dimensions: number;
}

interface TextEmbedderOptions extends Pick<ScopedOptions, 'scope'>, Pick<Stoppable, 'signal'> {
  /** Only models of these databases may be used. Default: any model. */
  databases?: ReadonlySet<string> | undefined;
}

/** Embeds texts of callers, with any model that a caller may use. */
export class TextEmbedder {
  readonly #dependencies: Pick<Dependencies, 'models' | 'infos' | 'calls'>;

  constructor(dependencies: Pick<Dependencies, 'models' | 'infos' | 'calls'>) {
    this.#dependencies = dependencies;
  }

  /** @throws {CosiftError} `invalid_request` for a text without a meaning, and for a model that is unknown or not for the caller. */
  async embed(
    { input, model = BUILT_IN_MODEL, kind = 'query' }: EmbeddingsRequest,
    { scope, databases, signal }: TextEmbedderOptions,
  ): Promise<ModelVectors> {
    const { models, calls } = this.#dependencies;
    return await calls.run(async () => {
      const texts = typeof input === 'string' ? [input] : input;
      if (databases !== undefined) {
        models.checkUsable(model, await this.#modelsOf(databases, model, signal));
      }
      const embedder = await models.ready(model);
      const pointerOf = (at: number) => inputPointer(input, at);
      const blank = texts.findIndex((text) => !VISIBLE.test(text));
      if (blank >= 0) {
        const detail = 'the text is blank, so it has no meaning';
        const problems = [{ pointer: pointerOf(blank), code: 'invalid_value', detail }] as const;
        throw new CosiftError('invalid_request', detail, { problems });
      }
      const purpose = kind === 'query' ? 'query' : 'passage';
      const embedded = await embedder.embedTexts(purpose, texts, {
        caller: scope?.caller,
        signal,
        pointerOf,
      });
      return { ...embedded, model, dimensions: embedder.dimensions };
    });
  }

  /**
   * Loads the models of all databases; the built-in one if no database has a model.
   *
   * @throws {CosiftError} `not_ready` for a model that cannot be loaded.
   */
  async warm(): Promise<void> {
    const { models, infos, calls } = this.#dependencies;
    const used = infos.ids().flatMap((id) => infos.cached(id)?.model ?? []);
    const names = new Set(used.length > 0 ? used : [BUILT_IN_MODEL]);
    await calls.run(() => Promise.all([...names].map((name) => models.ready(name))));
  }

  /** The models of the databases that exist. If `model` is known as one of them, the others are left out. */
  async #modelsOf(
    databases: ReadonlySet<string>,
    model: string,
    signal: AbortSignal | undefined,
  ): Promise<Set<string>> {
    const { infos } = this.#dependencies;
    for (const id of databases) if (infos.cached(id)?.model === model) return new Set([model]);
    const found = new Set<string>();
    for (const id of databases) {
      signal?.throwIfAborted();
      try {
        // Another process may have created the database, or embedded it with another model.
        const info = await infos.refresh(id);
        if (info.model !== null) found.add(info.model);
      } catch (error) {
        if (!isCode(error, 'database_not_found')) throw error;
      }
    }
    return found;
  }
}
