import { CosiftError } from '../errors.js';
import type { NewRecord, SearchRequest } from '../schema/index.js';

/**
 * A record to upsert. Its vector, if any, may be a typed array. A column that is undefined is left out; any other value
 * that JSON cannot represent, such as NaN or a `Date`, is refused.
 */
export type RecordInput = Omit<NewRecord, 'data' | 'vector'> & {
  data: Record<string, string | number | boolean | null | undefined>;
  vector?: Float32Array | readonly number[];
};

/** A search as over HTTP; its vector, if any, may be a typed array. */
export type SearchInput = Omit<SearchRequest, 'search'> & {
  search: Omit<SearchRequest['search'], 'vector'> & { vector?: Float32Array | readonly number[] };
};

/** Returns the record with its vector, if any, as an array: JSON would write a typed array as an object. */
export function withArrayVector(record: RecordInput): RecordInput {
  return record.vector ? { ...record, vector: Array.from(record.vector) } : record;
}

/**
 * Returns the search with its vector, if any, as an array. The schema checks everything but NaN and Infinity, which JSON
 * cannot represent.
 *
 * @throws {CosiftError} `invalid_request` for a number that is not finite.
 */
export function searchWithArrayVector(request: SearchInput): SearchRequest {
  // A program in plain JavaScript may pass no request: the schema reports it.
  const vector: unknown = (request as SearchInput | undefined)?.search?.vector;
  if (!Array.isArray(vector) && !ArrayBuffer.isView(vector)) return request as SearchRequest;
  const values: number[] = Array.from(vector as Float32Array);
  const at = values.findIndex((value) => typeof value === 'number' && !Number.isFinite(value));
  if (at >= 0) {
    const pointer = `/search/vector/${at}`;
    const detail = `is ${values[at]}, must be a finite number`;
    throw new CosiftError('invalid_request', `${pointer}: ${detail}`, {
      problems: [{ pointer, code: 'wrong_type', detail }],
    });
  }
  return { ...request, search: { ...request.search, vector: values } } as SearchRequest;
}
