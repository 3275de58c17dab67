import { InvalidArgumentError } from 'commander';

// Each parser returns the value of a command-line option, and throws `InvalidArgumentError` for a text that is not valid.

/** Adds the text of an option that names columns to those of earlier flags. {@link columnNames} has the names. */
export function parseColumns(text: string, before: string[] = []): string[] {
  if (text.split(',').some((name) => name.trim() === '')) {
    throw new InvalidArgumentError('a column has no name');
  }
  return [...before, text];
}

/**
 * Returns the names of columns that an option gives. An option that is used once separates them by commas; one that is used
 * several times gives one name each time, which may have a comma. So may a name for which `isColumn` holds.
 */
export function columnNames(
  texts: readonly string[],
  isColumn: (name: string) => boolean = () => false,
): string[] {
  const [text = ''] = texts;
  if (texts.length > 1) return texts.map((name) => name.trim());
  return isColumn(text) ? [text] : text.split(',').map((name) => name.trim());
}

/** Parses an integer above 0. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('not a whole number above 0');
  return Number(text);
}

/** Parses a finite number. */
export function parseNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('not a number');
  return value;
}
