import { shareOf, tellingPlaces } from './words.js';

/** The types that the elements of a list may have. */
const ELEMENT_TYPES = ['string', 'number', 'boolean'];

/** The types of the values of a column, and of the elements of its lists. */
const typesOf = (types) => [
  ...new Set(types.flatMap((type) => (type === 'list' ? ELEMENT_TYPES : type === 'null' ? [] : [type]))),
];

/** The elements of a list, or else the value alone. */
const elementsOf = (value) => [value].flat();

/** The text of a value; of a list, that in which searches find words. */
export const textOfValue = (value) => elementsOf(value).join(', ');

/** The columns of a description, or those of `records` for a key that may not read descriptions. */
export function columnsOf(description, records) {
  if (description?.columns !== undefined) {
    return description.columns.map(({ name, types }) => ({ name, types: typesOf(types) }));
  }
  const columns = new Map();
  for (const { data } of records) {
    for (const [name, value] of Object.entries(data)) {
      const types = columns.get(name) ?? new Set();
      if (value !== null) for (const element of elementsOf(value)) types.add(typeof element);
      columns.set(name, types);
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

const NONE_KNOWN = [];

/** The columns that a database embeds, in their order; undefined when it embeds every text. */
export const embeddedColumns = (description) =>
  description?.embed === undefined ? NONE_KNOWN : description.embed.columns;

/** Whether searches search a value of a column. */
const isSearched = (name, value, embedded) =>
  isText(value) && (embedded === undefined || embedded.includes(name));

/** Whether a value is a text, or a list with one. */
const isText = (value) => elementsOf(value).some((element) => typeof element === 'string');

/** The column that names a record: the first of the embedded ones that has a text, otherwise the first short text. */
export function titleColumn(data, embedded = []) {
  const hasText = (name) => Object.hasOwn(data, name) && typeof data[name] === 'string' && data[name] !== '';
  return (
    embedded.find(hasText) ??
    Object.keys(data).find((name) => hasText(name) && data[name].length <= MAX_TITLE)
  );
}

/**
 * The columns of a record that have a value. The title comes first; then the column of the passage that matches best; then
 * those that are searched, by the share of the search's words that they have; then the other texts; then the others.
 * `places` are those of the words that match, of a column that has `highlights`.
 */
export function rankedColumns(data, { words, embedded, passage, highlights = {} }) {
  const title = titleColumn(data, embedded);
  const present = Object.entries(data)
    .filter(([, value]) => value !== null && textOfValue(value) !== '')
    .map(([name, value], at) => {
      const own = isSearched(name, value, embedded) ? words : [];
      const kind = own.length > 0 ? 0 : isText(value) ? 1 : 2;
      const text = textOfValue(value);
      const places = Object.hasOwn(highlights, name) ? tellingPlaces(text, highlights[name], words) : [];
      return { name, text, isText: isText(value), at, kind, share: shareOf(own, text), places };
    });
  return present.sort(
    (a, b) =>
      Number(b.name === title) - Number(a.name === title) ||
      Number(b.name === passage?.column) - Number(a.name === passage?.column) ||
      b.share - a.share ||
      a.kind - b.kind ||
      a.at - b.at,
  );
}
