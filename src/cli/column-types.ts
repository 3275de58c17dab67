import { didYouMean } from '../schema/index.js';

export const COLUMN_TYPES = ['string', 'number', 'boolean'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

type Value = string | number | boolean | null;

/**
 * Infers the type of each column from all its values.
 *
 * A column holds numbers when JavaScript writes the number of each value exactly as the file does: `1.10`, `007`, `+1`
 * and `12345678901234567890` make a column text. Empty values do not count.
 */
export class ColumnTypes {
  readonly #seen: boolean[] = [];
  readonly #numbers: boolean[] = [];
  readonly #booleans: boolean[] = [];

  observe(row: readonly string[]): void {
    for (const [at, text] of row.entries()) {
      if (text === '') continue;
      this.#seen[at] = true;
      if (this.#numbers[at] !== false) this.#numbers[at] = isWrittenAsNumber(text);
      if (this.#booleans[at] !== false) this.#booleans[at] = text === 'true' || text === 'false';
    }
  }

  of(at: number): ColumnType {
    if (!this.#seen[at]) return 'string';
    if (this.#numbers[at]) return 'number';
    return this.#booleans[at] ? 'boolean' : 'string';
  }
}

/**
 * Parses a field as a value of a type. An empty field is null.
 *
 * @throws {Error} when no value of the type represents the field exactly.
 */
export function parseField(text: string, type: ColumnType): Value {
  if (text === '') return null;
  if (type === 'string') return text;
  if (type === 'boolean') {
    const folded = text.toLowerCase();
    if (folded !== 'true' && folded !== 'false') throw new Error(`"${text}" is not a boolean`);
    return folded === 'true';
  }
  const number = Number(text);
  const decimal = decimalOf(text);
  if (decimal === undefined) throw new Error(`"${text}" is not a number`);
  if (decimal !== decimalOf(String(number))) {
    throw new Error(`"${text}" cannot be stored as a number without changing it`);
  }
  // The service stores -0 as 0.
  return number === 0 ? 0 : number;
}

/** Parses `--types a=number,b=string` into an object without a prototype: `__proto__` is an ordinary column name. */
export function parseColumnTypes(text: string, before: Record<string, ColumnType> | undefined) {
  const types: Record<string, ColumnType> = Object.assign(Object.create(null), before);
  for (const pair of text.split(',')) {
    const at = pair.lastIndexOf('=');
    const column = pair.slice(0, Math.max(0, at)).trim();
    const type = pair.slice(at + 1).trim();
    if (column === '') throw new Error(`"${pair}" is not COLUMN=TYPE`);
    if (!isColumnType(type)) {
      const hint = didYouMean(type, COLUMN_TYPES);
      throw new Error(`"${type}" is not one of ${COLUMN_TYPES.join(', ')}${hint}`);
    }
    types[column] = type;
  }
  return types;
}

function isColumnType(type: string): type is ColumnType {
  return COLUMN_TYPES.includes(type as ColumnType);
}

function isWrittenAsNumber(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && String(number) === text;
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
