import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';

/** Request headers that pages of other origins may send. */
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'if-none-match',
  'traceparent',
  'x-api-key',
  'x-request-id',
];

/** Response headers that these pages may read besides `content-type` and `content-length`. */
const RESPONSE_HEADERS = [
  'allow',
  'etag',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'server-timing',
  'www-authenticate',
  'x-request-id',
];

/** How long a browser may keep the response to a preflight. Browsers cap it themselves, Chromium at two hours. */
const MAX_AGE_SECONDS = 7_200;

/**
 * Lets web pages of these origins call the service. `['*']` allows every origin. Browsers never send cookies or client
 * certificates, because keys are the only credentials of the service.
 *
 * It must be called before other hooks are added, so that their responses can be read, too.
 */
export async function allowOrigins(
  app: FastifyInstance,
  origins: readonly string[],
  methods: readonly string[],
): Promise<void> {
  await app.register(cors, {
    origin: [...origins],
    methods: [...methods],
    allowedHeaders: REQUEST_HEADERS,
    exposedHeaders: RESPONSE_HEADERS,
    maxAge: MAX_AGE_SECONDS,
    // `OPTIONS` is answered where the methods of a path are known, to preflights and to other clients.
    preflightContinue: true,
    strictPreflight: false,
  });
}
