import type { PassageSettings, TextSource } from '../api/text-line.js';
import { joinPassages, type Split, type TextVectors } from './join-passages.js';
import type { ModelDirectory } from './model-directory.js';
import { mayHaveMore, splitWith } from './split-text.js';
import { TextTokenizer } from './tokenizer.js';
import { WordTokens } from './word-tokens.js';

/**
 * Returns a function that makes any unit vector for each text, and none for a text that has more passages than allowed: what
 * the rules of records depend on. Only the tokenizer of the model is loaded, and not even that for short texts.
 */
export function placeholderVectors(directory: ModelDirectory): (source: TextSource) => TextVectors {
  const { dimensions, maxTokens, prompts } = directory;
  let tokens: WordTokens | undefined;
  const splitOf = (text: string, lines: () => ReturnType<TextSource['lines']>, passages: PassageSettings) => {
    if (!mayHaveMore(text, passages)) return undefined;
    tokens ??= new WordTokens(new TextTokenizer(directory));
    const max = passages.tokens ?? maxTokens;
    if (tokens.countToWindow(prompts.passage + text) <= max) return undefined;
    return splitWith(tokens, directory, { kind: 'passage', text, lines: lines(), passages });
  };
  return (source) => {
    const texts = source.texts();
    const passages = source.passages();
    const vectors = new Float32Array(texts.length * dimensions);
    const beyond: Split[] = [];
    for (const [at, text] of texts.entries()) {
      vectors[at * dimensions] = 1;
      const split = splitOf(text, () => source.lines(at), passages);
      if (split !== undefined && split.count > passages.perRecord) beyond.push({ ...split, text: at });
    }
    return joinPassages(vectors, beyond, new Float32Array(), dimensions);
  };
}
