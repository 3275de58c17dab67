import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { MigrationSupport } from '../../store/migration-support.js';
import { exportedLines } from './exported-lines.js';

/** Records that are verified one by one. More are verified sooner by another pass over all records. */
const MAX_RECORDS = 20_000;
/** Records of one read. */
const BATCH = 500;

/** Verifies the records that a pass wrote or deleted, by reading them again. */
export class WrittenLines {
  readonly #database: string;
  /** The hash of the line of each record; undefined for a record that was deleted. */
  readonly #wanted = new Map<number, string | undefined>();

  constructor(database: string) {
    this.#database = database;
  }

  /** `line` is undefined for a record that was deleted. */
  add(id: number, line: Uint8Array | undefined): void {
    if (this.#wanted.size <= MAX_RECORDS) this.#wanted.set(id, line && hashOf(line));
  }

  /** Whether the target has exactly these lines; false, too, where it would take too long to read them. */
  async areStored(target: MigrationSupport | undefined): Promise<boolean> {
    if (this.#wanted.size === 0) return true;
    if (target === undefined || this.#wanted.size > MAX_RECORDS) return false;
    const ids = [...this.#wanted.keys()];
    for (let at = 0; at < ids.length; at += BATCH) {
      const batch = ids.slice(at, at + BATCH);
      const stored = new Map<number, string>();
      const chunk = await target.linesOf(this.#database, batch);
      for await (const { id, bytes } of exportedLines(Readable.from([chunk]))) stored.set(id, hashOf(bytes));
      if (batch.some((id) => stored.get(id) !== this.#wanted.get(id))) return false;
    }
    return true;
  }
}

function hashOf(line: Uint8Array): string {
  return createHash('sha256').update(line).digest('base64');
}
