import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import type { ModelDirectory } from './model-directory.js';
import { type CutPoint, cutPointsOf } from './text-cut.js';

/** The tokens of a text. */
export interface Encoded {
  /** Special ones included; never empty when the model has any of these. */
  ids: number[];
  /** Whether the text has more tokens than the model takes. */
  truncated: boolean;
}

/** Characters of a text that are looked at first, for each token that the model takes. Words have fewer, mostly. */
const CHARACTERS_PER_TOKEN = 16;

/** Of what was not enough, so many times as much is looked at next. */
const GROWTH = 4;

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Turns texts into token ids, cut to what the model takes with its special tokens kept. */
export class TextTokenizer {
  readonly #tokenizer: Tokenizer;
  readonly #lowerCase: boolean;
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
    // What the tokenizer puts around a text, whatever the text: [CLS] before and [SEP] after it, in BERT.
    const bare = this.#bare('a');
    const whole: number[] = this.#tokenizer.encode('a').ids;
    const start = whole.findIndex((_, i) => bare.every((id, j) => whole[i + j] === id));
    this.#before = whole.slice(0, start);
    this.#after = whole.slice(start + bare.length);
    this.#room = directory.maxTokens - this.#before.length - this.#after.length;
  }

  /** The tokens of a text. Of a long one, no more is tokenised than its first tokens take. */
  encode(text: string): Encoded {
    const bare = this.#beginning(text);
    const truncated = bare.length > this.#room;
    return { ids: [...this.#before, ...bare.slice(0, this.#room), ...this.#after], truncated };
  }

  /** Whether a text has a token of its own. */
  hasTokens(text: string): boolean {
    // Of these there always is one: most texts need not be tokenised for that.
    return LETTER_OR_DIGIT.test(text) || this.#beginning(text).length > 0;
  }

  /** The tokens of a text, or the first of them: more than the model takes. */
  #beginning(text: string): number[] {
    for (let size = this.#room * CHARACTERS_PER_TOKEN; size < text.length; size *= GROWTH) {
      const end = this.#cutPoint?.(text, size);
      if (end === undefined) break;
      const bare = this.#bare(text.slice(0, end));
      if (bare.length > this.#room) return bare;
    }
    return this.#bare(text);
  }

  #bare(text: string): number[] {
    const seen = this.#lowerCase ? text.toLowerCase() : text;
    return this.#tokenizer.encode(seen, { add_special_tokens: false }).ids;
  }
}
