import { expect, test } from 'vitest';
import type { TextLine } from '../../src/api/text-line.js';
import { joinPassages } from '../../src/embedding/join-passages.js';
import { readModelDirectory } from '../../src/embedding/model-directory.js';
import { packagedModel } from '../../src/embedding/packaged-model.js';
import { splitText } from '../../src/embedding/split-text.js';
import { TextTokenizer } from '../../src/embedding/tokenizer.js';
import { inFull } from '../helpers/full.js';

const directory = await readModelDirectory(packagedModel('all-MiniLM-L6-v2'));
const tokenizer = new TextTokenizer(directory);
const count = (text: string) => tokenizer.countToWindow(text);
const knows = (text: string) => tokenizer.knows(text);
const measures = { count, knows };
const limits = { maxTokens: directory.maxTokens, perRecord: 1_000 };

/** The text of a record, and its lines, as the engine makes them. */
function textOf(data: Record<string, string>): { text: string; lines: TextLine[] } {
  let text = '';
  const lines: TextLine[] = [];
  for (const [column, value] of Object.entries(data)) {
    text += `${text === '' ? '' : '\n'}${column}: `;
    lines.push({ column, start: text.length, end: text.length + value.length });
    text += value;
  }
  return { text, lines };
}

function split(data: Record<string, string>) {
  const { text, lines } = textOf(data);
  const { count: total, passages } = splitText(text, lines, measures, limits);
  expect(passages).toHaveLength(total);
  for (const passage of passages) expect(count(passage.text)).toBeLessThanOrEqual(directory.maxTokens);
  return passages.map((passage) => {
    const column = lines[passage.line]!.column;
    const value = data[column]!.slice(passage.start, passage.end);
    expect(passage.text).toContain(value);
    return { ...passage, column, value };
  });
}

const sentence = (n: number) =>
  `Sentence ${n} tells of the ${n % 2 ? 'harbour' : 'mountain'} and of its 😀 people. `;
const sentences = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => sentence(from + at)).join('');

test('between sentences, with an overlap of about an eighth, and nothing is left out', () => {
  const passages = split({ text: sentences(0, 120) });
  expect(passages.length).toBeGreaterThan(5);
  const text = sentences(0, 120);
  for (const [at, { start, end, value }] of passages.entries()) {
    expect(value).toMatch(/^Sentence .*people\.$/s);
    const next = passages[at + 1];
    if (next === undefined) {
      expect(end).toBe(text.trimEnd().length);
      continue;
    }
    expect(next.start).toBeGreaterThan(start);
    const shared = count(text.slice(next.start, end)) - 2;
    expect(shared).toBeGreaterThan(0);
    expect(shared).toBeLessThanOrEqual(directory.maxTokens / 8);
  }
  expect(passages[0]!.start).toBe(0);
});

test('a short column stands before every passage', () => {
  const passages = split({ title: 'On harbours', text: sentences(0, 80), tag: 'sea' });
  for (const { text, column } of passages) {
    expect(text.startsWith('title: On harbours\ntag: sea\ntext: ')).toBe(true);
    expect(column).toBe('text');
  }
});

test('columns that are long together are packed, and each passage names the one it is mostly from', () => {
  const data = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`c${at}`, sentences(at * 6, at * 6 + 6)]),
  );
  const passages = split(data);
  expect(passages.length).toBeLessThan(12);
  const all = passages.map(({ text }) => text).join('\n');
  for (let n = 0; n < 72; n += 1) expect(all).toContain(sentence(n).trim());
});

test.each([
  ['words', 'word '.repeat(2_000)],
  ['ideographs', '漢字'.repeat(1_000)],
  ['lines', 'a\n\n'.repeat(900)],
])('of %s without sentences', (_, value) => {
  const passages = split({ text: value });
  expect(passages.length).toBeGreaterThan(1);
  let covered = 0;
  for (const { start, end, value: part } of passages) {
    expect(value.slice(covered, start).trim()).toBe('');
    covered = Math.max(covered, end);
    // No surrogate pair is cut.
    expect(part.isWellFormed()).toBe(true);
  }
  expect(value.slice(covered).trim()).toBe('');
});

test('a word that is longer than a passage is cut between code points', () => {
  const value = `${'x'.repeat(99)}${'😀'.repeat(200)}`;
  const lines = [{ column: 'text', start: 0, end: value.length }];
  const { passages } = splitText(
    value,
    lines,
    { count: (text) => text.length, knows: () => true },
    { maxTokens: 50, perRecord: 100 },
  );
  for (const { text } of passages) expect(text.length).toBeLessThanOrEqual(50);
  expect(passages.every(({ start, end }) => value.slice(start, end).isWellFormed())).toBe(true);
  expect(passages[0]!.start).toBe(0);
  for (const [at, { end }] of passages.entries()) {
    expect(passages[at + 1]?.start ?? value.length).toBeLessThanOrEqual(end);
  }
});

test('a text with more passages than allowed is read no further, and none is made', () => {
  const { text, lines } = textOf({ text: sentences(0, 400) });
  const all = splitText(text, lines, measures, limits);
  const few = splitText(text, lines, measures, { ...limits, perRecord: all.count - 1 });
  expect(few).toEqual({ count: all.count, passages: [] });
  const two = splitText(text, lines, measures, { ...limits, perRecord: 2 });
  expect(two).toEqual({ count: 3, passages: [] });
  expect(splitText(text, lines, measures, { ...limits, perRecord: all.count })).toEqual(all);
});

const MEGABYTES: [string, string][] = [
  ['words', 'w '.repeat(500_000)],
  ['sentences', 'A sentence. '.repeat(80_000)],
  ['punctuation', '.'.repeat(1_000_000)],
  ['words without spaces', 'a-'.repeat(500_000)],
  ['ideographs', '漢'.repeat(300_000)],
];

// One with sentences, and one without.
test.each(inFull(MEGABYTES, MEGABYTES.slice(1, 3)))(
  'a megabyte of %s makes no more tokens than a text that is just too long',
  (_, value) => {
    let characters = 0;
    const counting = (text: string) => {
      const tokens = count(text);
      characters += Math.min(text.length, 40_000);
      return tokens;
    };
    const lines = [{ column: 'text', start: 0, end: value.length }];
    const allowed = { ...limits, perRecord: 64 };
    expect(splitText(value, lines, { count: counting, knows }, allowed)).toEqual({ count: 65, passages: [] });
    const ofAll = characters;
    characters = 0;
    splitText(
      value.slice(0, value.length / 4),
      [{ column: 'text', start: 0, end: value.length / 4 }],
      { count: counting, knows },
      allowed,
    );
    expect(ofAll).toBeLessThan(1.1 * characters);
  },
);

test('a passage of unknown characters alone is left out, whatever the names of the columns', () => {
  const unknown = 'สวัสดี ครับ 🎉 '.repeat(200);
  const known = split({ text: sentences(0, 80) });
  const { text, lines } = textOf({ greeting: unknown, text: sentences(0, 80), farewell: unknown });
  const { count: total, passages } = splitText(text, lines, measures, limits);
  expect(passages).toHaveLength(total);
  for (const passage of passages) expect(passage.text).toContain('Sentence');
  expect(total).toBeLessThanOrEqual(known.length + 2);
  const alone = textOf({ greeting: unknown });
  expect(splitText(alone.text, alone.lines, measures, limits)).toEqual({ count: 0, passages: [] });
  // Together with a title that the model knows, a passage is not unknown.
  const titled = textOf({ title: 'Greetings', greeting: unknown });
  expect(splitText(titled.text, titled.lines, measures, limits).count).toBeGreaterThan(2);
  // What is unknown takes time all the same.
  const few = { ...limits, perRecord: 2 };
  expect(splitText(alone.text, alone.lines, measures, few)).toEqual({ count: 3, passages: [] });
});

test('a label that takes most of a passage is left out, and a window of a few tokens holds any text', () => {
  const name = 'long name '.repeat(25);
  for (const { text, start } of split({ [name]: sentences(0, 60) })) {
    expect(text).not.toContain(name);
    expect(text).toContain(sentences(0, 60).slice(start, start + 20));
  }
  const { text, lines } = textOf({ text: 'a tower in the mountains' });
  const { passages } = splitText(text, lines, measures, { maxTokens: 4, perRecord: 64 });
  for (const passage of passages) expect(count(passage.text)).toBeLessThanOrEqual(4);
  expect(passages.map(({ start, end }) => text.slice(6).slice(start, end)).join('')).toBe(
    'atowerinthemountains',
  );
});

test('their vectors take the place of those of their texts', () => {
  const passage = (start: number) => ({ text: '', line: 1, start, end: start + 1 });
  const splits = [
    { text: 1, count: 2, passages: [passage(0), passage(5)] },
    { text: 3, count: 80, passages: [] },
  ];
  const joined = joinPassages(
    Float32Array.of(1, 1, 0, 0, 3, 3, 0, 0, 5, 5),
    splits,
    Float32Array.of(6, 6, 7, 7),
    2,
  );
  expect([...joined.vectors]).toEqual([1, 1, 6, 6, 7, 7, 3, 3, 5, 5]);
  expect([...joined.splits]).toEqual([1, 2, 2, 1, 0, 1, 1, 5, 6, 3, 80, 0]);
});
