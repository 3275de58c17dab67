import { InvalidArgumentError } from 'commander';

// Each parser returns the value of a command-line option, and throws `InvalidArgumentError` for a text that is not valid.

/** Adds the text of an option that names columns to those of earlier flags. {@link columnNames} has the names. */
export function parseColumns(text: string, before: string[] = []): string[] {
  if (text.split(',').some((name) => name.trim() === '')) {
    throw new InvalidArgumentError('a column has no name');
  }
  return [...before, text];
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

/** Parses a vector: a list of numbers as JSON. */
export function parseVector(text: string): number[] {
  const invalid = () => new InvalidArgumentError('not a list of numbers, such as [0.1, -0.2]');
  try {
    const vector: unknown = JSON.parse(text);
    if (!Array.isArray(vector) || !vector.every((value) => Number.isFinite(value))) throw invalid();
    return vector;
  } catch {
    throw invalid();
  }
}

/** Adds a text to those of earlier flags. */
export function addText(text: string, before: string[] = []): string[] {
  return [...before, text];
}
