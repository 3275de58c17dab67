import { expect, test } from 'vitest';
import { packagedModel, readModelDirectory } from '../../src/embedding/index.js';
import { TextTokenizer } from '../../src/embedding/tokenizer.js';
import { WordTokens } from '../../src/embedding/word-tokens.js';
import { inFull } from '../helpers/full.js';

const PARTS = [
  ...[
    'the',
    '\u00dcber',
    'na\u00efve',
    "don't",
    'x-y',
    'a\u0301',
    '\u0130',
    '\u00df',
    '##ing',
    'supercalifragilistic',
  ],
  ...[
    '\u6771\u4eac\u90fd',
    '\ud83c\udf89',
    '\u0639\u0631\u0628\u064a',
    '\ud55c\uad6d\uc5b4',
    '\ud800',
    '1,234.50',
    '.',
  ],
  ...['\u00a0', '\u2003', '\u200b', '\u0085', '\ufeff', '\u3000', '\u2028', '\u0000', '\u001c', '\u00ad'],
  ...['[CLS]', '[SEP] ', '\t', '\n', '\r\n', ' ', '  ', '\u201cq\u201d', 'y'.repeat(90)],
];

test('a text has the tokens of its words', async () => {
  const tokenizer = new TextTokenizer(await readModelDirectory(packagedModel('all-MiniLM-L6-v2')));
  const words = new WordTokens(tokenizer);
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < inFull(2_000, 300); round += 1) {
    const parts = Array.from(
      { length: 1 + random(12) },
      () => PARTS[random(PARTS.length)] + ' '.repeat(random(2)),
    );
    const text = parts.join('');
    expect([text, words.countToWindow(text)]).toEqual([text, tokenizer.count(text)]);
  }
});
