import type { TextTokenizer } from './tokenizer.js';

/** Words of which the tokens are kept, and the characters of the longest of them. */
const MAX_WORDS = 1 << 17;
const MAX_WORD = 64;

/**
 * Counts the tokens of texts by those of their words, and each word only once: most words of a file come again and again. For a
 * model that divides a text at its white space first, as the built-in one does.
 */
export class WordTokens {
  readonly #tokenizer: TextTokenizer;
  /** The special tokens around every text. */
  readonly #special: number;
  readonly #words = new Map<string, number>();

  constructor(tokenizer: TextTokenizer) {
    this.#tokenizer = tokenizer;
    this.#special = tokenizer.count('');
  }

  /** See {@link TextTokenizer.countToWindow}. */
  countToWindow(text: string): number {
    let tokens = this.#special;
    for (const word of text.split(/[ \t\n\r]+/)) tokens += this.#tokensOf(word);
    return tokens;
  }

  knows(text: string): boolean {
    return this.#tokenizer.knows(text);
  }

  #tokensOf(word: string): number {
    if (word.length > MAX_WORD) return this.#tokenizer.countToWindow(word) - this.#special;
    let tokens = this.#words.get(word);
    if (tokens === undefined) {
      tokens = this.#tokenizer.count(word) - this.#special;
      if (this.#words.size === MAX_WORDS) this.#words.clear();
      this.#words.set(word, tokens);
    }
    return tokens;
  }
}
