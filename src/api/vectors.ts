import { CosiftError } from '../errors.js';
import type { NewRecord, SearchRequest } from '../schema/index.js';

/** Returns the record with its vector, if any, as an array: JSON would write a typed array as an object. */
export function recordWithArrayVector(record: NewRecord): NewRecord {
  return record.vector ? { ...record, vector: Array.from(record.vector) } : record;
}

/**
 * Returns the request with its vector, if any, as an array. The schema checks everything but NaN and Infinity, which
 * JSON cannot represent.
 *
 * @throws {CosiftError} `invalid_request` for a number that is not finite.
 */
export function requestWithArrayVector(request: SearchRequest): SearchRequest {
  // A program in plain JavaScript may pass no request: the schema reports it.
  const vector: unknown = (request as SearchRequest | undefined)?.search?.vector;
  if (!Array.isArray(vector) && !ArrayBuffer.isView(vector)) return request;
  const values: number[] = Array.from(vector as Float32Array);
  const at = values.findIndex((value) => typeof value === 'number' && !Number.isFinite(value));
  if (at >= 0) {
    const pointer = `/search/vector/${at}`;
    const detail = `is ${values[at]}, must be a finite number`;
    throw new CosiftError('invalid_request', `${pointer}: ${detail}`, {
      problems: [{ pointer, code: 'wrong_type', detail }],
    });
  }
  return { ...request, search: { ...request.search, vector: values } as SearchRequest['search'] };
}
