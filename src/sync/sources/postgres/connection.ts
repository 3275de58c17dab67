import pg from 'pg';
import { unlessAborted } from '../../../async/until-aborted.js';
import { CosiftError } from '../../../errors.js';
import { connectionSettings } from '../../../store/postgres/connection-settings.js';
import { codeOf, isTransient } from '../../../store/postgres/store-error.js';
import type { TextRow } from '../text-rows.js';

const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/** The server ends a statement after these milliseconds, so that a lost process does not keep it busy. */
const STATEMENT_MS = 600_000;
/** Milliseconds, besides those of a statement, after which a server that does not answer counts as lost. */
const ANSWER_MS = 30_000;
/** Milliseconds after which a connection that does not confirm the end of a transaction is closed. */
const ROLLBACK_MS = 5_000;

/** Values as texts that depend on no setting of the server, the database or the user. */
const SETTINGS = [
  "SET LOCAL TimeZone = 'UTC'",
  "SET LOCAL DateStyle = 'ISO, YMD'",
  "SET LOCAL IntervalStyle = 'iso_8601'",
  'SET LOCAL extra_float_digits = 1',
  "SET LOCAL bytea_output = 'hex'",
  `SET LOCAL statement_timeout = ${STATEMENT_MS}`,
];

/** A transaction that reads one snapshot. */
export interface Snapshot {
  rows(text: string, values?: readonly unknown[]): Promise<TextRow[]>;
  /** Names and types of the columns of a query. */
  columnsOf(query: string): Promise<{ name: string; type: number; modifier: number }[]>;
  end(): Promise<void>;
}

export interface SnapshotOptions {
  signal: AbortSignal;
  /** Whether rows may be hidden by row-level security. Otherwise a query that it applies to fails. */
  rls: boolean;
  /** A table that is locked against changes of its definition before the snapshot is taken: TRUNCATE ignores snapshots. */
  locked?: string | undefined;
}

/** Connections to the database of a source, one after the other. */
export class SourceConnection {
  readonly #settings: pg.ClientConfig;
  #client: pg.Client | undefined;

  /** @throws {CosiftError} `source_failed` for a URL that cannot be used. */
  constructor(url: string) {
    try {
      this.#settings = connectionSettings(url);
    } catch (error) {
      const reason = error instanceof CosiftError ? error.fields.text : undefined;
      throw new CosiftError(
        'source_failed',
        `the URL of the source cannot be used: ${reason ?? 'it is not valid'}`,
      );
    }
  }

  async snapshot({ signal, rls, locked }: SnapshotOptions): Promise<Snapshot> {
    const client = this.#client ?? (await this.#connect(signal));
    const run = async <T>(work: () => Promise<T>): Promise<T> => {
      try {
        return await unlessAborted(work(), signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof pg.DatabaseError)) await this.#discard(client);
        throw signal.aborted ? error : sourceError(error);
      }
    };
    const query = (text: string, values: readonly unknown[] = []) =>
      run(() => client.query({ text, values: [...values], rowMode: 'array', types: TEXTS }));
    let isOpen = true;
    const snapshot: Snapshot = {
      rows: async (text, values) => (await query(text, values)).rows as TextRow[],
      columnsOf: async (text) =>
        (await query(`SELECT * FROM (${text}\n) AS source LIMIT 0`)).fields.map((field) => ({
          name: field.name,
          type: field.dataTypeID,
          modifier: field.dataTypeModifier,
        })),
      end: async () => {
        if (!isOpen) return;
        isOpen = false;
        if (this.#client !== client) return;
        const rollback = { text: 'ROLLBACK', query_timeout: ROLLBACK_MS } as pg.QueryConfig;
        await client.query(rollback).catch(() => this.#discard(client));
      },
    };
    try {
      const settings = [...SETTINGS, `SET LOCAL row_security = ${rls ? 'on' : 'off'}`];
      const lock = locked === undefined ? [] : [`LOCK TABLE ${locked} IN ACCESS SHARE MODE`];
      await query(['BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', ...settings, ...lock].join('; '));
      return snapshot;
    } catch (error) {
      await snapshot.end();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#client !== undefined) await this.#discard(this.#client);
  }

  async #connect(signal: AbortSignal): Promise<pg.Client> {
    const client = new pg.Client({
      application_name: 'cosift sync',
      ...this.#settings,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: STATEMENT_MS + ANSWER_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    // A connection may fail at any moment, also between two statements. The next one reports it.
    client.on('error', () => undefined);
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined;
    });
    try {
      await unlessAborted(client.connect(), signal);
    } catch (error) {
      client.end().catch(() => undefined);
      throw signal.aborted ? error : sourceError(error);
    }
    this.#client = client;
    return client;
  }

  /** Closes a connection without waiting for its server, which may not answer. */
  async #discard(client: pg.Client): Promise<void> {
    if (this.#client === client) this.#client = undefined;
    const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
    client.end().catch(() => undefined);
    stream.destroy();
  }
}

const TEXTS = { getTypeParser: () => (text: string) => text };

/** States after which the same statement may succeed: limits of the server and statements that were cancelled. */
const RETRIED = /^(53|57014|55P03|25P0[34])/;
const ROW_SECURITY = /row-level security/;

/** The failure of a connection or statement. Its message has no part of the URL. */
function sourceError(error: unknown): CosiftError {
  if (error instanceof CosiftError) return error;
  const text =
    error instanceof Error && error.message !== '' ? error.message : String(codeOf(error) ?? error);
  const code = codeOf(error) ?? '';
  const failed = (message: string) => new CosiftError('source_failed', message, { cause: error });
  if (code === 'no_password')
    return failed('the source asks for a password: set PGPASSWORD, or put it into the URL');
  if (code === 'certificate')
    return failed(`the certificate of the source is not accepted (sslrootcert names its authority): ${text}`);
  if (code.startsWith('28')) return failed(`the source refuses the user or the password: ${text}`);
  if (code === '3D000') return failed(`the source: ${text}`);
  if (ROW_SECURITY.test(text)) {
    return failed(
      'row-level security may hide rows of the source from this user, which would look as if they were deleted: give the user ' +
        'BYPASSRLS, or set `rls` to true if the visible rows are all that is wanted',
    );
  }
  if (code === '42501')
    return failed(`the user lacks a right at the source: ${text}; GRANT SELECT on it to the user`);
  if (RETRIED.test(code) || isTransient(error)) {
    return new CosiftError('source_unavailable', `the source cannot be read: ${text}`, { cause: error });
  }
  return failed(`the source cannot be read: ${text}`);
}
