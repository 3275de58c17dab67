import { PGlite, types } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import type { Sql, SqlDatabase } from '../../../src/store/postgres/sql.js';

/** Binds bytes as they are, and everything else as text. */
const AS_THEY_ARE = new Proxy<Record<number, (value: unknown) => never>>(
  {},
  { get: () => (value: unknown) => (value instanceof Uint8Array ? value : String(value)) },
);

/** PostgreSQL in this process, in memory. It has one connection, so transactions take turns. */
export class PGliteDatabase implements SqlDatabase {
  readonly isConcurrent = false;
  readonly #pglite: PGlite;
  readonly #listening: Promise<() => Promise<void>>[] = [];

  private constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  static async open(): Promise<PGliteDatabase> {
    const parsers = { [types.INT8]: Number, [types.NUMERIC]: Number };
    return new PGliteDatabase(await PGlite.create({ extensions: { vector }, parsers }));
  }

  /** Another client of the same PostgreSQL. */
  again(): PGliteDatabase {
    return new PGliteDatabase(this.#pglite);
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#transaction('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', work, signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#transaction(undefined, work, signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#listening.push(this.#pglite.listen(channel, onMessage));
  }

  /** The PostgreSQL itself is closed by {@link destroy}. */
  async close(): Promise<void> {
    for (const listening of this.#listening.splice(0)) await (await listening)();
  }

  async destroy(): Promise<void> {
    await this.#pglite.close();
  }

  async #transaction<T>(
    begin: string | undefined,
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    // A statement runs in this thread. Without a pause, calls in a loop keep timers and messages waiting for ever.
    await new Promise((resolve) => setImmediate(resolve));
    return await this.#pglite.transaction(async (transaction) => {
      signal?.throwIfAborted();
      if (begin !== undefined) await transaction.exec(begin);
      const result = await work({
        async run<Row>(text: string, values: readonly unknown[] = []) {
          signal?.throwIfAborted();
          return (await transaction.query<Row>(text, [...values], { serializers: AS_THEY_ARE })).rows;
        },
      });
      signal?.throwIfAborted();
      return result;
    });
  }
}
