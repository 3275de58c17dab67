import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { expect, test } from 'vitest';
import { readModelDirectory } from '../../src/embedding/model-directory.js';
import { packagedModel } from '../../src/embedding/packaged-model.js';
import { cutPointsOf } from '../../src/embedding/text-cut.js';
import { TextTokenizer } from '../../src/embedding/tokenizer.js';
import { inFull } from '../helpers/full.js';

const SEED = 20_260_701;

const read = (name: string) =>
  JSON.parse(readFileSync(join(packagedModel('all-MiniLM-L6-v2'), name), 'utf8'));
const whole = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
const directory = await readModelDirectory(packagedModel('all-MiniLM-L6-v2'));
const tokenizer = new TextTokenizer(directory);

const tokensOf = (text: string): number[] => whole.encode(text, { add_special_tokens: false }).ids;

/** What the whole text, tokenised at once, comes to; undefined if it is too long. */
function expected(text: string): number[] | undefined {
  const bare = tokensOf(text);
  const room = directory.maxTokens - 2;
  const [cls, sep] = whole.encode('').ids as [number, number];
  return bare.length > room ? undefined : [cls, ...bare, sep];
}

/** Pieces that a cut could part, or that hide how far a text has come. */
const PIECES = [
  'word ',
  'a',
  'x'.repeat(99),
  'x'.repeat(101),
  'x'.repeat(5_000),
  ' '.repeat(3_000),
  '\t\r\n \u00a0\u3000\u2003',
  '\u200b'.repeat(500),
  '\u0000\ufffd',
  'e\u0301',
  `a${'\u0301'.repeat(2_000)}`,
  'ΟΔΟΣ',
  'Σ',
  'Σ.Α',
  `ΑΣ${'.'.repeat(300)}`,
  'İstanbul',
  '漢字',
  '漢'.repeat(700),
  'ひらがな',
  '한국어 ',
  '豈更',
  '𠀀𠀁',
  '😀👩‍👩‍👧',
  '.',
  "don't!?",
  '...---',
  '[SEP]',
  '[MASK] ',
  '[UNK',
  '12345678901234567890',
  'supercalifragilisticexpialidocious',
  '\u05d0\u05b0\u05d1',
  'ﬃ',
];

test.each(PIECES.map((piece) => [piece.slice(0, 12), piece]))('of nothing but %j', (_, piece) => {
  for (const size of [100, 4_000, 4_100, 20_000]) {
    const text = piece.repeat(Math.ceil(size / piece.length));
    expect(tokenizer.encode(text)).toEqual(expected(text));
  }
});

test('of many mixtures', () => {
  let state = SEED;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state % below;
  };
  const rounds = inFull(150, 50);
  let cut = 0;
  for (let round = 0; round < rounds; round += 1) {
    const kinds = Array.from({ length: 1 + random(5) }, () => PIECES[random(PIECES.length)]!);
    let text = '';
    const size = 3_000 + random(9_000);
    while (text.length < size) text += kinds[random(kinds.length)]!;
    const found = tokenizer.encode(text);
    expect(found, `round ${round} of seed ${SEED}`).toEqual(expected(text));
    cut += Number(found === undefined);
  }
  expect(cut).toBeGreaterThan(rounds / 2);
});

test('a prefix of a mebibyte is enough, with and without spaces', () => {
  const cutPoint = cutPointsOf(read('tokenizer.json'))!;
  for (const text of ['word '.repeat(200_000), '漢'.repeat(1_000_000)]) {
    const end = cutPoint(text, 4_096)!;
    expect(end).toBeGreaterThan(4_080);
    expect(end).toBeLessThanOrEqual(4_096);
    expect(tokenizer.encode(text)).toBeUndefined();
    expect(expected(text.slice(0, 2_000))).toBeUndefined();
  }
});

test('a tokenizer of another kind sees the whole text', () => {
  expect(cutPointsOf({ normalizer: null, pre_tokenizer: { type: 'Metaspace' } })).toBeUndefined();
  expect(
    cutPointsOf({ normalizer: { type: 'Replace' }, pre_tokenizer: { type: 'Whitespace' } }),
  ).toBeUndefined();
  expect(
    cutPointsOf({ normalizer: null, pre_tokenizer: { type: 'ByteLevel', use_regex: false } }),
  ).toBeUndefined();
});

test('the model knows exactly the texts with a token that is not the unknown one', () => {
  const unknown = whole.token_to_id('[UNK]');
  const texts = [...PIECES, '', ' \n\t ', '\u0000\u0007', '\u0301', 'สวัสดี', '𝓗𝓮𝓵𝓵𝓸', '❤️', 'a 🎉', '.', ' 1 '];
  for (const text of texts) {
    for (const repeated of [text, text.repeat(9), `${'🎉 '.repeat(40)}${text}`]) {
      const known = tokensOf(repeated).some((id) => id !== unknown);
      expect(tokenizer.knows(repeated), JSON.stringify(repeated)).toBe(known);
    }
  }
});
