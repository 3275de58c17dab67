import type { Socket } from 'node:net';
import pg from 'pg';
import { sleep } from '../../async/sleep.js';
import { overTurns } from '../../async/turns.js';
import { unlessAborted } from '../../async/until-aborted.js';
import { CosiftError } from '../../errors.js';
import { STORE_CONNECTIONS } from '../../schema/open-options.js';
import { connectionSettings } from './connection-settings.js';
import { Listener } from './listener.js';
import type { Sql, SqlDatabase, SqlValue } from './sql.js';
import { StatementNames } from './statement-names.js';
import { CommitFailure, codeOf, isAnswer, isTransient, storeError } from './store-error.js';

/** Options of the connections to a PostgreSQL server. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters of libpq such as `sslmode`. */
  url: string;
  /** Connections at most. Default: 16. */
  maxConnections?: number | undefined;
  /** Milliseconds after which the server cancels a statement. Default: no limit besides that of the request. */
  statementTimeoutMs?: number | undefined;
  /** Milliseconds after which the outcome of a commit that the server does not confirm counts as unknown. Default: 30,000. */
  commitTimeoutMs?: number | undefined;
  /** Whether another server can do the same, so that this one is given up soon. Default: false. */
  isReplica?: boolean | undefined;
}

const CONNECT_MS = 10_000;
const CONNECT_REPLICA_MS = 1_000;
/** Milliseconds without traffic after which a connection is probed, so that the loss of its server is noticed. */
const KEEP_ALIVE_MS = 10_000;
/** Milliseconds, besides those that a statement may take, after which a server that does not answer counts as lost. */
const ANSWER_MS = 600_000;
/** Waiting longer helps nobody: a commit takes milliseconds, unless its server is lost. */
const COMMIT_MS = 30_000;
/** Milliseconds after which a connection that does not confirm the end of a transaction is closed. */
const ROLLBACK_MS = 5_000;
/** Milliseconds after which a connection that does not confirm a cancellation is closed, so that others can be sent. */
const CANCEL_MS = 5_000;
/** Milliseconds after which a close ends connections whose server does not answer. */
const CLOSE_MS = 5_000;
/** Milliseconds after which a transaction is not repeated. */
const REPEAT_MS = 10_000;
/** Attempts of a transaction that another one or a failover interrupted. */
const MAX_ATTEMPTS = 5;
/** A replica interrupts a read that is in the way of what it has to replay. */
const MAX_REPLICA_ATTEMPTS = 2;
/** A table that was replaced after its name was read: the repetition reads the new name. */
const REPLACED = '42P01';
/** A prepared statement whose table another version of cosift has migrated. */
const OUTDATED = '0A000';
/** A statement that was not run because one before it in its transaction failed. */
const NOT_RUN = '25P02';
const BEGIN_READ = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
/** A process whose machine is lost must not keep its locks until the server notices that the connection is lost, too. */
const BEGIN_WRITE = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '60s'";

/** Results that arrive together are used over several turns of the event loop: what follows takes milliseconds of each. */
const nextTurn = overTurns(2);

/** The type of integers of 64 bits. */
const INTEGER = 20;

/** A PostgreSQL server, by a pool of connections. */
export class NodePostgres implements SqlDatabase {
  readonly isConcurrent = true;
  readonly #options: PostgresOptions;
  readonly #settings: pg.ClientConfig;
  readonly #pool: pg.Pool;
  /** Cancels statements: the connections of the pool may all be waiting for statements. */
  readonly #canceller: pg.Pool;
  /** The clients of both pools, until they are closed. */
  readonly #clients = new Set<ConnectedClient>();
  readonly #listeners: Listener[] = [];
  readonly #names = new StatementNames();
  #isClosed = false;

  constructor(options: PostgresOptions) {
    const { url, maxConnections = STORE_CONNECTIONS, statementTimeoutMs, isReplica = false } = options;
    this.#options = options;
    this.#settings = { application_name: 'cosift', ...connectionSettings(url) };
    this.#pool = new pg.Pool({
      ...this.#settings,
      max: maxConnections,
      // One connection is kept: when the server has no more to give, what is asked for from time to time needs none.
      min: 1,
      connectionTimeoutMillis: isReplica ? CONNECT_REPLICA_MS : CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      query_timeout: (statementTimeoutMs ?? 0) + ANSWER_MS,
      // Statements are sent without waiting for those before them.
      pipeline: true,
      ...(statementTimeoutMs !== undefined && { statement_timeout: statementTimeoutMs }),
      types: {
        getTypeParser: (oid: number, format?: 'text' | 'binary') =>
          oid === INTEGER ? Number : pg.types.getTypeParser(oid, format as 'text'),
      },
    });
    this.#canceller = new pg.Pool({
      ...this.#settings,
      max: 1,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: CANCEL_MS,
    });
    for (const pool of [this.#pool, this.#canceller]) {
      // An idle connection that fails is replaced; the next statement reports what is wrong.
      pool.on('error', () => undefined);
      pool.on('connect', (client) => {
        this.#clients.add(client as ConnectedClient);
        // A connection may fail at any moment, also between its start and its first statement, which is rejected then.
        client.on('error', () => undefined);
      });
      pool.on('remove', (client) => this.#clients.delete(client as ConnectedClient));
    }
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#repeated(BEGIN_READ, work, signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#repeated(BEGIN_WRITE, work, signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#listeners.push(new Listener(this.#settings, channel, onMessage));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A server that does not answer would keep the connections open.
    const timer = setTimeout(() => {
      for (const { connection } of this.#clients) connection.stream.destroy();
    }, CLOSE_MS);
    try {
      await Promise.all([
        ...this.#listeners.map((listener) => listener.close()),
        this.#pool.end(),
        this.#canceller.end(),
      ]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #repeated<T>(
    begin: string,
    work: (sql: Sql) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const maxAttempts = this.#options.isReplica ? MAX_REPLICA_ATTEMPTS : MAX_ATTEMPTS;
    const deadline = performance.now() + REPEAT_MS;
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
        const isLast = attempt === maxAttempts || performance.now() >= deadline;
        if (!mayRepeat || isLast) throw storeError(error);
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
    const client = await this.#connect(signal);
    let isCommitting = false;
    let firstFailure: unknown;
    const sql: Sql = {
      run: async (text, values = []) => {
        try {
          return await run(client, this.#names.of(text), text, values);
        } catch (error) {
          firstFailure ??= error;
          throw error;
        }
      },
    };
    const attempt = async () => {
      signal?.throwIfAborted();
      if (begin === BEGIN_READ) return await beginAndRead(client, () => work(sql));
      // A statement that writes must not run outside of the transaction, so it waits for the begin.
      await client.query(begin);
      const result = await work(sql);
      signal?.throwIfAborted();
      isCommitting = true;
      await limited(client, 'COMMIT', this.#options.commitTimeoutMs ?? COMMIT_MS).catch((error) => {
        throw new CommitFailure(error);
      });
      return result;
    };
    // A connection whose state is not known is closed.
    const end = async () => client.release(await rollback(client));
    let onAbort: () => void = () => undefined;
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => {
        // The result of a commit that has begun is waited for.
        if (!isCommitting) reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    });
    try {
      const result = await Promise.race([attempt(), aborted]);
      // The caller of a read need not wait for the end of its transaction, and uses the result first.
      if (begin === BEGIN_READ) setImmediate(end);
      else client.release();
      return result;
    } catch (error) {
      if (error instanceof CommitFailure && !isAnswer(error.cause)) {
        // A rollback would wait for the answer to the commit.
        discard(client);
      } else if (signal?.aborted) {
        // The server may not answer. A cancellation may reach the connection after the statement has ended.
        this.#cancel(client);
        discard(client);
      } else await end();
      throw codeOf(error) === NOT_RUN ? (firstFailure ?? error) : error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** A connection of the pool; rejects as soon as the signal is aborted. */
  async #connect(signal: AbortSignal | undefined): Promise<pg.PoolClient> {
    const connected = this.#pool.connect();
    if (signal === undefined) return await connected;
    try {
      return await unlessAborted(connected, signal);
    } catch (error) {
      connected.then((client) => client.release()).catch(() => undefined);
      throw error;
    }
  }

  /** Cancels the statement that a connection runs. */
  #cancel(client: pg.PoolClient): void {
    const { processID } = client as ConnectedClient;
    if (processID === null) return;
    // When this fails, the statement ends by its timeout.
    this.#canceller.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
  }
}

/** The members of a client that its types leave out. */
type ConnectedClient = pg.PoolClient & { processID: number | null; connection: { stream: Socket } };

/** Closes a connection that may be waiting for its server. */
function discard(client: pg.PoolClient): void {
  client.release(true);
  (client as ConnectedClient).connection.stream.destroy();
}

/** Begins a transaction that reads. The first statement of `work` is sent together with the begin. */
async function beginAndRead<T>(client: pg.PoolClient, work: () => Promise<T>): Promise<T> {
  const { stream } = (client as ConnectedClient).connection;
  let begun: Promise<unknown>;
  let worked: Promise<T>;
  stream.cork();
  try {
    begun = client.query(BEGIN_READ);
    // When it fails, `work` may fail first.
    begun.catch(() => undefined);
    worked = work();
  } finally {
    stream.uncork();
  }
  const result = await worked;
  // Without a transaction, the statements may have seen different moments.
  await begun;
  return result;
}

async function run<Row>(
  client: pg.PoolClient,
  name: string | undefined,
  text: string,
  values: readonly SqlValue[],
): Promise<Row[]> {
  const { rows } = await client.query({ ...(name && { name }), text, values: values as SqlValue[] });
  await new Promise<void>(nextTurn);
  return rows as Row[];
}

/** Runs a statement without values. Rejects when the server does not answer in time; the connection must then be closed. */
async function limited(client: pg.PoolClient, text: string, timeoutMs: number): Promise<void> {
  await client.query({ text, query_timeout: timeoutMs } as pg.QueryConfig);
}

async function rollback(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await limited(client, 'ROLLBACK', ROLLBACK_MS);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
