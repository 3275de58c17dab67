// A map entry, its key's header and the array's.
const ENTRY_BYTES = 200;

/** Vectors of past queries; when their bytes pass the limit, the one unused for longest goes first. */
export class VectorCache {
  readonly #maxBytes: number;
  // In the order of last use: a map keeps that of insertion.
  readonly #vectors = new Map<string, Float32Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(text: string): Float32Array | undefined {
    const vector = this.#vectors.get(text);
    if (vector !== undefined) {
      this.#vectors.delete(text);
      this.#vectors.set(text, vector);
    }
    return vector;
  }

  /** Keeps a vector under a text that has none yet. */
  add(text: string, vector: Float32Array): void {
    this.#vectors.set(text, vector);
    this.#bytes += bytesOf(text, vector);
    for (const [oldest, old] of this.#vectors) {
      if (this.#bytes <= this.#maxBytes) {
        return;
      }
      this.#vectors.delete(oldest);
      this.#bytes -= bytesOf(oldest, old);
    }
  }
}

function bytesOf(text: string, vector: Float32Array): number {
  return 2 * text.length + vector.byteLength + ENTRY_BYTES;
}
