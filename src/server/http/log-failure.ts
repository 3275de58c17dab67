import type { FastifyBaseLogger } from 'fastify';
import type { CosiftError } from '../../errors.js';

/** Codes of states that end by themselves. The log of requests has their status. */
const TEMPORARY: ReadonlySet<string> = new Set(['busy', 'not_ready']);

/** Logs the failure of a request if it is one of the service, rather than of the request. */
export function logFailure(log: FastifyBaseLogger, error: CosiftError, message: string): void {
  if (error.status < 500 || TEMPORARY.has(error.code)) return;
  log.error({ err: error.cause ?? error, code: error.code, detail: error.detail }, message);
}
