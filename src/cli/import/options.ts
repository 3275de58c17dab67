import { InvalidArgumentError } from 'commander';
import { type ColumnType, parseColumnTypes, parsePairs } from '../../readers/column-types.js';
import { isEncoding } from '../../readers/encoding/utf8.js';

// Each parser returns the value of a command-line option, and throws `InvalidArgumentError` for a text that is not valid.

/** Parses `a=number,b=text` and adds the types to those of earlier flags. */
export function parseTypes(
  text: string,
  before: Record<string, ColumnType> | undefined,
): Record<string, ColumnType> {
  try {
    return parseColumnTypes(text, before);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Parses `old=new,b=c` and adds the names to those of earlier flags. */
export function parseRenames(
  text: string,
  before: Record<string, string> | undefined,
): Record<string, string> {
  try {
    return parsePairs(text, 'OLD=NEW', before);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Parses an integer from 0. */
export function parseMaxDeletes(text: string): number {
  if (!/^(0|[1-9]\d{0,14})$/.test(text)) throw new InvalidArgumentError('not a whole number');
  return Number(text);
}

/** Parses one character, or `tab`. */
export function parseSeparator(text: string): string {
  const character = text === 'tab' ? '\t' : text;
  if (!/^[^"\r\n]$/u.test(character)) throw new InvalidArgumentError('not one character, nor "tab"');
  return character;
}

/** Parses one character, or `none`. */
export function parseQuote(text: string): string {
  if (text === 'none') return '';
  if (!/^[^\r\n]$/.test(text)) throw new InvalidArgumentError('not one character, nor "none"');
  return text;
}

export function parseEncoding(name: string): string {
  if (!isEncoding(name)) throw new InvalidArgumentError('no such encoding is known');
  return name;
}
