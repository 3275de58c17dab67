import { checkedRequest } from '../api/request-values.js';
import { CosiftError } from '../errors.js';
import { LIMITS } from '../schema/index.js';

/**
 * Returns a copy of the request, which the caller cannot change while the call runs. A service checks a body before it
 * parses it; a request of the library is not parsed, so it is checked here and fails with the same errors.
 *
 * @throws {CosiftError} what {@link checkedRequest} throws; `too_large` for a request that has more bytes as JSON than
 * a service takes.
 */
export function checkRequest<T>(given: T): T {
  const max = LIMITS.body_bytes;
  const { request, bytes } = checkedRequest(given);
  // The bound is far above the size, but few requests reach it, so few are written as JSON to be measured.
  if (bytes > max && Buffer.byteLength(JSON.stringify(request)) > max) {
    throw new CosiftError('too_large', `the body is larger than ${max} bytes`, { fields: { max } });
  }
  return request;
}
