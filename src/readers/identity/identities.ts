import { parse, stringify, v5 } from 'uuid';
import { MAX_KEY_BYTES, UUID } from '../../schema/ids.js';
import type { Cell } from '../cells.js';
import { usualText } from '../column-types.js';
import { BadRow } from '../rows.js';
import { IdentityTable } from './table.js';

/** The namespace in which the engine makes the UUID of a record from its key. */
const KEY_NAMESPACE = '6d3f3c1e-5b0a-4a7e-9a5e-2f6c1c0d8b41';
/** The namespace of UUIDs made from content. After a change, importing a file again would store its records twice. */
const CONTENT_NAMESPACE = parse('c2a9a1f4-0d53-4c55-8f0b-7be0a4f9d3e6');

const encoder = new TextEncoder();

interface Identity {
  id?: number | undefined;
  uuid?: string | undefined;
  /** The key that the UUID follows from, if any. */
  key?: string | undefined;
}

/** The identities of the records of one file: makes missing identities and refuses duplicates. */
export class Identities {
  readonly #ids = new IdentityTable();
  readonly #uuids = new IdentityTable();
  readonly #contents = new IdentityTable();

  /**
   * Registers the identity of the record on `line`.
   *
   * @throws {BadRow} when an earlier line has the id or the UUID; nothing is registered then.
   */
  add({ id, uuid, key }: Identity, line: number): void {
    const idWords = id === undefined ? undefined : wordsOfId(id);
    // The service refuses an invalid UUID with a reason.
    const uuidWords = uuid !== undefined && UUID.test(uuid) ? wordsOfUuid(uuid) : undefined;
    if (idWords) refuseDuplicate(this.#ids.get(idWords), line, `the id ${id}`);
    if (uuidWords) {
      refuseDuplicate(
        this.#uuids.get(uuidWords),
        line,
        key === undefined ? `the uuid ${uuid}` : `the key "${key}"`,
      );
    }
    if (idWords) this.#ids.set(idWords, line);
    if (uuidWords) this.#uuids.set(uuidWords, line);
  }

  lineOfId(id: number): number {
    return this.#ids.get(wordsOfId(id));
  }

  /**
   * Makes the UUID of a record that has no identity, from `content` and the number of earlier records with the same
   * content: so the same file gives the same UUIDs.
   */
  uuidOfContent(content: string): string {
    const bytes = bytesOfContent(content);
    const key = wordsOf(bytes);
    const earlier = this.#contents.get(key);
    this.#contents.set(key, earlier + 1);
    return earlier === 0 ? stringify(bytes) : v5(`${earlier}\n${content}`, CONTENT_NAMESPACE);
  }
}

function refuseDuplicate(earlier: number, line: number, name: string): void {
  if (earlier === line)
    throw new BadRow(`an earlier record on this line has ${name} too; only that is stored`);
  if (earlier !== 0) throw new BadRow(`line ${earlier} has ${name} too; only that line is stored`);
}

/** Returns whether a text is an integer id in its usual form: `7`, not `007`. */
export function isIntegerId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text));
}

/** Returns the UUID of the first record without an identity that has this content. */
export function uuidOfContent(content: string): string {
  return stringify(bytesOfContent(content));
}

function bytesOfContent(content: string): Uint8Array {
  const bytes = new Uint8Array(16);
  // Bytes, because the library encodes a text slowly.
  v5(encoder.encode(content), CONTENT_NAMESPACE, bytes);
  return bytes;
}

export function uuidOfKey(key: string): string {
  return v5(key, KEY_NAMESPACE);
}

/** @throws {BadRow} for a key that is too long. */
export function checkKey(key: string, column: string): void {
  const bytes = encoder.encode(key).length;
  if (bytes > MAX_KEY_BYTES) {
    throw new BadRow(`column "${column}": the key has ${bytes} bytes, at most ${MAX_KEY_BYTES} are allowed`);
  }
}

/** The columns of the last row in the order of their names: the rows of most files have the same columns. */
let order: { names: readonly string[]; columns: readonly { at: number; json: string }[] } | undefined;

/**
 * Returns the same text for the same values, whatever the format of the file and the order and types of its columns.
 * Columns without a value are left out.
 */
export function contentOf(names: readonly string[], cells: readonly Cell[]): string {
  if (order?.names !== names) {
    const columns = names.map((name, at) => ({ name, at, json: JSON.stringify(name) }));
    order = { names, columns: columns.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }
  let content = '';
  for (const { at, json } of order.columns) {
    // CSV does not distinguish `1` from `"1"`, so both have the same text.
    const text = usualText(cells[at] ?? null);
    if (text !== '') content += `${content === '' ? '' : ','}[${json},${JSON.stringify(text)}]`;
  }
  return `[${content}]`;
}

function wordsOfId(id: number): Uint32Array {
  return Uint32Array.of(0, 0, Math.floor(id / 2 ** 32), id >>> 0);
}

/** Equal for every way to write a UUID. */
function wordsOfUuid(uuid: string): Uint32Array {
  const words = [
    uuid.slice(0, 8),
    uuid.slice(9, 13) + uuid.slice(14, 18),
    uuid.slice(19, 23) + uuid.slice(24, 28),
    uuid.slice(28),
  ];
  return Uint32Array.from(words, (digits) => Number.parseInt(digits, 16));
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer);
}
