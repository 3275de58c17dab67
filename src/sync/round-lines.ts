import { isKeyReference } from '../schema/ids.js';
import type { RefusedRows } from './refused-rows.js';
import type { Round } from './source.js';

/** Writes the rows of a round as lines of NDJSON, and tells which row a line was made of. */
export class RoundLines {
  readonly #round: Round;
  readonly #prefix: string;
  readonly #refused: RefusedRows;
  /** The keys of the lines after the first {@link #committed}. */
  #keys: string[] = [];
  #committed = 0;
  /** The rows that were read so far, with those that the source refused. */
  read = 0;
  /** The keys whose records the source has no more, or no valid row for. Empty in a complete round. */
  readonly gone: string[] = [];

  /** `refused` gets the rows that the source refuses, and loses those that are valid now. */
  constructor(round: Round, prefix: string, refused: RefusedRows) {
    this.#round = round;
    this.#prefix = prefix;
    this.#refused = refused;
  }

  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const { rows, refused = [], gone = [] } of this.#round.batches) {
      this.read += rows.length + refused.length;
      for (const key of gone) {
        this.#refused.remove(key);
        this.#goes(key);
      }
      // In a complete round, each row is read once, and rows of one key are different ones.
      if (this.#round.kind !== 'complete')
        for (const { key } of [...rows, ...refused]) this.#refused.remove(key);
      for (const { key, reason } of refused) this.#refuse(key, reason);
      if (rows.length === 0) continue;
      const lines = rows.map(({ key, data, created, changed }) => {
        this.#keys.push(key);
        const timestamps = { created_at: created, changed_at: changed };
        return `${JSON.stringify({ key: this.#prefix + key, data, timestamps })}\n`;
      });
      yield Buffer.from(lines.join(''));
    }
  }

  /** The store refuses a line; the first one has the number 1. */
  refuseLine(line: number, reason: string): void {
    this.#refuse(this.#keys[line - 1 - this.#committed] as string, reason);
  }

  /** All lines up to `lines` are written or refused. */
  commit(lines: number): void {
    this.#keys = this.#keys.slice(lines - this.#committed);
    this.#committed = lines;
  }

  /** An old record would show what the source no longer has. */
  #refuse(key: string, reason: string): void {
    this.#refused.add({ key, reason });
    this.#goes(key);
  }

  #goes(key: string): void {
    // In a complete round, the records that it did not write are deleted.
    if (this.#round.kind === 'complete') return;
    const reference = `key:${this.#prefix}${key}`;
    // No record has a key that is too long.
    if (isKeyReference(reference)) this.gone.push(key);
  }
}
