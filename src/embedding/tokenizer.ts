import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import type { ModelDirectory } from './model-directory.js';

/** Turns texts into token ids, cut to what the model takes with its special tokens kept. */
export class TextTokenizer {
  readonly #tokenizer: Tokenizer;
  readonly #lowerCase: boolean;
  readonly #maxTokens: number;
  readonly #before: readonly number[];
  readonly #after: readonly number[];

  constructor(directory: ModelDirectory) {
    const read = (name: string) => JSON.parse(readFileSync(join(directory.path, name), 'utf8'));
    this.#tokenizer = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
    this.#lowerCase = directory.lowerCase;
    this.#maxTokens = directory.maxTokens;
    // What the tokenizer puts around a text, whatever the text: [CLS] before and [SEP] after it, in BERT.
    const bare = this.#bare('a');
    const whole: number[] = this.#tokenizer.encode('a').ids;
    const start = whole.findIndex((_, i) => bare.every((id, j) => whole[i + j] === id));
    this.#before = whole.slice(0, start);
    this.#after = whole.slice(start + bare.length);
  }

  /** Token ids of a text, special ones included; never empty when the model has any of these. */
  encode(text: string): number[] {
    const bare = this.#bare(this.#lowerCase ? text.toLowerCase() : text);
    const room = this.#maxTokens - this.#before.length - this.#after.length;
    return [...this.#before, ...bare.slice(0, room), ...this.#after];
  }

  #bare(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }
}
