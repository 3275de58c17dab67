/** Runs statements in one transaction. */
export interface Sql {
  /**
   * Runs a statement with bound values and returns its rows. It may be sent before earlier ones have ended; they run in the
   * order of the calls, and after one that fails, none of the others runs.
   */
  run<Row = unknown>(text: string, values?: readonly SqlValue[]): Promise<Row[]>;
}

/** A value that a client binds. Arrays are bound as text; see {@link arrayOf}. */
export type SqlValue = string | number | boolean | null | Uint8Array;

/**
 * A PostgreSQL database. Integers of 64 bits are returned as numbers, `bytea` as bytes, `jsonb` parsed.
 */
export interface SqlDatabase {
  /** Runs reads that see one moment. Aborting `signal` cancels the running statement. */
  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Runs writes; all of them take effect or none. Nothing takes effect once `signal` is aborted before the commit. */
  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Calls `onMessage` with each message of a channel until the database is closed, and with undefined whenever messages
   * may have been missed.
   */
  listen(channel: string, onMessage: (message: string | undefined) => void): void;
  /** Whether transactions run side by side, so that one of them may wait for a caller. */
  readonly isConcurrent: boolean;
  close(): Promise<void>;
}

/** Runs one transaction. */
type Run<T> = (signal?: AbortSignal) => Promise<T>;

/** The database with `around` called around each of its transactions. */
export function aroundTransactions(
  database: SqlDatabase,
  around: <T>(run: Run<T>, signal: AbortSignal | undefined) => Promise<T>,
): SqlDatabase {
  return {
    isConcurrent: database.isConcurrent,
    read: (work, signal) => around((own) => database.read(work, own), signal),
    write: (work, signal) => around((own) => database.write(work, own), signal),
    listen: (channel, onMessage) => database.listen(channel, onMessage),
    close: () => database.close(),
  };
}

/** An array in the text form of PostgreSQL. Bytes are written as hexadecimal digits. */
export function arrayOf(values: readonly (SqlValue | undefined)[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

function elementOf(value: SqlValue | undefined): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return String(value);
}

/** The condition of the records with some ids. */
export function namedSql(ids: readonly number[], values: Values): string {
  return `id = ANY(${values.bind(arrayOf(ids))}::bigint[])`;
}

/** The values of a statement, each bound once. */
export class Values {
  readonly list: SqlValue[] = [];

  /** Binds a value; returns its place in the text, such as `$3`. */
  bind(value: SqlValue): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

/**
 * Milliseconds since 1970 by the clock of PostgreSQL. Several services share a store, and their clocks differ.
 *
 * The time of the transaction is stable within a statement, so that workers of Citus may compare with it.
 */
export const CLOCK = 'floor(extract(epoch FROM now()) * 1000)::bigint';

/** As {@link CLOCK}, at the start of the statement. */
export const STATEMENT_CLOCK = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint';
