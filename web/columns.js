/** The columns of a description, or those of `records` for a key that may not read descriptions. */
export function columnsOf(description, records) {
  if (description?.columns !== undefined) {
    return description.columns.map(({ name, types }) => ({
      name,
      types: types.filter((type) => type !== 'null'),
    }));
  }
  const columns = new Map();
  for (const { data } of records) {
    for (const [name, value] of Object.entries(data)) {
      const types = columns.get(name) ?? new Set();
      columns.set(name, value === null ? types : types.add(typeof value));
    }
  }
  return [...columns].map(([name, types]) => ({ name, types: [...types] }));
}

/** Columns `now`, and those from `before` that are not among them. */
export function merged(before, now) {
  const names = new Set(now.map(({ name }) => name));
  return [...now, ...before.filter(({ name }) => !names.has(name))];
}

/** The type in which a value is entered: that of the column if it has only one. */
export function typeOfColumn(columns, name) {
  const types = columns.find((column) => column.name === name)?.types ?? [];
  return types.length === 1 && types[0] !== 'string' ? types[0] : 'text';
}

/** Longer texts are no titles. */
const MAX_TITLE = 80;

const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The beginning of a word, so that `towers` finds `tower`. */
const stem = (word) => word.slice(0, Math.max(3, word.length - 2));

/** Words that say nothing about what a text means. */
const STOP_WORDS = new Set(
  'about and are been but can for from had has have her his how into its not of off one our out over some than that the their them then there these they this those under was were what when where which who why will with would you your'.split(
    ' ',
  ),
);

/** The beginnings of the words of a text, without those that occur everywhere. */
export function stemsOf(text) {
  return [
    ...new Set(
      words(text)
        .filter((word) => word.length > 2 && !STOP_WORDS.has(word))
        .map(stem),
    ),
  ];
}

/** The column that names a record: its first short text. */
export const titleColumn = (data) => titleOf(Object.entries(data).map(([name, value]) => ({ name, value })));

const titleOf = (columns) =>
  columns.find(({ value }) => typeof value === 'string' && value.length <= MAX_TITLE)?.name;

/**
 * The columns of a record that have a value. The title comes first; then the column of the passage that matches best; then
 * those that have words of the search, by the share of the words that they have; then the texts, which the score is made
 * from; then the others.
 */
export function rankedColumns(data, stems, passage) {
  const present = Object.entries(data)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value], at) => ({ name, value, at, hits: hitsOf(String(value), stems) }));
  const title = titleOf(present);
  const order = ({ value }) => (typeof value === 'string' ? 0 : 1);
  return present.sort(
    (a, b) =>
      Number(b.name === title) - Number(a.name === title) ||
      Number(b.name === passage?.column) - Number(a.name === passage?.column) ||
      b.hits - a.hits ||
      order(a) - order(b) ||
      a.at - b.at,
  );
}

function hitsOf(text, stems) {
  if (!mayHit(text, stems)) return 0;
  const present = words(text);
  return stems.filter((stem) => present.some((word) => word.startsWith(stem))).length / stems.length;
}

/** Whether a text can have words of the search. Most have none, and this is much faster than dividing them into words. */
function mayHit(text, stems) {
  const lower = text.toLowerCase();
  return stems.some((stem) => lower.includes(stem));
}

/** The parts of a text, with the words of the search marked. */
export function markedParts(text, stems) {
  if (!mayHit(text, stems)) return [{ text, isMarked: false }];
  const parts = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!stems.some((stem) => word.toLowerCase().startsWith(stem))) continue;
    if (index > end) parts.push({ text: text.slice(end, index), isMarked: false });
    parts.push({ text: word, isMarked: true });
    end = index + word.length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isMarked: false });
  return parts;
}
