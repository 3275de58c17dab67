import { randomUUID } from 'node:crypto';
import { sleep } from '../../async/sleep.js';
import { MAX_HELD_MS } from '../held-writes.js';
import type { CatalogEntry } from './catalog.js';
import type { Sql, SqlDatabase } from './sql.js';

/** How long a process keeps the writers of others waiting, unless it sets the hold again. */
const HOLD = '10 seconds';
/** Milliseconds between two looks of a writer at the hold. */
const LOOK_MS = 50;

/**
 * Keeps the commits of other processes waiting, so that a switch of the model finds no records that it has not seen.
 * The commits of this process wait at its write barrier. A process that is killed loses its hold by the clock of the
 * database.
 */
export class WriterHold {
  readonly #database: SqlDatabase;
  /** Names this process in the hold. */
  readonly #owner = randomUUID();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Sets the hold of a database that the transaction has locked. Commits that lock it later find the hold. */
  async set(sql: Sql, { number }: CatalogEntry): Promise<void> {
    await sql.run(
      `UPDATE cosift.databases SET held_by = $2::text, held_until = clock_timestamp() + $3::interval
      WHERE number = $1::bigint`,
      [number, this.#owner, HOLD],
    );
  }

  /** Ends the hold of a database that the transaction has locked. */
  async clear(sql: Sql, { number }: CatalogEntry): Promise<void> {
    await sql.run('UPDATE cosift.databases SET held_by = NULL, held_until = NULL WHERE number = $1::bigint', [
      number,
    ]);
  }

  /** Ends the hold of this process. Another process may hold the database by now. */
  async release(sql: Sql, { number }: CatalogEntry): Promise<void> {
    await sql.run(
      `UPDATE cosift.databases SET held_by = NULL, held_until = NULL
      WHERE number = $1::bigint AND held_by = $2::text`,
      [number, this.#owner],
    );
  }

  /** Whether another process holds a database that the transaction has locked. */
  async isHeld(sql: Sql, entry: CatalogEntry): Promise<boolean> {
    // No statement more for the usual commit.
    if (entry.held_by === null || entry.held_by === this.#owner) return false;
    const held = await sql.run(
      'SELECT 1 FROM cosift.databases WHERE number = $1::bigint AND held_until > clock_timestamp()',
      [entry.number],
    );
    if (held.length > 0) return true;
    // That of a process that ended before its switch.
    await this.clear(sql, entry);
    return false;
  }

  /** The time by `performance.now()` until which a commit that begins now waits at most. */
  deadline(): number {
    return performance.now() + MAX_HELD_MS;
  }

  /** Waits outside of a transaction until the hold of a database has expired, or `deadline`. */
  async wait(id: string, deadline: number, signal: AbortSignal | undefined): Promise<void> {
    const text = `SELECT 1 FROM cosift.databases
      WHERE id = $1::text AND held_by <> $2::text AND held_until > clock_timestamp()`;
    while (performance.now() < deadline) {
      await sleep(LOOK_MS, signal);
      const held = await this.#database.read((sql) => sql.run(text, [id, this.#owner]), signal);
      if (held.length === 0) return;
    }
  }
}
