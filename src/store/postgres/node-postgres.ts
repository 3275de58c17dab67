import pg from 'pg';
import { sleep } from '../../async/sleep.js';
import { CosiftError } from '../../errors.js';
import { STORE_CONNECTIONS } from '../../schema/options.js';
import { Listener } from './listener.js';
import type { Sql, SqlDatabase, SqlValue } from './sql.js';
import { StatementNames } from './statement-names.js';
import { CommitFailure, codeOf, isTransient, storeError } from './store-error.js';

/** Options of the connections to a PostgreSQL server. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq such as `sslmode`. */
  url: string;
  /** Connections at most. Default: 16. */
  maxConnections?: number | undefined;
  /** Milliseconds after which the server cancels a statement. Default: no limit besides that of the request. */
  statementTimeoutMs?: number | undefined;
  /** Whether another server can do the same, so that this one is given up soon. Default: false. */
  isReplica?: boolean | undefined;
}

const CONNECT_MS = 10_000;
const CONNECT_REPLICA_MS = 1_000;
/** Attempts of a transaction that another one or a failover interrupted. */
const MAX_ATTEMPTS = 5;
/** A replica interrupts a read that is in the way of what it has to replay. */
const MAX_REPLICA_ATTEMPTS = 2;
/** A table that was replaced after its name was read: the repetition reads the new name. */
const REPLACED = '42P01';
/** A prepared statement whose table another version of cosift has migrated. */
const OUTDATED = '0A000';
/** A process whose machine is lost must not keep its locks until the server notices that the connection is lost, too. */
const BEGIN_WRITE = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '60s'";

/** The type of integers of 64 bits. */
const INTEGER = 20;

/** A PostgreSQL server, by a pool of connections. */
export class NodePostgres implements SqlDatabase {
  readonly isConcurrent = true;
  readonly #options: PostgresOptions;
  readonly #pool: pg.Pool;
  /** Cancels statements: the connections of the pool may all be waiting for statements. */
  readonly #canceller: pg.Pool;
  readonly #listeners: Listener[] = [];
  readonly #names = new StatementNames();
  #isClosed = false;

  constructor(options: PostgresOptions) {
    const { url, maxConnections = STORE_CONNECTIONS, statementTimeoutMs, isReplica = false } = options;
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: isReplica ? CONNECT_REPLICA_MS : CONNECT_MS,
      application_name: 'cosift',
      keepAlive: true,
      ...(statementTimeoutMs !== undefined && { statement_timeout: statementTimeoutMs }),
      types: {
        getTypeParser: (oid: number, format?: 'text' | 'binary') =>
          oid === INTEGER ? Number : pg.types.getTypeParser(oid, format as 'text'),
      },
    });
    this.#canceller = new pg.Pool({
      connectionString: url,
      max: 1,
      connectionTimeoutMillis: CONNECT_MS,
      application_name: 'cosift',
    });
    // An idle connection that fails is replaced; the next statement reports what is wrong.
    for (const pool of [this.#pool, this.#canceller]) pool.on('error', () => undefined);
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#repeated('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work, signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#repeated(BEGIN_WRITE, work, signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#listeners.push(new Listener(this.#options, channel, onMessage));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all(this.#listeners.map((listener) => listener.close()));
    await Promise.all([this.#pool.end(), this.#canceller.end()]);
  }

  async #repeated<T>(
    begin: string,
    work: (sql: Sql) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const maxAttempts = this.#options.isReplica ? MAX_REPLICA_ATTEMPTS : MAX_ATTEMPTS;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#transaction(begin, work, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof CosiftError) throw error;
        const isOutdated = codeOf(error) === OUTDATED && attempt === 1;
        if (isOutdated) this.#names.renew();
        const isReplaced = codeOf(error) === REPLACED && attempt === 1;
        const mayRepeat = isTransient(error) || isReplaced || isOutdated;
        if (!mayRepeat || attempt === maxAttempts) throw storeError(error);
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
    let isCancelled = false;
    const onAbort = () => {
      isCancelled = true;
      this.#cancel(client);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    let failure: Error | undefined;
    try {
      signal?.throwIfAborted();
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
      // A connection whose state is not known is closed. A cancellation may reach it after the statement has ended.
      client.release(failure ?? isCancelled);
    }
  }

  /** Cancels the statement that a connection runs. */
  #cancel(client: pg.PoolClient): void {
    const { processID } = client as unknown as { processID: number | null };
    if (processID === null) return;
    // When this fails, the statement ends by its timeout.
    this.#canceller.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
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
