import type { FastifyBaseLogger } from 'fastify';
import { CosiftError } from '../../errors.js';

/** Logs an error that is a failure of the service, rather than of the request. */
export function logFailure(log: FastifyBaseLogger, error: CosiftError, message: string): void {
  if (error.status < 500) return;
  log.error({ err: error.cause ?? error, code: error.code, detail: error.detail }, message);
}

/**
 * Whether an error comes from a state that ends by itself: a full queue, or a database that is being loaded, created or
 * dropped. A database that could not be opened has a reason.
 */
export function isTemporary(error: CosiftError): boolean {
  const { code, fields } = error.cause instanceof CosiftError ? error.cause : error;
  if (code === 'not_ready') return fields.database !== undefined && fields.reason === undefined;
  return error.code === 'busy';
}
