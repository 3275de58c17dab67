import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readModelDirectory } from '../../src/embedding/model-directory.js';
import { TextTokenizer } from '../../src/embedding/tokenizer.js';
import { smallModel } from '../helpers/small-model.js';

const directory = mkdtempSync(join(tmpdir(), 'cosift-unknown-'));
afterAll(() => rmSync(directory, { recursive: true }));

const METASPACE = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true };
const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true };

const idsOf = (tokens: readonly string[]) => Object.fromEntries(tokens.map((token, id) => [token, id]));

/** Tokenizers whose vocabularies know the words `red` and `green`. */
const TOKENIZERS = {
  'WordPiece of whole words': {
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: idsOf(['[UNK]', 'red', 'green']),
    },
  },
  'Unigram with an unknown token': {
    pre_tokenizer: METASPACE,
    model: {
      type: 'Unigram',
      unk_id: 0,
      vocab: [
        ['<unk>', 0],
        ['▁', -2],
        ['▁red', -1],
        ['▁green', -1],
      ],
    },
  },
  'BPE with an unknown token': {
    pre_tokenizer: METASPACE,
    model: {
      type: 'BPE',
      unk_token: '<unk>',
      fuse_unk: true,
      byte_fallback: false,
      vocab: idsOf(['<unk>', '▁', 'r', 'e', 'd', 'g', 'n', '▁r', 'ed', '▁red']),
      merges: ['▁ r', 'e d', '▁r ed'],
    },
  },
} as const;

async function tokenizerOf(name: string, parts: object): Promise<TextTokenizer> {
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: null,
    post_processor: null,
    decoder: null,
    ...parts,
  };
  const path = smallModel(join(directory, name.replaceAll(' ', '-')), {
    files: { 'tokenizer.json': tokenizer },
  });
  return new TextTokenizer(await readModelDirectory(path));
}

test.each(Object.entries(TOKENIZERS))('%s', async (name, parts) => {
  const tokenizer = await tokenizerOf(name, parts);
  for (const text of ['red', 'green red', 'a 🎉 red', `${'🎉 '.repeat(50)}red`]) {
    expect(tokenizer.knows(text), text).toBe(true);
  }
  for (const text of ['', ' ', '🎉', 'สวัสดี ครับ', '🎉 🎉', '🎉 '.repeat(60)]) {
    expect(tokenizer.knows(text), text).toBe(false);
  }
});

test('a tokenizer of bytes knows every text of more than white space', async () => {
  // The first 256 tokens stand for the bytes, as in the models of the GPT-2 family.
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
  let next = 256;
  const bytes = Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(printable(byte) ? byte : next++),
  );
  const tokenizer = await tokenizerOf('bytes', {
    pre_tokenizer: BYTE_LEVEL,
    model: { type: 'BPE', unk_token: null, vocab: idsOf(bytes), merges: [] },
  });
  for (const text of ['red', '🎉', 'สวัสดี', '.']) expect(tokenizer.knows(text), text).toBe(true);
  for (const text of ['', ' ', '\n\t']) expect(tokenizer.knows(text), JSON.stringify(text)).toBe(false);
});
