import { parse, stringify, v5, validate } from 'uuid';
import { IdentityTable } from './identity-table.js';

/** Namespaces of version 5 UUIDs. Changing one would store every record again that was imported before. */
const KEY_NAMESPACE = '6d3f3c1e-5b0a-4a7e-9a5e-2f6c1c0d8b41';
const CONTENT_NAMESPACE = 'c2a9a1f4-0d53-4c55-8f0b-7be0a4f9d3e6';

const MAX_KEY_BYTES = 512;

/** A row that cannot be stored; the message is for the person at the shell. */
export class BadRow extends Error {}

interface Identity {
  id?: number | undefined;
  uuid?: string | undefined;
  /** What the UUID was made from, if anything. */
  key?: string | undefined;
}

/** The identities of the records of one file: makes those that are missing, and finds those that come twice. */
export class Identities {
  readonly #ids = new IdentityTable();
  readonly #uuids = new IdentityTable();
  readonly #contents = new IdentityTable();

  /**
   * Takes the identity of the record on `line`.
   *
   * @throws {BadRow} when an earlier line has the id or the UUID; nothing is taken then.
   */
  add({ id, uuid, key }: Identity, line: number): void {
    const idWords = id === undefined ? undefined : wordsOfId(id);
    // What is no UUID is refused by the service, which says why.
    const uuidWords = uuid !== undefined && validate(uuid) ? wordsOf(parse(uuid)) : undefined;
    if (idWords) refuseTwice(this.#ids.get(idWords), `the id ${id}`);
    if (uuidWords) {
      refuseTwice(this.#uuids.get(uuidWords), key === undefined ? `the uuid ${uuid}` : `the key "${key}"`);
    }
    if (idWords) this.#ids.set(idWords, line);
    if (uuidWords) this.#uuids.set(uuidWords, line);
  }

  /** The line of the record with this id; 0 where there is none. */
  lineOfId(id: number): number {
    return this.#ids.get(wordsOfId(id));
  }

  /**
   * The UUID of a record that has no identity: made from `content` and the number of earlier records with the same
   * content, so that the same file gives the same UUIDs.
   */
  uuidOfContent(content: string): string {
    const bytes = new Uint8Array(16);
    v5(content, CONTENT_NAMESPACE, bytes);
    const key = wordsOf(bytes);
    const earlier = this.#contents.get(key);
    this.#contents.set(key, earlier + 1);
    return earlier === 0 ? stringify(bytes) : v5(`${earlier}\n${content}`, CONTENT_NAMESPACE);
  }
}

function refuseTwice(earlier: number, name: string): void {
  if (earlier !== 0) throw new BadRow(`line ${earlier} has ${name} too; only that line is stored`);
}

/** @throws {BadRow} for a text that is not an integer in its usual form: `7`, not `007`. */
export function parseId(text: string, column: string): number {
  const id = Number(text);
  if (/^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(id)) return id;
  throw new BadRow(
    `"${text}" in the column "${column}" is not an integer from 1 to ${Number.MAX_SAFE_INTEGER}; ` +
      'for identities of another form give --key-column',
  );
}

/** @throws {BadRow} for a key that is empty or too long. */
export function uuidOfKey(key: string, column: string): string {
  if (key === '') throw new BadRow(`the key column "${column}" is empty`);
  const bytes = Buffer.byteLength(key);
  if (bytes > MAX_KEY_BYTES) {
    throw new BadRow(`the key in "${column}" has ${bytes} bytes, at most ${MAX_KEY_BYTES} are allowed`);
  }
  return v5(key, KEY_NAMESPACE);
}

/** The same text for the same values, whatever their order. A column without a value does not count. */
export function canonical(columns: Iterable<readonly [string, unknown]>): string {
  const present = [...columns].filter(([, value]) => value !== null && value !== '');
  return JSON.stringify(present.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function wordsOfId(id: number): Uint32Array {
  return Uint32Array.of(0, 0, Math.floor(id / 2 ** 32), id >>> 0);
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer);
}
