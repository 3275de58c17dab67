import type { MapRequest, Search } from '../schema/public-types.js';

/** Returns the request with its vector, if any, as an array: JSON would write a typed array as an object. */
export function requestWithArrayVector<Request extends Pick<MapRequest, 'search'>>(
  request: Request,
): Request {
  // A program in plain JavaScript may pass no request: the schema reports it.
  const vector: unknown = (request as Request | undefined)?.search?.vector;
  if (!ArrayBuffer.isView(vector)) return request;
  const values = Array.from(vector as Float32Array);
  return { ...request, search: { ...request.search, vector: values } as Search };
}
