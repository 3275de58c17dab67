import type { CheckedRequest } from '../api/checked-copy.js';
import { CosiftError } from '../errors.js';
import { LIMITS } from '../schema/index.js';

/**
 * Returns the request. A service checks the size of a body before it parses it; a request of the library is not parsed.
 *
 * @throws {CosiftError} `too_large` for a request that has more bytes as JSON than a service takes.
 */
export function withinLimit<T>({ request, bytes }: CheckedRequest<T>): T {
  const max = LIMITS.body_bytes;
  // The bound is far above the size, but few requests reach it, so few are written as JSON to be measured.
  if (bytes > max && Buffer.byteLength(JSON.stringify(request)) > max) {
    throw new CosiftError('too_large', `the body is larger than ${max} bytes`, { fields: { max } });
  }
  return request;
}
