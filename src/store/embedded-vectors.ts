export interface EmbeddedVectors {
  /** One after the other: one for each text, or one for each passage of a text that was split. */
  vectors: Float32Array;
  /**
   * The texts that were split, in order. For each: the number of the text, the number of its passages, the number of its
   * vectors, and three numbers for each vector: the line, and the range in the line's value. A text with more passages
   * than allowed has no vectors, and `commit` refuses its record. Default: none.
   */
  splits?: Uint32Array | undefined;
  /** The fingerprint of the model that made them; undefined where nothing was embedded. */
  fingerprint?: string | undefined;
}
