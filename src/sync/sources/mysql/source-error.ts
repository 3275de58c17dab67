import { CosiftError } from '../../../errors.js';
import { quoted } from './quoted.js';

/** Errors after which the same statement may succeed: limits of the server, locks, statements that were ended. */
const RETRIED = new Set([
  ...['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED', 'ER_OUT_OF_RESOURCES'],
  ...['ER_LOCK_WAIT_TIMEOUT', 'ER_LOCK_DEADLOCK', 'ER_QUERY_INTERRUPTED', 'ER_QUERY_TIMEOUT'],
  ...['ER_STATEMENT_TIMEOUT', 'ER_SERVER_SHUTDOWN', 'ER_NORMAL_SHUTDOWN', 'ER_TABLE_DEF_CHANGED'],
  ...['ER_DISK_FULL', 'ER_HOST_IS_BLOCKED', 'ER_CONNECTION_KILLED'],
]);
const REFUSED = new Set([
  'ER_ACCESS_DENIED_ERROR',
  'ER_ACCESS_DENIED_NO_PASSWORD_ERROR',
  'ER_HOST_NOT_PRIVILEGED',
]);
const LACKING = new Set([
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
]);
/** Numbers of MariaDB that have another name in the driver. */
const NUMBERS: Readonly<Record<number, string>> = {
  1969: 'ER_STATEMENT_TIMEOUT',
  1927: 'ER_CONNECTION_KILLED',
};

/** The failure of a connection or statement of an account. Its message has no part of the URL. */
export function sourceError(error: unknown, account: string): CosiftError {
  if (error instanceof CosiftError) return error;
  const { code: name = '', errno, sqlState } = error as { code?: string; errno?: number; sqlState?: string };
  const code = NUMBERS[errno ?? 0] ?? name;
  const message = error instanceof Error && error.message !== '' ? error.message : name;
  const failed = (detail: string) => new CosiftError('source_failed', detail, { cause: error });
  if (REFUSED.has(code)) return failed(`the source refuses the user or the password: ${message}`);
  if (code === 'ER_BAD_DB_ERROR') return failed(`the source: ${message}`);
  if (LACKING.has(code))
    return failed(`the user lacks a right at the source: ${message}; ${remedy(message, account)}`);
  if (code === 'HANDSHAKE_SSL_ERROR' || code === 'HANDSHAKE_NO_SSL_SUPPORT')
    return failed(
      `the source cannot be reached with TLS (ssl-ca names the authority of its certificate): ${message}`,
    );
  // An error without a state is that of a connection which cannot be made or is lost.
  if (RETRIED.has(code) || sqlState === undefined)
    return new CosiftError('source_unavailable', `the source cannot be read: ${message}`, { cause: error });
  return failed(`the source cannot be read: ${message}`);
}

const TABLE = /for table [`']([^`']+)[`'](?:\.`([^`]+)`)?/;
const DATABASE = /to database '([^']+)'/;

/** The statement that gives a right to read what a message names. The user in it is at the client, and the account may be wider. */
function remedy(message: string, account: string): string {
  const names = TABLE.exec(message)
    ?.slice(1)
    .filter((name) => name !== undefined);
  const database = DATABASE.exec(message)?.[1];
  const place =
    names?.map(quoted).join('.') ?? (database === undefined ? 'TABLE' : `${quoted(database)}.TABLE`);
  return `GRANT SELECT ON ${place} TO ${account}`;
}
