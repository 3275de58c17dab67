import { Random } from './random.js';

/** Parameters of the distribution of vectors, fitted to 63,666 MiniLM vectors of descriptions (bench/README.md). */
export interface Shape {
  readonly dimensions: number;
  readonly seed: number;
  /** Number of cluster centres. */
  readonly centres: number;
  /** The variance of principal component j is proportional to (1 + j / knee)^-decay. */
  readonly knee: number;
  readonly decay: number;
  /** Shares of a vector's squared length: of the common mean, and of the cluster centre. The rest is individual. */
  readonly mean: number;
  readonly centre: number;
}

/** The parameters of all suites. The number of clusters grows with the records, so that their size stays as fitted. */
export function shapeOf(size: { records: number; dimensions: number; seed: number }): Shape {
  const { records, dimensions, seed } = size;
  const centres = Math.max(100, Math.round(records / 42));
  return { dimensions, seed, centres, knee: (45 * dimensions) / 384, decay: 2.2, mean: 0.08, centre: 0.55 };
}

/**
 * Makes clustered unit vectors with a decaying spectrum, in one fixed order.
 *
 * The principal directions are a random orthonormal basis, as in a real model, so that single components reveal
 * nothing about the spectrum. Vectors have `dimensions` f32 components and length 1 within f32 rounding.
 */
export class VectorSource {
  readonly #shape: Shape;
  readonly #random: Random;
  readonly #deviations: Float64Array;
  readonly #mean: Float64Array;
  readonly #centres: Float64Array;
  readonly #basis: HiddenBasis;

  constructor(shape: Shape) {
    const { dimensions, centres } = shape;
    this.#shape = shape;
    this.#random = new Random(shape.seed);
    const variances = Float64Array.from(
      { length: dimensions },
      (_, j) => (1 + j / shape.knee) ** -shape.decay,
    );
    const total = variances.reduce((sum, value) => sum + value, 0);
    this.#deviations = variances.map((value) => Math.sqrt(value / total));
    this.#basis = new HiddenBasis(dimensions, this.#random);
    this.#mean = this.#draw(new Float64Array(dimensions));
    normalise(this.#mean);
    this.#centres = new Float64Array(centres * dimensions);
    for (let c = 0; c < centres; c++)
      this.#draw(this.#centres.subarray(c * dimensions, (c + 1) * dimensions));
  }

  /** Writes the next vector into `out`. */
  record(out: Float32Array): void {
    const { mean, centre } = this.#shape;
    this.#mix(out, mean, centre);
  }

  /** Writes a query vector into `out`. It is farther from its cluster centre than a record, and belongs to no record. */
  query(out: Float32Array): void {
    const { mean, centre } = this.#shape;
    this.#mix(out, mean, centre * 1.1);
  }

  #mix(out: Float32Array, meanShare: number, centreShare: number): void {
    const { dimensions, centres } = this.#shape;
    const random = this.#random;
    // Cluster sizes decrease smoothly. The largest cluster has about three times the mean size.
    const cluster = Math.floor(centres * random.unit() ** 1.5);
    const mixed = new Float64Array(dimensions);
    const [m, c, own] = [
      Math.sqrt(meanShare),
      Math.sqrt(centreShare),
      Math.sqrt(1 - meanShare - centreShare),
    ];
    for (let j = 0; j < dimensions; j++) {
      mixed[j] =
        m * (this.#mean[j] as number) +
        c * (this.#centres[cluster * dimensions + j] as number) +
        own * (this.#deviations[j] as number) * random.normal();
    }
    normalise(mixed);
    this.#basis.turn(mixed, out);
  }

  #draw(out: Float64Array): Float64Array {
    for (let j = 0; j < out.length; j++) out[j] = (this.#deviations[j] as number) * this.#random.normal();
    return out;
  }
}

/** An orthonormal basis that takes n log n to apply: twice signs, a Hadamard transform of each part, a permutation. */
class HiddenBasis {
  readonly #part: number;
  readonly #signs: Int8Array[];
  readonly #order: Uint16Array;
  readonly #turned: Float64Array;

  constructor(dimensions: number, random: Random) {
    this.#part = dimensions & -dimensions;
    this.#signs = [0, 1].map(() => Int8Array.from({ length: dimensions }, () => (random.bits() & 1) * 2 - 1));
    this.#order = Uint16Array.from({ length: dimensions }, (_, j) => j);
    for (let j = dimensions - 1; j > 0; j--) {
      const other = random.below(j + 1);
      const kept = this.#order[j] as number;
      this.#order[j] = this.#order[other] as number;
      this.#order[other] = kept;
    }
    this.#turned = new Float64Array(dimensions);
  }

  turn(from: Float64Array, to: Float32Array): void {
    this.#pass(from, this.#signs[0] as Int8Array);
    for (let j = 0; j < from.length; j++) this.#turned[j] = from[this.#order[j] as number] as number;
    this.#pass(this.#turned, this.#signs[1] as Int8Array);
    to.set(this.#turned);
  }

  #pass(values: Float64Array, signs: Int8Array): void {
    const part = this.#part;
    const scale = 1 / Math.sqrt(part);
    for (let j = 0; j < values.length; j++) values[j] = (values[j] as number) * (signs[j] as number) * scale;
    for (let start = 0; start < values.length; start += part) {
      for (let half = 1; half < part; half *= 2) {
        for (let i = start; i < start + part; i += 2 * half) {
          for (let j = i; j < i + half; j++) {
            const a = values[j] as number;
            const b = values[j + half] as number;
            values[j] = a + b;
            values[j + half] = a - b;
          }
        }
      }
    }
  }
}

function normalise(values: Float64Array): void {
  let square = 0;
  for (const value of values) square += value * value;
  const scale = 1 / Math.sqrt(square);
  for (let j = 0; j < values.length; j++) values[j] = (values[j] as number) * scale;
}
