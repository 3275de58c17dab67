import { readFileSync } from 'node:fs';
import type { ColumnValue } from '../../src/schema/index.js';

/** Places of words in a text, as `slice` takes them. */
export type Places = [start: number, end: number][];

interface Word {
  word: string;
  start: number;
  end: number;
}

const VOCABULARY = new Set(
  readFileSync(new URL('../../crates/engine/src/lexical/vocabulary.txt', import.meta.url), 'utf8').split(
    '\n',
  ),
);
const DIACRITICS = /[\u0300-\u036f]/g;
const REPLACED: Readonly<Record<string, string>> = {
  ς: 'σ',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
};
// ICU splits words by UAX #29, and by dictionaries for some scripts, which the tests do not use.
const WORDS = new Intl.Segmenter('en', { granularity: 'word' });

const plain = (text: string) => text.normalize('NFD').replaceAll(DIACRITICS, '');

function folded(text: string): string {
  const lower = text.normalize('NFKD').replaceAll(DIACRITICS, '').toLowerCase();
  return lower.replaceAll(/[ςøłđðıæœßþ]/g, (letter) => REPLACED[letter] as string).replaceAll(/['’]/g, '');
}

const KNOWN = new Map<string, Word[]>();

/** The words of a text by the rules of docs/reference/lexical-score.md, written independently of the engine. */
function wordsOf(text: string): Word[] {
  const known = KNOWN.get(text);
  if (known !== undefined) return known;
  const shown = plain(text);
  // By the length of the plain form, the longest part of the text from its start that is not longer.
  const places: number[] = [];
  let end = 0;
  for (const letter of text) {
    places[plain(text.slice(0, end)).length] = end;
    end += letter.length;
  }
  places[shown.length] = end;
  const placeOf = (length: number) => places[length] ?? Number.NaN;
  const words: Word[] = [];
  KNOWN.set(text, words);
  for (const { segment, index } of WORDS.segment(shown)) {
    if (!/[\p{Alphabetic}\p{N}]/u.test(segment)) continue;
    const marks = /^[+#＋＃]*/.exec(shown.slice(index + segment.length))?.[0] ?? '';
    const parts = segment.split(/(?<=\p{Alphabetic})([._:．＿：])|([._:．＿：])(?=\p{Alphabetic})/u);
    let start = index;
    for (const [at, part = ''] of parts.entries()) {
      const whole = at === parts.length - 1 ? part + marks : part;
      const word = [...folded(whole)].slice(0, 64).join('');
      // Every third part is a word, and two that follow it are what splits.
      if (at % 3 === 0 && /[\p{Alphabetic}\p{N}]/u.test(word))
        words.push({ word, start: placeOf(start), end: placeOf(start + whole.length) });
      start += part.length;
    }
  }
  return words;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function typosBetween(a: readonly string[], b: readonly string[]): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const above = rows[i - 1] as number[];
      const replaced = (above[j - 1] as number) + Number(a[i - 1] !== b[j - 1]);
      let least = Math.min((above[j] as number) + 1, (row[j - 1] as number) + 1, replaced);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) least = Math.min(least, (rows[i - 2]?.[j - 2] as number) + 1);
      row.push(least);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] as number;
}

function matches(word: string, other: string, isLast: boolean): boolean {
  if (word === other) return true;
  const [shorter, longer] = word.length < other.length ? [word, other] : [other, word];
  if (longer === `${shorter}s` && [...shorter].length >= 3) return true;
  const letters = [...word];
  if (isLast && letters.length >= 2 && other.startsWith(word)) return true;
  if (VOCABULARY.has(word) || /^\d+$/.test(word) || letters.length < 4) return false;
  if (Math.abs(word.length - other.length) > 4) return false;
  const digits = (text: string) => text.replaceAll(/\D/g, '');
  if (digits(word) !== digits(other)) return false;
  return typosBetween(letters, [...other]) <= (letters.length >= 8 ? 2 : 1);
}

function placesIn(text: string, query: string): Places {
  const [words, searched] = [wordsOf(text), wordsOf(query).map(({ word }) => word)];
  const joined = (all: readonly string[]) => all.join('');
  const [column, name] = [joined(words.map(({ word }) => word)), joined(searched)];
  const terms = searched.slice(0, 64);
  const isName = [...name].length <= 48;
  const isWhole = isName
    ? [...column].length <= 48 && matches(name, column, true)
    : name === column && terms.every((term) => words.some(({ word }) => word === term));
  const reached = isWhole && column !== '' ? (column.startsWith(name) ? name : column).length : 0;
  let before = 0;
  const found = words.filter(({ word }) => {
    const isReached = before < reached;
    before += word.length;
    return isReached || terms.some((term) => matches(term, word, term === terms.at(-1)));
  });
  return found.map(({ start, end }) => [start, end]);
}

/** The member `highlights` of a result of a search for `query`. `columns` are those that are embedded and shown. */
export function highlightsOf(
  data: Readonly<Record<string, ColumnValue>>,
  query: string,
  columns: readonly string[],
): Record<string, Places> {
  const values = columns.map((name) => [name, data[name]] as const);
  const places = values.map(([name, value]) => [name, placesIn(String(value ?? ''), query)] as const);
  return Object.fromEntries(places.filter(([, found]) => wordsOf(query).length > 0 && found.length > 0));
}
