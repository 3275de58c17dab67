import { unlessAborted } from '../async/until-aborted.js';
import { CosiftError, isCode } from '../errors.js';
import type { Embedded, SplitRequest, TextKind } from './job.js';
import type { Executor } from './scheduler.js';

/** Embeds texts outside of cosift. Its result is checked. */
export type EmbedExternally = (
  texts: readonly string[],
  kind: TextKind,
  signal: AbortSignal,
) => Promise<unknown>;

/** Embeds with code that is not part of cosift: an endpoint, or a function of the program. */
export class ExternalExecutor implements Executor {
  // Texts of one request take turns with those of others, and small services take no more texts than this.
  readonly sliceSize = { texts: 32, characters: 32_000 };
  readonly concurrency = 4;
  readonly #model: string;
  readonly #dimensions: number;
  readonly #embed: EmbedExternally;

  constructor(model: string, dimensions: number, embed: EmbedExternally) {
    this.#model = model;
    this.#dimensions = dimensions;
    this.#embed = embed;
  }

  async run(
    kind: TextKind,
    texts: readonly string[],
    signal: AbortSignal,
    split?: SplitRequest,
  ): Promise<Embedded> {
    const vectors = new Float32Array(texts.length * this.#dimensions);
    // The model gets whole texts, because its window is not known.
    if (split?.onlySplits) return { vectors, splits: [] };
    // A blank record has a vector of zeros, as with other models; many services refuse blank texts.
    const positions = [...texts.keys()].filter((at) => kind === 'query' || texts[at]!.trim() !== '');
    if (positions.length === 0) return { vectors, splits: [] };
    const made = this.#embed(
      positions.map((at) => texts[at]!),
      kind,
      signal,
    );
    try {
      const units = unitVectors(await unlessAborted(made, signal), positions.length, this.#dimensions);
      for (const [index, at] of positions.entries()) vectors.set(units[index]!, at * this.#dimensions);
    } catch (error) {
      throw modelFailure(this.#model, error);
    }
    return { vectors, splits: [] };
  }

  async close(): Promise<void> {}
}

/** Returns the error of a call whose texts the model could not embed. */
export function modelFailure(model: string, error: unknown): CosiftError {
  if (isCode(error, 'invalid_request')) {
    // The request caused it, so a service sends this detail to its callers, who must not see addresses.
    const detail = `model "${model}" refuses the texts; one of them may be longer than it takes`;
    return new CosiftError('invalid_request', detail, { cause: error });
  }
  const message = error instanceof Error ? error.message : String(error);
  const detail = `model "${model}" cannot embed the texts: ${message}`;
  return new CosiftError('model_unavailable', detail, { cause: error });
}

/**
 * Returns the vectors with length 1.
 *
 * Throws an Error unless `vectors` are `count` vectors of `dimensions` finite numbers, not all of them 0.
 */
export function unitVectors(vectors: unknown, count: number, dimensions: number): Float32Array[] {
  if (!Array.isArray(vectors)) throw new Error('its result is no array of vectors');
  if (vectors.length !== count) throw new Error(`it made ${vectors.length} vectors of ${count} texts`);
  return vectors.map((vector: unknown, index) => {
    const { length } = Object(vector) as ArrayLike<unknown>;
    if (length !== dimensions) {
      const found = length === undefined ? 'is no array' : `has ${length} values`;
      throw new Error(`the vector of text ${index} ${found}, but the model has ${dimensions} dimensions`);
    }
    const values = Float64Array.from(vector as ArrayLike<number>, (value) =>
      typeof value === 'number' ? value : Number.NaN,
    );
    if (!values.every(Number.isFinite)) {
      throw new Error(`the vector of text ${index} has a value that is no finite number`);
    }
    const largest = values.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    if (largest === 0) throw new Error(`the vector of text ${index} has only zeros`);
    // The length of a vector of large values may be beyond the range of numbers.
    const scaled = values.map((value) => value / largest);
    const norm = Math.hypot(...scaled);
    return Float32Array.from(scaled, (value) => value / norm);
  });
}
