import { LinkedAbort } from '../../async/linked-abort.js';
import { CosiftError } from '../../errors.js';
import type { Sql, SqlDatabase } from './sql.js';

/** A database whose transactions are given up after a time, for short transactions that others wait for. */
export class LimitedDatabase implements SqlDatabase {
  readonly isConcurrent: boolean;
  readonly #database: SqlDatabase;
  readonly #limitMs: number;

  constructor(database: SqlDatabase, limitMs: number) {
    this.isConcurrent = database.isConcurrent;
    this.#database = database;
    this.#limitMs = limitMs;
  }

  /** @throws {CosiftError} `timed_out` */
  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#limited((limit) => this.#database.read(work, limit), signal);
  }

  /** @throws {CosiftError} `timed_out` */
  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#limited((limit) => this.#database.write(work, limit), signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#database.listen(channel, onMessage);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async #limited<T>(call: (limit: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const limit = new AbortController();
    using stop = new LinkedAbort(limit.signal, signal);
    const timer = setTimeout(
      () => limit.abort(new CosiftError('timed_out', 'the database took too long')),
      this.#limitMs,
    );
    try {
      return await call(stop.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}
