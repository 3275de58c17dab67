import type { Sql, SqlDatabase } from '../../../src/store/postgres/sql.js';

/** A database whose statements a test reads or changes before they run. */
export class ChangedStatements implements SqlDatabase {
  readonly isConcurrent: boolean;
  readonly #database: SqlDatabase;
  readonly #begin: () => (text: string) => string;

  /** `begin` is called once per transaction, and returns what changes the statements of the transaction. */
  constructor(database: SqlDatabase, begin: () => (text: string) => string) {
    this.#database = database;
    this.#begin = begin;
    this.isConcurrent = database.isConcurrent;
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#database.read((sql) => work(this.#changed(sql)), signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#database.write((sql) => work(this.#changed(sql)), signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#database.listen(channel, onMessage);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #changed(sql: Sql): Sql {
    const change = this.#begin();
    return { run: (text, values) => sql.run(change(text), values) };
  }
}
