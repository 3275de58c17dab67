import pg from 'pg';
import { sleep } from '../../async/sleep.js';
import { CosiftError } from '../../errors.js';
import { Listener } from './listener.js';
import type { Sql, SqlDatabase, SqlValue } from './sql.js';
import { StatementNames } from './statement-names.js';

/** Options of the connections to a PostgreSQL server. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq such as `sslmode`. */
  url: string;
  /** Connections at most. Default: 16. */
  maxConnections?: number | undefined;
  /** Milliseconds after which a statement is cancelled. Default: no limit besides that of the request. */
  statementTimeoutMs?: number | undefined;
}

const CONNECT_MS = 10_000;
/** Attempts of a transaction that another one or a failover interrupted. */
const MAX_ATTEMPTS = 5;
/** Serialisation failure, deadlock: the transaction had no effect and may be repeated. */
const CONFLICTS = new Set(['40001', '40P01']);
/** A table that was replaced after its name was read: the repetition reads the new name. */
const REPLACED = '42P01';
/** A prepared statement whose table another version of cosift has migrated. */
const OUTDATED = '0A000';
/** The server shuts down, starts, or has become a standby. */
const FAILOVER = new Set(['57P01', '57P02', '57P03', '25006', '08006', '08003', '08001']);

const PROGRAM_ERRORS = [TypeError, RangeError, ReferenceError, SyntaxError];

/** The type of integers of 64 bits. */
const INTEGER = 20;

/** A PostgreSQL server, by a pool of connections. */
export class NodePostgres implements SqlDatabase {
  readonly isConcurrent = true;
  readonly #options: PostgresOptions;
  readonly #pool: pg.Pool;
  readonly #listeners: Listener[] = [];
  readonly #names = new StatementNames();
  #isClosed = false;

  constructor(options: PostgresOptions) {
    const { url, maxConnections = 16, statementTimeoutMs } = options;
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: 'cosift',
      keepAlive: true,
      ...(statementTimeoutMs !== undefined && { statement_timeout: statementTimeoutMs }),
      types: {
        getTypeParser: (oid: number, format?: 'text' | 'binary') =>
          oid === INTEGER ? Number : pg.types.getTypeParser(oid, format as 'text'),
      },
    });
    // An idle connection that fails is replaced; the next statement reports what is wrong.
    this.#pool.on('error', () => undefined);
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#repeated('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work, signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#repeated('BEGIN', work, signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#listeners.push(new Listener(this.#options, channel, onMessage));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    await this.#pool.end();
  }

  async #repeated<T>(
    begin: string,
    work: (sql: Sql) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#transaction(begin, work, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof CosiftError) throw error;
        const isOutdated = codeOf(error) === OUTDATED && attempt === 1;
        if (isOutdated) this.#names.renew();
        const isReplaced = codeOf(error) === REPLACED && attempt === 1;
        const mayRepeat =
          (isTransient(error) || isReplaced || isOutdated) && !(error instanceof CommitFailure);
        if (!mayRepeat || attempt === MAX_ATTEMPTS) throw storeError(error);
        await sleep(2 ** attempt * 10, signal);
      }
    }
  }

  async #transaction<T>(
    begin: string,
    work: (sql: Sql) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new CosiftError('not_ready', 'the store is closed');
    const client = await this.#pool.connect();
    // The statement that runs is rejected, too.
    const onError = () => undefined;
    client.on('error', onError);
    const onAbort = () => this.#cancel(client);
    signal?.addEventListener('abort', onAbort, { once: true });
    let failure: Error | undefined;
    try {
      await client.query(begin);
      const result = await work({
        run: (text, values = []) => run(client, this.#names.of(text), text, values),
      });
      signal?.throwIfAborted();
      await client.query('COMMIT').catch((error) => {
        throw new CommitFailure(error);
      });
      return result;
    } catch (error) {
      failure = await rollback(client);
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      client.off('error', onError);
      // A connection whose state is not known is closed.
      client.release(failure);
    }
  }

  /** Cancels the statement that a connection runs. */
  #cancel(client: pg.PoolClient): void {
    const { processID } = client as unknown as { processID: number | null };
    if (processID === null) return;
    // When this fails, the statement ends by its timeout.
    this.#pool.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
  }
}

/** A commit whose outcome is not known. It is not repeated. */
class CommitFailure extends Error {
  constructor(cause: unknown) {
    super('the outcome of a commit is not known', { cause });
  }
}

async function run<Row>(
  client: pg.PoolClient,
  name: string | undefined,
  text: string,
  values: readonly SqlValue[],
): Promise<Row[]> {
  const { rows } = await client.query({ ...(name && { name }), text, values: values as SqlValue[] });
  return rows as Row[];
}

async function rollback(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | null)?.code;
}

/** Whether a transaction had no effect because the server cannot be reached, or another transaction was in its way. */
function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError)
    return CONFLICTS.has(error.code ?? '') || FAILOVER.has(error.code ?? '');
  // A connection that cannot be made or is lost. Every other error without a state is a fault of this program.
  return error instanceof Error && !PROGRAM_ERRORS.some((type) => error instanceof type);
}

/** The error of a statement as callers know it. */
function storeError(error: unknown): CosiftError {
  const cause = error instanceof CommitFailure ? error.cause : error;
  const code = codeOf(cause);
  const fields = { postgres: code, text: String(cause) };
  if (code === '53100')
    return new CosiftError('disk_full', 'the disk of the database is full', { fields, cause });
  if (code === '57014') return new CosiftError('timed_out', 'the database took too long', { fields, cause });
  if (error instanceof CommitFailure || isTransient(cause) || code?.startsWith('53')) {
    return new CosiftError('store_failed', 'the database cannot be reached or does not take writes', {
      fields,
      cause,
    });
  }
  return new CosiftError('internal', 'a statement failed', { fields, cause });
}
