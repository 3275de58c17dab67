/** Texts to embed, in addition to the texts themselves. */
export interface ModelCall {
  /** The purpose of the texts: a search or records. Some models have a different prompt for each. */
  kind: 'query' | 'passage';
  /** Aborted once nobody waits for the vectors. */
  signal: AbortSignal;
}

/** A model that is a function of the program. */
export interface ModelFunction {
  /** Number of values of a vector, from 1 to 4,096. */
  dimensions: number;
  /**
   * Returns a vector of `dimensions` finite numbers, not all 0, for each text, in the order of the texts. The length of a
   * vector does not matter. It gets at most 32 texts, and up to four calls run at once. A text is never blank, except
   * that of a search. An error that it throws is the `cause` of the error of the call that needed the vectors.
   */
  embed(
    texts: readonly string[],
    call: ModelCall,
  ): Promise<readonly ArrayLike<number>[]> | readonly ArrayLike<number>[];
  /**
   * Identifies the vectors that the function makes, such as `my-model-2`. A database remembers it, and refuses searches
   * and writes with another one until it is embedded again. Without it, cosift does not notice that the function
   * makes other vectors than before, unless `dimensions` changes.
   */
  fingerprint?: string | undefined;
}

/**
 * Where a model comes from: a local directory in sentence-transformers layout, an OpenAI-compatible endpoint such as
 * `https://api.example.com/v1#model=NAME&key_env=VARIABLE`, or a function.
 */
export type ModelSource = string | ModelFunction;
