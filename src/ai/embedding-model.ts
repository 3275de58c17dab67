import type { Databases } from '../api/index.js';
import { MAX_EMBEDDED_TEXTS } from '../schema/limits.js';
import { members } from '../schema/option-checks.js';
import { checkMembers, OPTIONS } from '../schema/options.js';

const CHECK = members({ model: OPTIONS.embed.model, kind: OPTIONS.embed.kind }, []);

/** Options of `embeddingModel`. */
export interface EmbeddingModelOptions {
  /** Name of the model. Default: the built-in one. */
  model?: string | undefined;
  /** Whether the texts are searches or texts of records. Default: that of `embed`. */
  kind?: 'query' | 'record' | undefined;
}

/** An embedding model of the AI SDK, specification version 3. */
export interface AiEmbeddingModel {
  /** The version of the specification. */
  readonly specificationVersion: 'v3';
  /** The name of the provider, for logs. */
  readonly provider: 'cosift';
  /** The name of the model, for logs. */
  readonly modelId: string;
  /** Maximum number of texts of a call. `embedMany` makes several calls for more. */
  readonly maxEmbeddingsPerCall: number;
  /** Whether several calls may run at once. */
  readonly supportsParallelCalls: boolean;
  /** Embeds texts, for `embed` and `embedMany`. Tokens are not counted, so there is no usage. */
  doEmbed(options: {
    values: string[];
    abortSignal?: AbortSignal | undefined;
  }): Promise<{ embeddings: number[][]; warnings: [] }>;
}

/**
 * Returns a model for `embed` and `embedMany` of the AI SDK. Its vectors are those of `embed` of the library or the client.
 *
 * @throws {CosiftError} `invalid_request` for an option that is unknown or has a value that is not allowed.
 *
 * @example
 * ```ts
 * const { embedding } = await embed({ model: embeddingModel(cosift), value: 'a tall tower' });
 * ```
 */
export function embeddingModel(
  cosift: Pick<Databases, 'embed'>,
  options: EmbeddingModelOptions = {},
): AiEmbeddingModel {
  checkMembers(CHECK, options);
  const { model, kind } = options;
  return {
    specificationVersion: 'v3',
    provider: 'cosift',
    modelId: model ?? 'built-in',
    maxEmbeddingsPerCall: MAX_EMBEDDED_TEXTS,
    supportsParallelCalls: true,
    doEmbed: async ({ values, abortSignal }) => {
      const vectors = await cosift.embed(values, { model, kind, signal: abortSignal });
      return { embeddings: vectors.map((vector) => Array.from(vector)), warnings: [] };
    },
  };
}
