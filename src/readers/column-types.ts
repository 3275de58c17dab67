import { didYouMean } from '../schema/suggest.js';
import { type Cell, Nested, Numeral, type Scalar, textOf, type Value } from './cells.js';
import { compactJson, listOf } from './json/object.js';
import { BOOLEAN_FORMATS, numberFormats, type ValueFormat, valueText } from './value-text.js';

export const COLUMN_TYPES = ['text', 'number', 'boolean', 'list'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

type ScalarCell = Scalar | Numeral;

/** A value of a column, and the line of its first row. */
interface Sighting {
  text: string;
  line: number;
}

/** Why a column is text although all its values could be of another type. */
export interface TypeHint {
  name: string;
  /** The type that the column could have. */
  type: 'number' | 'boolean';
  /** A value that is in no format, or not in that of the values before it, such as `007`, or `1.10` after `1.9`. */
  form: Sighting | undefined;
  /** The first value, if that of `form` is a later one that differs from it. */
  first: Sighting | undefined;
  /** Whether no number equals that value, because it has too many digits. */
  isInexact: boolean;
  /** Texts that may stand for no value, such as `NA`. */
  nulls: readonly Sighting[];
}

/** Texts by which programs write that there is no value. */
const NULL_TEXTS = new Set([
  ...['NULL', 'null', 'Null', '(null)', '\\N', 'None', 'none', 'nil', 'NIL'],
  ...['NA', 'na', 'N/A', 'n/a', '#N/A', '<NA>', 'NaN', 'nan', '-', '--', '?', '.', '..'],
]);

/** A type that all values of a column may have. */
class Candidate {
  readonly type: 'number' | 'boolean';
  readonly #parse: (text: string) => number | boolean | undefined;
  readonly #formatsOf: (text: string) => readonly ValueFormat[];
  isPossible = true;
  /** The formats of all values so far. */
  #formats: readonly ValueFormat[] | undefined;
  first: Sighting | undefined;
  /** The first value that is not in a format of the values before it. */
  form: Sighting | undefined;

  /** `parse` returns undefined for a text that is no value, and NaN for a number that no double equals. */
  constructor(
    type: 'number' | 'boolean',
    parse: (text: string) => number | boolean | undefined,
    formatsOf: (text: string) => readonly ValueFormat[],
  ) {
    this.type = type;
    this.#parse = parse;
    this.#formatsOf = formatsOf;
  }

  get formats(): readonly ValueFormat[] {
    return this.#formats ?? [];
  }

  observe(text: string, line: number): void {
    if (!this.isPossible) return;
    const value = this.#parse(text);
    if (value === undefined) {
      this.isPossible = false;
      return;
    }
    this.first ??= { text, line };
    if (this.form !== undefined) return;
    const formats = Number.isNaN(value) ? [] : (this.#formats ?? this.#formatsOf(text));
    this.#formats = formatsOfText(formats, value, text);
    if (this.#formats.length === 0) this.form = { text, line };
  }
}

/** Returns the formats in which the text of a value is written: mostly all of them. */
function formatsOfText(formats: readonly ValueFormat[], value: number | boolean, text: string) {
  for (const format of formats) {
    if (valueText(value, format) !== text) return formats.filter((other) => valueText(value, other) === text);
  }
  return formats;
}

/**
 * Infers the type of a column of CSV from its values.
 *
 * A column holds numbers when all of them are in one format, in which an export writes them exactly as the file does:
 * `1.10` beside `1.9`, `007`, `+1` and `12345678901234567890` make a column text. Empty values and `nulls` do not count.
 */
export class FieldTypes {
  readonly #nulls: ReadonlySet<string>;
  readonly #candidates = [
    new Candidate('number', numberOf, numberFormats),
    new Candidate('boolean', booleanOf, () => BOOLEAN_FORMATS),
  ];
  /** The first lines of the texts that may stand for no value. */
  readonly #nullTexts = new Map<string, number>();

  constructor(nulls: ReadonlySet<string> = new Set()) {
    this.#nulls = nulls;
  }

  observe(cell: Cell, line: number): void {
    if (typeof cell !== 'string' || cell === '' || this.#nulls.has(cell)) return;
    if (!NULL_TEXTS.has(cell)) for (const candidate of this.#candidates) candidate.observe(cell, line);
    else if (!this.#nullTexts.has(cell)) this.#nullTexts.set(cell, line);
  }

  get type(): ColumnType {
    const candidate = this.#candidate;
    return candidate === undefined || candidate.form !== undefined || this.#nullTexts.size > 0
      ? 'text'
      : candidate.type;
  }

  /** Why the column is text, if only for the form of its values. */
  get hint(): Omit<TypeHint, 'name'> | undefined {
    const candidate = this.#candidate;
    if (candidate === undefined || this.type !== 'text') return undefined;
    const nulls = [...this.#nullTexts].map(([text, line]) => ({ text, line }));
    const { type, form, first } = candidate;
    const isInexact = form !== undefined && type === 'number' && exactNumber(form.text) === undefined;
    const isFirst = form === undefined || isInexact || form.line === first?.line;
    return { type, form, first: isFirst ? undefined : first, isInexact, nulls };
  }

  /** The formats in which all values are written; undefined is that of JavaScript. */
  get formats(): readonly ValueFormat[] {
    return this.#candidate?.formats ?? [];
  }

  /** The type that all values can have that stand for one. */
  get #candidate(): Candidate | undefined {
    return this.#candidates.find(({ isPossible, first }) => isPossible && first !== undefined);
  }
}

/**
 * Infers the type of a column of a file whose values have types. They stay what they are, unless a number has more
 * digits than a double keeps: then all numbers of the column are text.
 */
export class ValueTypes {
  #inexact = false;

  observe(cell: Cell): void {
    if (cell instanceof Numeral && !this.#inexact) this.#inexact = exactNumber(cell.text) === undefined;
  }

  /** Undefined: each value has its own type. */
  get type(): ColumnType | undefined {
    return this.#inexact ? 'text' : undefined;
  }
}

/**
 * Converts a value to the type of its column; without a type, it keeps its own. The elements of a list have the type of
 * the column, unless it is `list`, whose values in CSV are JSON.
 *
 * @throws {Error} when no value of the type represents it exactly.
 */
export function convert(cell: Cell, type: ColumnType | undefined): Value {
  if (cell === null || (type === 'list' && cell === '')) return null;
  if (cell instanceof Nested || type === 'list') {
    return elementsOf(cell).map((element) => elementAs(element, type === 'list' ? undefined : type));
  }
  return scalarOf(cell, type);
}

/** Returns the elements of a list, which CSV has as its JSON. */
function elementsOf(cell: Cell): readonly ScalarCell[] {
  const text = textOf(cell);
  const elements = listOf(text);
  if (elements === undefined) {
    throw new Error(
      cell instanceof Nested
        ? 'the value is an object, and a record has none; --flatten stores columns of their own'
        : `${JSON.stringify(text)} is no list, such as ["a", 1] in JSON`,
    );
  }
  return elements.map((element) => {
    if (element !== null && !(element instanceof Nested)) return element;
    const what = element === null ? 'null' : element.json.startsWith('[') ? 'a list' : 'an object';
    throw new Error(
      `the value is a list with ${what} in it, which a record cannot have; --flatten without --types for the column stores its JSON text`,
    );
  });
}

function elementAs(cell: ScalarCell, type: ColumnType | undefined): Scalar {
  const element = scalarOf(cell, type);
  if (element === null) throw new Error(`the value is a list with "", which is no ${type}`);
  return element;
}

/**
 * Converts a value that is no list.
 *
 * @throws {Error} when no value of the type represents it exactly.
 */
function scalarOf(cell: ScalarCell, type: ColumnType | undefined): Scalar | null {
  if (type === 'text') return textOf(cell);
  if (type === undefined && !(cell instanceof Numeral)) return cell;
  const text = textOf(cell);
  // Some programs put all fields of CSV in quotes, also those without a value.
  if (text === '') return null;
  if (type === 'boolean') {
    const value = booleanOf(text);
    if (value === undefined) throw new Error(`"${text}" is not a boolean`);
    return value;
  }
  const number = exactNumber(text);
  if (number !== undefined) return number;
  if (decimalOf(text) === undefined) throw new Error(`"${text}" is not a number`);
  throw new Error(
    `"${text}" cannot be stored as a number without changing it; --types stores the column as text`,
  );
}

/** Parses `--types a=number,b=text`. */
export function parseColumnTypes(text: string, before: Record<string, ColumnType> | undefined) {
  const types = parsePairs(text, 'COLUMN=TYPE', before);
  for (const type of Object.values(types)) {
    if (isColumnType(type)) continue;
    throw new Error(`"${type}" is not one of ${COLUMN_TYPES.join(', ')}${didYouMean(type, COLUMN_TYPES)}`);
  }
  return types as Record<string, ColumnType>;
}

/**
 * Parses `a=b,c=d` of the form `form` and adds the pairs to those before, in an object without a prototype: `__proto__`
 * is an ordinary column name.
 */
export function parsePairs(text: string, form: string, before: Record<string, string> | undefined) {
  const pairs: Record<string, string> = Object.assign(Object.create(null), before);
  for (const pair of pairsOf(text)) {
    const at = pair.lastIndexOf('=');
    const [name, value] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
    if (name === '' || value === '') throw new Error(`"${pair}" is not ${form}`);
    pairs[name] = value;
  }
  return pairs;
}

/** Splits a list of pairs. The name of a column may contain commas. */
function pairsOf(text: string): string[] {
  const pairs: string[] = [];
  let name = '';
  for (const part of text.split(',')) {
    name += part;
    if (part.includes('=')) {
      pairs.push(name);
      name = '';
    } else name += ',';
  }
  return name === '' ? pairs : [...pairs, name.slice(0, -1)];
}

function isColumnType(type: string): type is ColumnType {
  return COLUMN_TYPES.includes(type as ColumnType);
}

/** Returns the number of a text; NaN if no double equals it, undefined if it is no number. */
function numberOf(text: string): number | undefined {
  const number = Number(text);
  if (String(number) === text && Number.isFinite(number)) return number;
  return exactNumber(text) ?? (decimalOf(text) === undefined ? undefined : Number.NaN);
}

function booleanOf(text: string): boolean | undefined {
  const folded = text.toLowerCase();
  return folded === 'true' || folded === 'false' ? folded === 'true' : undefined;
}

/** Returns the text of a cell. A number has its usual form: `7.0` and `7e0` are `7`. JSON has no white space. */
export function usualText(cell: Cell): string {
  if (cell instanceof Nested) return compactJson(cell.json);
  return cell instanceof Numeral ? String(exactNumber(cell.text) ?? cell.text) : textOf(cell);
}

/** Returns the double that equals a decimal number; undefined when there is none. */
export function exactNumber(text: string): number | undefined {
  const decimal = decimalOf(text);
  if (decimal === undefined) return undefined;
  const number = Number(text);
  if (decimal !== decimalOf(String(number))) return undefined;
  // The service stores -0 as 0.
  return number === 0 ? 0 : number;
}

/** Returns a normal form of a decimal number, such as `-12e3`; undefined for a text that is not a number. */
function decimalOf(text: string): string | undefined {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/.exec(text);
  if (!parts || /^[+-]?\.?$/.test(text)) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = parts;
  if (whole === '' && fraction === '') return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign === '-' ? '-' : ''}${significant}e${power}`;
}
