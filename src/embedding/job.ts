import type { PassageSettings, TextLine } from '../api/text-line.js';
import type { Split } from './join-passages.js';

/** The purpose of a text: a search or a record. Models may have a different prompt for each. */
export type TextKind = 'query' | 'passage';

/** Where texts come from. Callers take turns, and so do the calls of one caller: no call waits for all others. */
export interface Origin {
  caller: string;
  /** The same object for all texts of one call. */
  call: object;
}

/** How long texts are split. */
export interface SplitRequest {
  /** The values of columns in a text, by its number. */
  lines(text: number): TextLine[];
  passages: PassageSettings;
  /** Whether the passages of texts are only counted, and no text is embedded. Default: false. */
  onlySplits?: boolean;
}

/** Vectors of consecutive texts. */
export interface Embedded {
  /** The values of all vectors, one vector after the other. A text that was not embedded has a vector of zeros. */
  vectors: Float32Array;
  /** The texts that are too long for one vector, in order. They were split and not embedded. */
  splits: readonly Split[];
  /** The tokens of the texts that were embedded, where the model is in this process. */
  tokens?: number;
  /** The number of the first query of which the model knows nothing. Neither it nor a later one was embedded. */
  refused?: number;
}

/** Texts of one call that are queued or being embedded. */
export class Job {
  readonly kind: TextKind;
  readonly texts: readonly string[];
  readonly origin: Origin;
  readonly split: SplitRequest | undefined;
  readonly embedded: Promise<Embedded>;
  readonly #dimensions: number;
  readonly #out: Float32Array;
  #resolve!: (embedded: Embedded) => void;
  #reject!: (reason: unknown) => void;
  #unfinished: number;
  readonly #failed = new AbortController();
  /** Index of the first text that no worker has started. */
  next = 0;

  readonly #splits: Split[] = [];
  #tokens = 0;
  #refused: number | undefined;

  constructor(
    kind: TextKind,
    texts: readonly string[],
    origin: Origin,
    dimensions: number,
    split?: SplitRequest,
  ) {
    this.kind = kind;
    this.texts = texts;
    this.origin = origin;
    this.split = split;
    this.#dimensions = dimensions;
    this.#unfinished = texts.length;
    this.#out = new Float32Array(texts.length * dimensions);
    this.embedded = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Aborted once the job has failed or was abandoned. */
  get signal(): AbortSignal {
    return this.#failed.signal;
  }

  get waiting(): number {
    return this.texts.length - this.next;
  }

  /** Stores the vectors of consecutive texts from index `start`. Resolves `embedded` after the last text. */
  finish(start: number, { vectors, splits, tokens = 0, refused }: Embedded): void {
    this.#tokens += tokens;
    // Slices may finish in any order.
    if (refused !== undefined)
      this.#refused = Math.min(start + refused, this.#refused ?? Number.POSITIVE_INFINITY);
    this.#out.set(vectors, start * this.#dimensions);
    this.#splits.push(...splits.map((split) => ({ ...split, text: start + split.text })));
    this.#unfinished -= vectors.length / this.#dimensions;
    if (this.#unfinished === 0) {
      this.#splits.sort((a, b) => a.text - b.text);
      const made = { vectors: this.#out, splits: this.#splits, tokens: this.#tokens };
      this.#resolve({ ...made, ...(this.#refused !== undefined && { refused: this.#refused }) });
    }
  }

  fail(reason: unknown): void {
    this.#reject(reason);
    this.#failed.abort(reason);
  }
}
