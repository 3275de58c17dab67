/** The value of a column in the text of a record. Offsets count UTF-16 code units, as those of strings do. */
export interface TextLine {
  column: string;
  start: number;
  end: number;
}

/** How texts are split into passages. */
export interface PassageSettings {
  /** Passages that a text may have. */
  perRecord: number;
  /** Tokens of a passage at most. Default: half of the window of the model, and only texts beyond the window are split. */
  tokens?: number | undefined;
  /** Tokens that a passage repeats of the one before it, at most. Default: an eighth of a passage. */
  overlap?: number | undefined;
}

/** Texts that need vectors. */
export interface TextSource {
  texts(): string[];
  /** The values of columns in a text, by its number in the last call of `texts`. */
  lines(text: number): TextLine[];
  /** How the texts of the last call of `texts` are split. */
  passages(): PassageSettings;
}
