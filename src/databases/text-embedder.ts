import type { Stoppable } from '../async/stoppable.js';
import type { EmbeddedTexts } from '../embedding/index.js';
import { CosiftError } from '../errors.js';
import { type EmbeddingsRequest, inputPointer } from '../schema/index.js';
import { VISIBLE } from './database-embedder.js';
import type { Dependencies } from './dependencies.js';
import { BUILT_IN_MODEL } from './models.js';
import type { ScopedOptions } from './scope.js';

/** The vectors of texts, with the model that made them. */
export interface ModelVectors extends EmbeddedTexts {
  model: string;
  dimensions: number;
}

/** Embeds texts of callers, with any model. */
export class TextEmbedder {
  readonly #dependencies: Pick<Dependencies, 'models' | 'calls'>;

  constructor(dependencies: Pick<Dependencies, 'models' | 'calls'>) {
    this.#dependencies = dependencies;
  }

  /** @throws {CosiftError} `invalid_request` for a text without a meaning, and for a model that there is not. */
  async embed(
    { input, model = BUILT_IN_MODEL, kind = 'query' }: EmbeddingsRequest,
    { scope, signal }: ScopedOptions & Pick<Stoppable, 'signal'>,
  ): Promise<ModelVectors> {
    const { models, calls } = this.#dependencies;
    return await calls.run(async () => {
      const texts = typeof input === 'string' ? [input] : input;
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
}
