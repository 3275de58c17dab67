import { InvalidArgumentError } from 'commander';
import { UUID } from '../../schema/ids.js';

/** Checks the id of a record: an integer, a UUID, or `key:` with a key. */
export function parseRecordId(text: string): string {
  if (UUID.test(text) || /^key:./s.test(text)) return text;
  if (!/^[1-9]\d*$/.test(text))
    throw new InvalidArgumentError('neither an integer, nor a UUID, nor key:… for a key');
  if (!Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError('an id is at most 9007199254740991');
  return text;
}

/** The id as requests have it: an integer is a number. */
export function idOf(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** Adds an id to those of an option or an argument that may be repeated. */
export function addId(text: string, before: string[] = []): string[] {
  return [...before, parseRecordId(text)];
}
