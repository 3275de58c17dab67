import type mysql from 'mysql2';
import { unlessAborted, untilAborted } from '../../../async/until-aborted.js';
import { CosiftError } from '../../../errors.js';
import type { TextRow } from '../text-rows.js';
import { connectionSettings } from './connection-settings.js';
import { quoted } from './quoted.js';
import { sourceError } from './source-error.js';

const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/** The server ends a statement after these seconds, so that a lost process does not keep it busy. */
const STATEMENT_S = 600;
/** Milliseconds, besides those of a statement, after which a server that does not answer counts as lost. */
const ANSWER_MS = 30_000;
/** Milliseconds after which a connection that does not confirm the end of a transaction is closed. */
const ROLLBACK_MS = 5_000;
/** Seconds after which a statement that waits for a change of the table gives up. */
const LOCK_S = 30;

/** Rows and characters that are passed on at once. */
const BATCH_ROWS = 1_000;
const BATCH_CHARACTERS = 1 << 20;

/** Values as texts that depend on no setting of the server or the user. */
const SETTINGS = `SET time_zone = '+00:00', sql_mode = '', lock_wait_timeout = ${LOCK_S}`;

/** A field of a result, as the server describes it. */
export interface Field {
  name: string;
  /** The number of the type in the protocol. */
  type: number;
  flags: number;
  /** The number of the collation. */
  collation: number;
  length: number;
  /** The name of a type that MariaDB sends as another one. */
  extended: string | undefined;
}

/** A connection to one server. */
export interface Session {
  /** Another one is another connection. */
  id: symbol;
  /** As the server names it. That of a MariaDB says so. */
  version: string;
  /** The account of the user, as GRANT takes it. */
  account: string;
  /** The database of the URL. */
  database: string;
  rows(text: string, values?: readonly string[]): Promise<TextRow[]>;
  fieldsOf(query: string): Promise<Field[]>;
  /** Yields the rows of a statement, which cannot be used again when they are not read to their end. */
  stream(text: string): AsyncGenerator<TextRow[]>;
  /** Begins a transaction that reads one snapshot, which its first read takes. */
  begin(): Promise<void>;
  end(): Promise<void>;
}

interface Open extends Pick<Session, 'id' | 'version' | 'account'> {
  connection: mysql.Connection;
}

/** Connections to the database of a source, one after the other. */
export class SourceConnection {
  readonly #settings: mysql.ConnectionOptions;
  readonly #database: string;
  #open: Open | undefined;

  /** @throws {CosiftError} `source_failed` for a URL that cannot be used. */
  constructor(url: string) {
    const { database, ...settings } = connectionSettings(url);
    this.#settings = settings;
    this.#database = database;
  }

  async session(signal: AbortSignal): Promise<Session> {
    const open = this.#open ?? (await this.#connect(signal));
    const { id, version, account, connection } = open;
    const run = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await unlessAborted(work(), signal);
      } catch (error) {
        if (signal.aborted || isFatal(error)) this.#discard(connection);
        throw signal.aborted ? error : sourceError(error, account);
      }
    };
    const query = (sql: string, values: readonly string[] = []) =>
      run(() => answer(connection, { sql, values: [...values], timeout: STATEMENT_S * 1_000 + ANSWER_MS }));
    return {
      id,
      version,
      account,
      database: this.#database,
      rows: async (text, values) => (await query(text, values)).rows,
      fieldsOf: async (text) => (await query(text)).fields,
      stream: (text) => this.#stream(open, text, signal),
      begin: async () => {
        await query('START TRANSACTION READ ONLY');
      },
      end: async () => {
        if (this.#open !== open) return;
        await answer(connection, { sql: 'ROLLBACK', timeout: ROLLBACK_MS }).catch(() =>
          this.#discard(connection),
        );
      },
    };
  }

  async close(): Promise<void> {
    if (this.#open !== undefined) this.#discard(this.#open.connection);
  }

  async *#stream({ connection, account }: Open, sql: string, signal: AbortSignal): AsyncGenerator<TextRow[]> {
    const stream = connection
      .query({ sql, rowsAsArray: true, typeCast: text })
      .stream({ highWaterMark: BATCH_ROWS });
    // The driver tells a lost connection to its listeners alone.
    const lost = (error: Error) => stream.destroy(error);
    connection.once('error', lost);
    let isComplete = false;
    try {
      let batch: TextRow[] = [];
      let characters = 0;
      for await (const row of untilAborted(stream as AsyncIterable<TextRow>, signal)) {
        batch.push(row);
        for (const value of row) characters += value?.length ?? 0;
        if (batch.length < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
        yield batch;
        batch = [];
        characters = 0;
      }
      isComplete = true;
      yield batch;
    } catch (error) {
      throw signal.aborted ? error : sourceError(error, account);
    } finally {
      connection.off('error', lost);
      // What is left of the answer stands in the way of the next one.
      if (!isComplete) this.#discard(connection);
    }
  }

  async #connect(signal: AbortSignal): Promise<Open> {
    const driver = await loadDriver();
    const connection = driver.createConnection({
      ...this.#settings,
      charset: 'utf8mb4',
      connectTimeout: CONNECT_MS,
      enableKeepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      connectAttributes: { program_name: 'cosift sync' },
    });
    // A connection may fail at any moment, also between two statements. The next one reports it.
    connection.on('error', () => this.#discard(connection));
    let account = '';
    try {
      const connected = new Promise<void>((resolve, reject) =>
        connection.connect((error) => (error === null ? resolve() : reject(error))),
      );
      await unlessAborted(connected, signal);
      const ask = (sql: string) => unlessAborted(answer(connection, { sql }), signal);
      const [[version, user] = []] = (await ask('SELECT version(), current_user()')).rows as string[][];
      account = accountOf(user as string);
      const limit = /mariadb/i.test(version as string)
        ? `max_statement_time = ${STATEMENT_S}`
        : `max_execution_time = ${STATEMENT_S * 1_000}`;
      await ask(`${SETTINGS}, ${limit}`);
      await ask('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      // Not when it connects, so that the account is known to whom a right is missing.
      await ask(`USE ${quoted(this.#database)}`);
      this.#open = { id: Symbol('connection'), connection, version: version as string, account };
      return this.#open;
    } catch (error) {
      connection.destroy();
      throw signal.aborted ? error : sourceError(error, account);
    }
  }

  /** Closes a connection without waiting for its server, which may not answer. */
  #discard(connection: mysql.Connection): void {
    if (this.#open?.connection === connection) this.#open = undefined;
    connection.destroy();
  }
}

function accountOf(user: string): string {
  const at = user.lastIndexOf('@');
  return `'${user.slice(0, at)}'@'${user.slice(at + 1)}'`;
}

async function loadDriver(): Promise<typeof mysql> {
  try {
    return (await import('mysql2')).default;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CosiftError('source_failed', 'a source of MySQL needs the package mysql2: npm install mysql2', {
      cause: error,
    });
  }
}

function answer(
  connection: mysql.Connection,
  options: mysql.QueryOptions,
): Promise<{ rows: TextRow[]; fields: Field[] }> {
  return new Promise((resolve, reject) => {
    connection.query({ ...options, rowsAsArray: true, typeCast: text }, (error, rows, fields) => {
      if (error !== null) reject(error);
      else resolve({ rows: rows as unknown as TextRow[], fields: (fields ?? []).map(fieldOf) });
    });
  });
}

const text: mysql.TypeCast = (field) => field.string('utf8');

function fieldOf(packet: mysql.FieldPacket): Field {
  return {
    name: packet.name,
    type: packet.columnType ?? 0,
    flags: Number(packet.flags),
    collation: packet.characterSet ?? 0,
    length: packet.columnLength ?? 0,
    extended: packet.extendedFormat ?? packet.extendedTypeName,
  };
}

/** Whether an error leaves a connection that cannot be used. */
function isFatal(error: unknown): boolean {
  return (error as { errno?: number; sqlState?: string } | null)?.sqlState === undefined;
}
