import { createHash } from 'node:crypto';
import { CosiftError } from '../errors.js';
import { writeSecret } from './secret-file.js';

/** A kind of file in the data directory that holds a list. */
export interface FileKind<Item> {
  /** Name of the JSON member that holds the list. */
  member: string;
  /** Returns the item when `value` is a valid one; throws otherwise. */
  check(value: unknown): Item;
  /** What to do when the file is damaged. */
  repair: string;
}

/** Raised with every change of the files. */
const VERSION = 2;

/**
 * Parses the text of `file`, and checks every item and the checksum over all items.
 *
 * @throws {CosiftError} `damaged`, with the name of the file and what to do.
 */
export function parseChecked<Item>(file: string, text: string, kind: FileKind<Item>): Item[] {
  try {
    return parse(text, kind);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CosiftError('damaged', `${file} is damaged (${reason}): ${kind.repair}`, { cause: error });
  }
}

/** Durably replaces the content of `file` by these items and their checksum. */
export function writeChecked<Item>(file: string, items: readonly Item[], kind: FileKind<Item>) {
  return writeSecret(file, checkedText(items, kind));
}

/** The text of a file with these items and their checksum. */
export function checkedText<Item>(items: readonly Item[], { member }: FileKind<Item>): string {
  const content = { version: VERSION, checksum: checksumOf(items), [member]: items };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function parse<Item>(text: string, { member, check }: FileKind<Item>): Item[] {
  const content: unknown = JSON.parse(text);
  if (typeof content !== 'object' || content === null) throw new Error('it is not an object');
  const { version, checksum, [member]: items, ...others } = content as Record<string, unknown>;
  if (version !== VERSION) throw new Error(`version ${String(version)} is not known`);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`"${unknown}" is not known`);
  if (!Array.isArray(items)) throw new Error(`"${member}" is not a list`);
  if (checksum !== checksumOf(items)) throw new Error('the checksum does not match');
  return items.map(check);
}

/** SHA-256 over the compact JSON of the items, which is independent of white space in the file. */
function checksumOf(items: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(items)).digest('hex');
}
