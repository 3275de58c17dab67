import { randomUUID } from 'node:crypto';
import { sleep } from '../../async/sleep.js';
import { MAX_HELD_MS } from '../store-errors.js';
import type { CatalogEntry, LockedEntry } from './catalog.js';
import type { Servers } from './servers.js';
import type { Sql } from './sql.js';
import { CLOCK, STATEMENT_CLOCK } from './sql.js';

/** Milliseconds that a process keeps the writers of others waiting, unless it sets the hold again. */
const HOLD_MS = 10_000;
/** Milliseconds between two looks of a writer at the hold. */
const LOOK_MS = 50;

/**
 * Keeps the commits of other processes waiting, so that a switch of the model finds no records that it has not seen.
 * The commits of this process wait at its write barrier. A process that is killed loses its hold by the clock of the
 * database.
 */
export class WriterHold {
  readonly #servers: Servers;
  /** Names this process in the hold. */
  readonly #owner = randomUUID();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Sets the hold of a database that the transaction has locked. Commits that lock it later find the hold. */
  async set(sql: Sql, entry: CatalogEntry): Promise<void> {
    // The transaction may have waited for the lock.
    const [row] = await sql.run<{ clock: number }>(
      `SELECT ${STATEMENT_CLOCK} AS clock FROM ${entry.group.databases} WHERE id = $1::text`,
      [entry.id],
    );
    await write(sql, entry, this.#owner, (row as { clock: number }).clock + HOLD_MS);
  }

  /** Ends the hold of a database that the transaction has locked. */
  async clear(sql: Sql, entry: CatalogEntry): Promise<void> {
    await write(sql, entry, null, null);
  }

  /** Ends the hold of this process on a database that the transaction has locked. Another process may hold it by now. */
  async release(sql: Sql, entry: CatalogEntry): Promise<void> {
    if (entry.held_by === this.#owner) await this.clear(sql, entry);
  }

  /** Whether another process holds a database that the transaction has locked. */
  async isHeld(sql: Sql, entry: LockedEntry): Promise<boolean> {
    if (entry.held_by === null || entry.held_by === this.#owner) return false;
    if ((entry.held_until ?? 0) > entry.clock) return true;
    // The holder ended before its switch.
    await this.clear(sql, entry);
    return false;
  }

  /** The time by `performance.now()` until which a commit that begins now waits at most. */
  deadline(): number {
    return performance.now() + MAX_HELD_MS;
  }

  /** Waits outside of a transaction until the hold of a database has expired, or `deadline`. */
  async wait({ id, group }: CatalogEntry, deadline: number, signal: AbortSignal | undefined): Promise<void> {
    const text = `SELECT 1 FROM ${group.databases}
      WHERE id = $1::text AND held_by <> $2::text AND held_until > ${CLOCK}`;
    while (performance.now() < deadline) {
      await sleep(LOOK_MS, signal);
      const held = await this.#servers.of(id).read((sql) => sql.run(text, [id, this.#owner]), signal);
      if (held.length === 0) return;
    }
  }
}

async function write(
  sql: Sql,
  { id, group }: CatalogEntry,
  owner: string | null,
  until: number | null,
): Promise<void> {
  await sql.run(
    `UPDATE ${group.databases} SET held_by = $2::text, held_until = $3::bigint WHERE id = $1::text`,
    [id, owner, until],
  );
}
