import { LRUCache } from 'lru-cache';

/** Memory of an entry in addition to its characters and values: a map entry and two object headers. */
const ENTRY_BYTES = 200;

// The types of the library lead to this one: with a type of `lru-cache`, programs would need the types of Node.
/** Vectors of past queries by text. */
export interface VectorCache {
  get(text: string): Float32Array | undefined;
  set(text: string, vector: Float32Array): void;
}

/** A cache of `maxBytes` in all. The least recently used vectors are evicted first. */
export function createVectorCache(maxBytes: number): VectorCache {
  return new LRUCache<string, Float32Array>({
    // 0 would mean no limit. No entry fits into one byte.
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: (vector, text) => 2 * text.length + vector.byteLength + ENTRY_BYTES,
  });
}
