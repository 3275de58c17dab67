import { LRUCache } from 'lru-cache';

/** Memory of an entry in addition to its characters and values: a map entry and two object headers. */
const ENTRY_BYTES = 200;

export type VectorCache = LRUCache<string, Float32Array>;

/** Vectors of past queries by text, `maxBytes` in all. The least recently used are evicted first. */
export function createVectorCache(maxBytes: number): VectorCache {
  return new LRUCache({
    // 0 would mean no limit. No entry fits into one byte.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: (vector, text) => 2 * text.length + vector.byteLength + ENTRY_BYTES,
  });
}
