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

/** Returns the search with its vector, if any, as an array. The search is not checked. */
export function searchWithArrayVector(request: SearchInput): SearchRequest {
  // A program in plain JavaScript may pass no request: the schema reports it.
  const vector = (request as SearchInput | undefined)?.search?.vector;
  const plain = ArrayBuffer.isView(vector)
    ? { ...request, search: { ...request.search, vector: Array.from(vector as Float32Array) } }
    : request;
  return plain as SearchRequest;
}
