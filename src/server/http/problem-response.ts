import type { FastifyReply, FastifyRequest } from 'fastify';
import { CosiftError, ERRORS, type ErrorCode } from '../../errors.js';
import { PROBLEM_FACTS, type ProblemBody } from '../../schema/index.js';
import { awaitsContinue } from './expect-continue.js';
import { isTemporary, logFailure } from './log-failure.js';

/** Maximum number of characters of an id in a path. */
export const MAX_PARAMETER = 2048;

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** One header each, because some clients read only the first challenge of a header. */
const CHALLENGES = ['Bearer realm="cosift"', 'ApiKey header="x-api-key"'];

// The detail of a server error may reveal internals, so only the title is sent. The details of these are for callers.
const EXPOSED_5XX: ReadonlySet<ErrorCode> = new Set(['busy', 'not_ready', 'timed_out']);
const RETRIABLE: ReadonlySet<ErrorCode> = new Set([
  'busy',
  'model_unavailable',
  'not_ready',
  'timed_out',
  'store_failed',
  'rate_limited',
]);

export function problemBody(error: CosiftError, requestId: string): ProblemBody {
  const { status, title } = ERRORS[error.code];
  const exposesDetail = status < 500 || EXPOSED_5XX.has(error.code);
  return {
    type: `/docs#error-${error.code}`,
    title,
    status,
    detail: exposesDetail ? error.detail : title,
    code: error.code,
    request_id: requestId,
    ...(exposesDetail &&
      error.problems.length > 0 && {
        errors: [...error.problems],
      }),
    ...(exposesDetail && factsOf(error)),
  };
}

function factsOf({ fields }: CosiftError): Record<string, unknown> {
  return Object.fromEntries(
    PROBLEM_FACTS.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: CosiftError): FastifyReply {
  if (error.status === 401) reply.header('www-authenticate', CHALLENGES);
  if (RETRIABLE.has(error.code)) reply.header('retry-after', String(error.fields.retry_after ?? 1));
  // The connection is closed after a body timeout, and if the client has not been asked for the body. Otherwise the rest
  // of the body is read and dropped: closing early resets the connection, and the client loses the response.
  if (error.code === 'request_timeout' || awaitsContinue(request.raw)) reply.header('connection', 'close');
  else reply.removeHeader('connection');
  if (!isTemporary(error)) logFailure(request.log, error, 'request failed');
  return reply
    .code(error.status)
    .header('content-type', PROBLEM_TYPE)
    .serializer(String)
    .send(JSON.stringify(problemBody(error, request.id)));
}

/** Converts anything thrown to a `CosiftError`. An unexpected error becomes `internal`. */
export function asCosiftError(thrown: unknown): CosiftError {
  if (thrown instanceof CosiftError) return thrown;
  const { code, message, statusCode } = (thrown ?? {}) as {
    code?: string;
    message?: string;
    statusCode?: number;
  };
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new CosiftError('unsupported_media_type', 'content-type is not a media type');
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new CosiftError('too_large', 'the body is larger than this operation takes');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new CosiftError('invalid_request', 'the body is not as long as content-length says');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new CosiftError(
        'invalid_request',
        `an id in the path is longer than ${MAX_PARAMETER} characters`,
      );
    case 'FST_ERR_BAD_URL':
      return new CosiftError('invalid_request', 'the path has an escape that cannot be decoded');
    default:
      if (code?.startsWith('FST_ERR_') && statusCode !== undefined && statusCode < 500) {
        return new CosiftError('invalid_request', message ?? 'the request is not valid');
      }
      return new CosiftError('internal', message ?? 'unknown failure', { cause: thrown });
  }
}
