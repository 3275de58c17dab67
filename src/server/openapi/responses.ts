import { ERRORS, type ErrorCode } from '../../errors.js';
import { ref } from '../../schema/json-schema.js';
import { errorsOf, type Operation, type Success } from '../operation.js';
import type { OpenApiResponse } from './types.js';

/** The responses of an operation by status: its successes, and its errors with an example of each code. */
export function responsesOf(operation: Operation): Record<string, OpenApiResponse> {
  const responses: Record<string, OpenApiResponse> = {};
  for (const success of operation.success) {
    const existing = responses[success.status];
    const content = contentOf(success);
    responses[success.status] = {
      description: existing?.description ?? success.description,
      headers: headersOf(operation, success.status),
      ...(content && { content: { ...existing?.content, ...content } }),
    };
  }
  if (operation.tagged) {
    responses[304] = { description: 'The caller has this response', headers: headersOf(operation, 304) };
  }
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(operation)) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of byStatus) {
    const existing = responses[status];
    responses[status] = {
      description: [existing?.description, codes.map((code) => `\`${code}\``).join(', ')]
        .filter(Boolean)
        .join('; '),
      headers: headersOf(operation, status),
      content: {
        ...existing?.content,
        'application/problem+json': {
          schema: ref('Problem'),
          examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
        },
      },
    };
  }
  return responses;
}

function contentOf({ schema, type }: Success): Record<string, object> | undefined {
  if (type === 'application/x-ndjson') {
    return { [type]: { schema: { type: 'string', description: `One \`${schema}\` per line.` } } };
  }
  if (schema === undefined) {
    return type === undefined
      ? undefined
      : { [type]: { schema: { type: type === 'application/json' ? 'object' : 'string' } } };
  }
  return { [type ?? 'application/json']: { schema: ref(schema) } };
}

function headersOf({ kind, open, tagged }: Operation, status: number): object {
  const named = (name: string) => ({ $ref: `#/components/headers/${name}` });
  return {
    'x-request-id': named('RequestId'),
    ...(!open &&
      status !== 401 && { ratelimit: named('RateLimit'), 'ratelimit-policy': named('RateLimitPolicy') }),
    ...(status === 401 && { 'www-authenticate': named('WwwAuthenticate') }),
    ...(tagged && (status === 200 || status === 304) && { etag: named('ETag') }),
    ...((status === 429 || status === 503) && { 'retry-after': named('RetryAfter') }),
    ...(status === 200 && kind === 'searches' && { 'server-timing': named('ServerTiming') }),
  };
}

function exampleOf(code: ErrorCode): object {
  const { status, title } = ERRORS[code];
  return {
    type: `/docs#error-${code}`,
    title,
    status,
    detail: title,
    code,
    request_id: '0190a0b2-7c1e-7f2a-8a4e-0c8d4b1f2a3c',
  };
}
