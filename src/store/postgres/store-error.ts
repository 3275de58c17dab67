import pg from 'pg';
import { CosiftError, type ErrorCode } from '../../errors.js';

/** Serialisation failure, deadlock: the transaction had no effect and may be repeated. */
const CONFLICTS = new Set(['40001', '40P01']);
/** The server shuts down, starts, or has become a standby; or a worker of Citus does, which has no state of its own. */
export const FAILOVER: ReadonlySet<string> = new Set([
  '57P01',
  '57P02',
  '57P03',
  '25006',
  '08006',
  '08003',
  '08001',
  'XX000',
]);

const PROGRAM_ERRORS = [TypeError, RangeError, ReferenceError, SyntaxError];

/** How the client says that the server asks for a password and there is none. */
const NO_PASSWORD = /client password must be/;

/** How Node says that a certificate is not valid, not trusted, or that of another host. */
const CERTIFICATE = new Set([
  ...[
    'CERT_NOT_YET_VALID',
    'CERT_HAS_EXPIRED',
    'CERT_REVOKED',
    'CERT_REJECTED',
    'CERT_UNTRUSTED',
    'CERT_SIGNATURE_FAILURE',
    'CERT_CHAIN_TOO_LONG',
    'PATH_LENGTH_EXCEEDED',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'HOSTNAME_MISMATCH',
  ],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
]);

const UNKNOWN =
  'the database did not confirm the end of the transaction: whether a write took effect is not known, and the same upsert or deletion again is safe';

const UNREACHABLE = 'the database cannot be reached or does not take writes';

/** What states of PostgreSQL mean to callers: by the state, or by its class, which is its first two characters. */
const MEANINGS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  '55P03': ['store_failed', 'the tables of the store are in use by a long read; try again when it has ended'],
  '53100': ['disk_full', 'the disk of the database is full'],
  '57014': ['timed_out', 'the database took too long'],
  no_password: [
    'store_failed',
    'the database asks for a password: set PGPASSWORD, or put it into the URL of the store or a password file',
  ],
  certificate: [
    'store_failed',
    'the certificate of the database server is not accepted: sslrootcert in the URL of the store names the file of its authority, and the certificate must be valid for the host of the URL',
  ],
  '28': ['store_failed', 'the database refuses the user or the password of the store'],
  '3D': ['store_failed', 'the server has no database of the name in the URL of the store'],
  '42501': [
    'store_failed',
    'the user of the store lacks a privilege in the database: docs/how-to/postgresql.md lists those that it needs',
  ],
  '53': ['store_failed', UNREACHABLE],
};

/** A commit whose outcome is not known. It is not repeated. */
export class CommitFailure extends Error {
  constructor(cause: unknown) {
    super('the outcome of a commit is not known', { cause });
  }
}

/** The state that PostgreSQL gives, the code of the system, `no_password` or `certificate`. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof Error && NO_PASSWORD.test(error.message)) return 'no_password';
  const code = (error as { code?: string } | null)?.code;
  return code !== undefined && CERTIFICATE.has(code) ? 'certificate' : code;
}

/** Whether a transaction had no effect because the server cannot be reached, or another transaction was in its way. */
export function isTransient(error: unknown): boolean {
  if (error instanceof CommitFailure) return false;
  if (error instanceof pg.DatabaseError)
    return CONFLICTS.has(error.code ?? '') || FAILOVER.has(error.code ?? '');
  if (['no_password', 'certificate'].includes(codeOf(error) ?? '')) return false;
  // A connection that cannot be made or is lost. Every other error without a state is a fault of this program.
  return error instanceof Error && !PROGRAM_ERRORS.some((type) => error instanceof type);
}

/** Whether an error is the answer of a server that goes on: what failed had no effect. */
export function isAnswer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !FAILOVER.has(error.code ?? '');
}

/** The error of a statement as callers know it. The text of PostgreSQL is in its cause, which a service shows nobody. */
export function storeError(error: unknown): CosiftError {
  const cause = error instanceof CommitFailure ? error.cause : error;
  const state = codeOf(cause);
  const text = cause instanceof Error && cause.message !== '' ? cause.message : String(state ?? cause);
  const fields = { postgres: state, text };
  const isUnknown = error instanceof CommitFailure && !isAnswer(cause);
  const known = MEANINGS[state ?? ''] ?? MEANINGS[(state ?? '').slice(0, 2)];
  const isLost = error instanceof CommitFailure || isTransient(cause);
  const [code, detail] = isUnknown
    ? (['store_failed', UNKNOWN] as const)
    : (known ??
      (isLost ? (['store_failed', UNREACHABLE] as const) : (['internal', 'a statement failed'] as const)));
  return new CosiftError(code, detail, { fields, cause: new CosiftError(code, text, { cause }) });
}
