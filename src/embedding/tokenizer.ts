import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import type { ModelDirectory } from './model-directory.js';
import { type CutPoint, cutPointsOf } from './text-cut.js';

// To avoid tokenising all of a long text, its beginning is tokenised first: `CHARACTERS_PER_TOKEN` characters for each
// token that the model takes. If that gives too few tokens, `GROWTH` times as many characters are tokenised.
const CHARACTERS_PER_TOKEN = 16;
const GROWTH = 4;

/** The characters of a text in which {@link TextTokenizer.knows} looks first. */
const FIRST_WORDS = 32;

/** A token that only marks the beginning of a word or is white space, as tokenizers of different kinds write it. */
const BLANK_TOKEN = /^[\s\u2581\u0120\u0109\u010a\u010d]*$/;

/** Turns texts into token ids. */
export class TextTokenizer {
  readonly #tokenizer: Tokenizer;
  readonly #lowerCase: boolean;
  /** Maximum number of tokens of a text, without special ones. */
  readonly #room: number;
  readonly #cutPoint: CutPoint | undefined;
  readonly #before: readonly number[];
  readonly #after: readonly number[];

  constructor(directory: ModelDirectory) {
    const read = (name: string) => JSON.parse(readFileSync(join(directory.path, name), 'utf8'));
    const config = read('tokenizer.json');
    this.#tokenizer = new Tokenizer(config, read('tokenizer_config.json'));
    this.#lowerCase = directory.lowerCase;
    this.#cutPoint = cutPointsOf(config);
    // The special tokens around every text, such as [CLS] before and [SEP] after it in BERT.
    const plain = this.#encodePlain('a');
    const full: number[] = this.#tokenizer.encode('a').ids;
    const start = full.findIndex((_, i) => plain.every((id, j) => full[i + j] === id));
    this.#before = full.slice(0, start);
    this.#after = full.slice(start + plain.length);
    this.#room = directory.maxTokens - this.#before.length - this.#after.length;
  }

  /**
   * The tokens of a text with the special ones; undefined when there are more than the model takes. Only the beginning of
   * such a text is tokenised.
   */
  encode(text: string): number[] | undefined {
    const plain = this.#beginning(text);
    return plain.length > this.#room ? undefined : [...this.#before, ...plain, ...this.#after];
  }

  /** The number of tokens of a text, with the special ones. */
  count(text: string): number {
    return this.#before.length + this.#encodePlain(text).length + this.#after.length;
  }

  /**
   * The number of tokens of a text, with the special ones, if the model takes it. Otherwise a number that is too large,
   * because only the beginning of the text is tokenised.
   */
  countToWindow(text: string): number {
    return this.#before.length + this.#beginning(text).length + this.#after.length;
  }

  /**
   * Whether the model knows anything of a text: it has a token besides the special ones, the unknown token, and those of
   * white space. All other texts have the same vector, whatever they say.
   */
  knows(text: string): boolean {
    // Nearly every text has such a token among its first words.
    const end = text.length > FIRST_WORDS ? this.#cutPoint?.(text, FIRST_WORDS) : undefined;
    return (end !== undefined && this.#hasKnownToken(text.slice(0, end))) || this.#hasKnownToken(text);
  }

  #hasKnownToken(text: string): boolean {
    const { ids, tokens } = this.#encode(text);
    const unknown = this.#tokenizer.model?.unk_token_id;
    // A tokenizer without an unknown token gives no id for what is not in its vocabulary.
    return ids.some((id, at) => id !== undefined && id !== unknown && !BLANK_TOKEN.test(tokens[at]!));
  }

  /** The tokens of a text, without special ones. For a long text: its first tokens, more than the model takes. */
  #beginning(text: string): number[] {
    for (let size = this.#room * CHARACTERS_PER_TOKEN; size < text.length; size *= GROWTH) {
      if (this.#cutPoint === undefined) break;
      const end = this.#cutPoint(text, size);
      const plain = this.#encodePlain(text.slice(0, end ?? size));
      // A cut in a word changes the tokens of that word, but does not halve the number of all.
      if (plain.length > (end === undefined ? 2 : 1) * this.#room) return plain;
    }
    return this.#encodePlain(text);
  }

  /** The tokens of a text, without special ones. */
  #encodePlain(text: string): number[] {
    return this.#encode(text).ids;
  }

  /** The tokens of a text and their ids, without special ones. */
  #encode(text: string): { ids: number[]; tokens: string[] } {
    const seen = this.#lowerCase ? text.toLowerCase() : text;
    return this.#tokenizer.encode(seen, { add_special_tokens: false });
  }
}
