import type { FastifyReply, FastifyRequest } from 'fastify';
import { addVary } from './vary.js';

/**
 * Request headers that pages of other origins may send. Tools for traces add `baggage`, `sentry-trace`, `traceparent` and
 * `tracestate` to every request of a page, and some libraries `x-requested-with`.
 */
const REQUEST_HEADERS = [
  'accept',
  'authorization',
  'baggage',
  'content-type',
  'if-none-match',
  'sentry-trace',
  'traceparent',
  'tracestate',
  'x-api-key',
  'x-request-id',
  'x-requested-with',
].join(', ');

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
].join(', ');

/** How long a browser may keep the response to a preflight. Browsers cap it themselves, Chromium at two hours. */
const MAX_AGE_SECONDS = 7_200;

/**
 * The origins whose web pages may call the service. Browsers never send cookies or client certificates, because keys are
 * the only credentials of the service.
 *
 * Not by `@fastify/cors`, because no hook runs for a path that the router refuses, and a page must be able to read that error.
 */
export class AllowedOrigins {
  readonly #origins: ReadonlySet<string>;
  readonly #methods: string;

  /** `['*']` allows every origin. */
  constructor(origins: readonly string[], methods: readonly string[]) {
    this.#origins = new Set(origins);
    this.#methods = methods.join(', ');
  }

  /**
   * Adds the headers that let a page read the response, also if it is an error. Returns whether the request is a
   * preflight of an allowed page. It succeeds for every path, so that the page can read the error of the request itself.
   */
  allow({ method, headers }: FastifyRequest, reply: FastifyReply): boolean {
    if (this.#origins.size === 0) return false;
    const allowed = this.#allowedFor(headers.origin, reply);
    if (allowed === undefined) return false;
    reply.header('access-control-allow-origin', allowed);
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) {
      reply.header('access-control-expose-headers', RESPONSE_HEADERS);
      return false;
    }
    reply
      .header('access-control-allow-methods', this.#methods)
      .header('access-control-allow-headers', REQUEST_HEADERS)
      .header('access-control-max-age', String(MAX_AGE_SECONDS));
    return true;
  }

  #allowedFor(origin: string | undefined, reply: FastifyReply): string | undefined {
    if (this.#origins.has('*')) return '*';
    // Also without an origin, because a cache must not give that response to a page.
    addVary(reply, 'origin');
    return origin !== undefined && this.#origins.has(origin) ? origin : undefined;
  }
}
