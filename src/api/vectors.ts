import type { MapRequest, Search } from '../schema/public-types.js';

/** Returns the request with its vector, if any, as an array: JSON would write a typed array as an object. */
export function requestWithArrayVector<Request extends Pick<MapRequest, 'search'>>(
  request: Request,
): Request {
  // A program in plain JavaScript may pass no request: the schema reports it.
  const vector: unknown = (request as Request | undefined)?.search?.vector;
  if (!ArrayBuffer.isView(vector)) return request;
  return { ...request, search: { ...request.search, vector: valuesOf(vector) } as Search };
}

/** Returns the values of a typed array. A view of memory that was transferred to another thread has none. */
export function valuesOf(view: ArrayBufferView): number[] {
  const values = view as Float32Array;
  // Such a view cannot be iterated.
  return values.length === 0 ? [] : Array.from(values);
}
