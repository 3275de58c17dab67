// An approximation of how exact words are compared (docs/reference/lexical-score.md), only to order the columns of a card.

/** Of a text of a search, this many words count. */
const MAX_WORDS = 64;
/** From this many letters on, a plural or a singular matches. */
const PLURAL_FROM = 3;
/** From this many letters on, the last word of a search matches the words that begin with it. */
const BEGINNING_FROM = 2;

/** Words that occur in most texts. They weigh next to nothing, and marks on them would hide the others. */
const STOP_WORDS = new Set(
  'a about an and are as at be been but by can do for from had has have he her his how i if in into is it its me my not of off on one or our out over she so some than that the their them then there these they this those to under up us was we were what when where which who why will with would you your'.split(
    ' ',
  ),
);

/** Letters that make a word each, as in Chinese. */
const ALONE = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]`;
const PART = String.raw`(?!${ALONE})[\p{L}\p{N}]\p{M}*`;
/** What joins letters, and what joins digits. */
const JOINED = String.raw`(?<=\p{L}\p{M}*)['’](?=\p{L})|(?<=\p{N})[.,;'’_](?=\p{N})`;
const WORD = new RegExp(String.raw`${ALONE}\p{M}*|${PART}(?:${PART}|${JOINED})*[+#]*`, 'gu');

const REPLACED = { ς: 'σ', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ı: 'i', æ: 'ae', œ: 'oe', ß: 'ss', þ: 'th' };

/** A text in lower case, without diacritics and apostrophes. */
function folded(text) {
  if (/^[\0-\x7f]*$/.test(text)) return text.replaceAll("'", '').toLowerCase();
  return text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f'’]/g, '')
    .toLowerCase()
    .replaceAll(/[ςøłđðıæœßþ]/g, (letter) => REPLACED[letter]);
}

/** The words of the text of a search. Stop words count only when there are no others. */
export function searchedWords(text) {
  const all = (text.match(WORD) ?? []).slice(0, MAX_WORDS).map(folded);
  const telling = all.filter((word) => !STOP_WORDS.has(word));
  const last = all.at(-1);
  return [...new Set(telling.length > 0 ? telling : all)].map((word) => ({
    word,
    mayContinue: word === last && word.length >= BEGINNING_FROM,
  }));
}

function isMatch({ word, mayContinue }, other) {
  if (word === other) return true;
  const [shorter, longer] = word.length < other.length ? [word, other] : [other, word];
  if (shorter.length >= PLURAL_FROM && longer === `${shorter}s`) return true;
  return mayContinue && other.startsWith(word);
}

/** Whether a text can have one of the words. Most have none, and this is much faster than dividing them into words. */
function mayHave(text, words) {
  if (words.length === 0) return false;
  const all = folded(text);
  return words.some(({ word }) => all.includes(word.length > PLURAL_FROM ? word.replace(/s$/, '') : word));
}

export function shareOf(words, text) {
  if (!mayHave(text, words)) return 0;
  const own = [...new Set(text.match(WORD))].map(folded);
  return words.filter((word) => own.some((other) => isMatch(word, other))).length / words.length;
}

/** The places of words that occur everywhere are left out of `places`, unless the search has no other words. */
export function tellingPlaces(text, places, words) {
  if (words.some(({ word }) => STOP_WORDS.has(word))) return places;
  return places.filter(([start, end]) => !STOP_WORDS.has(folded(text.slice(start, end))));
}

/** The part of a text from `start` to `end`, split at the places that are marked. */
export function markedParts(text, places, { start, end }) {
  const parts = [];
  let at = start;
  for (const [from, to] of places) {
    const [first, last] = [Math.max(from, at), Math.min(to, end)];
    if (first >= last) continue;
    if (first > at) parts.push({ text: text.slice(at, first), isMarked: false });
    parts.push({ text: text.slice(first, last), isMarked: true });
    at = last;
  }
  if (at < end) parts.push({ text: text.slice(at, end), isMarked: false });
  return parts;
}
