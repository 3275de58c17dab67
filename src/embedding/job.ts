/** What texts are embedded for: searches or records. */
export type Kind = 'query' | 'passage';

/** Who asks. Callers take turns, and so do the calls of one caller, so that none waits for all texts of another. */
export interface Origin {
  /** The same for all calls that share one turn, such as those of one key. */
  caller: string;
  /** The same for all texts of one call. */
  call: object;
}

/** Vectors of consecutive texts. */
export interface Embedded {
  /** One after the other. */
  vectors: Float32Array;
  /** How many of the texts have more tokens than the model takes, so that only their beginning was embedded. */
  truncated: number;
}

/** Texts of one call, from the moment they are queued until the last has its vector. */
export class Job {
  readonly kind: Kind;
  readonly texts: readonly string[];
  readonly origin: Origin;
  readonly embedded: Promise<Embedded>;
  readonly #dimensions: number;
  readonly #out: Float32Array;
  #resolve!: (embedded: Embedded) => void;
  #reject!: (reason: unknown) => void;
  #unfinished: number;
  #truncated = 0;
  /** The first text that no worker has begun. */
  next = 0;

  constructor(kind: Kind, texts: readonly string[], origin: Origin, dimensions: number) {
    this.kind = kind;
    this.texts = texts;
    this.origin = origin;
    this.#dimensions = dimensions;
    this.#unfinished = texts.length;
    this.#out = new Float32Array(texts.length * dimensions);
    this.embedded = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get waiting(): number {
    return this.texts.length - this.next;
  }

  /** Takes the vectors of the texts from `start` on. */
  finish(start: number, { vectors, truncated }: Embedded): void {
    this.#out.set(vectors, start * this.#dimensions);
    this.#truncated += truncated;
    this.#unfinished -= vectors.length / this.#dimensions;
    if (this.#unfinished === 0) {
      this.#resolve({ vectors: this.#out, truncated: this.#truncated });
    }
  }

  fail(reason: unknown): void {
    this.#reject(reason);
  }
}
