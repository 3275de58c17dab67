// The definition of the score (docs/explanation/scores.md) and of the order, written a second time: slow, simple, and
// without a line of the engine.

const COMPONENT_STEPS = 2 ** 30;
const SCORE_STEPS = 1_000_000_000;
/** Scores at most this many steps below 1 are rounded to 1. */
const ROUNDING_STEPS = 64;
/** The components of a query are split here, so that all products and sums are integers below 2^53. */
const LOW = 2 ** 15;

export interface Hit {
  id: number;
  /** In steps of 1e-9. */
  score: number;
}

/** One query, which is compared with all records. */
export class BruteForce {
  readonly #high: Float64Array;
  readonly #low: Float64Array;
  readonly #minScore: number;
  readonly #limit: number;
  #hits: Hit[] = [];

  constructor(query: ArrayLike<number>, { threshold, limit }: { threshold: number; limit: number }) {
    const unit = toUnit(query);
    this.#high = unit.map((component) => Math.floor(component / LOW));
    this.#low = unit.map((component, at) => component - (this.#high[at] as number) * LOW);
    this.#minScore = threshold;
    this.#limit = limit;
  }

  /** Adds a record whose vector has components in steps of 2^-30, as an export has them. */
  add(id: number, unit: Float64Array): void {
    const score = this.#score(unit);
    if (score / SCORE_STEPS < this.#minScore) return;
    this.#hits.push({ id, score });
    if (this.#hits.length >= 10 * this.#limit) this.#hits = this.page();
  }

  page(): Hit[] {
    return this.#hits.toSorted((a, b) => b.score - a.score || a.id - b.id).slice(0, this.#limit);
  }

  #score(unit: Float64Array): number {
    let [high, low] = [0, 0];
    for (let at = 0; at < unit.length; at++) {
      high += (unit[at] as number) * (this.#high[at] as number);
      low += (unit[at] as number) * (this.#low[at] as number);
    }
    const dot = BigInt(high) * BigInt(LOW) + BigInt(low);
    const steps = Number((dot * BigInt(SCORE_STEPS) + (1n << 59n)) >> 60n);
    return steps >= SCORE_STEPS - ROUNDING_STEPS ? SCORE_STEPS : Math.max(0, steps);
  }
}

/** Returns the components of an exported vector in steps of 2^-30. Multiplying by a power of 2 is exact. */
export function stepsOf(vector: readonly number[]): Float64Array {
  return Float64Array.from(vector, (component) => component * COMPONENT_STEPS);
}

/** Scales a vector to length 1 and rounds its components to steps of 2^-30. A vector in this form stays as it is. */
function toUnit(vector: ArrayLike<number>): Float64Array {
  const components = Float64Array.from(vector);
  const steps = components.map((component) => component * COMPONENT_STEPS);
  if (isUnit(steps)) return steps;
  const scale = COMPONENT_STEPS / Math.sqrt(components.reduce((sum, component) => sum + component ** 2, 0));
  return components.map((component) => roundHalfAway(component * scale));
}

function isUnit(steps: Float64Array): boolean {
  if (!steps.every((step) => Number.isInteger(step) && Math.abs(step) <= COMPONENT_STEPS)) return false;
  let squares = 0n;
  for (const step of steps) squares += BigInt(step) ** 2n;
  return Math.abs(Math.sqrt(Number(squares)) - COMPONENT_STEPS) <= Math.sqrt(steps.length) / 2 + 1e-3;
}

/** Rounds halves away from 0, unlike `Math.round`. */
function roundHalfAway(value: number): number {
  const whole = Math.trunc(value);
  return Math.abs(value - whole) < 0.5 ? whole : whole + Math.sign(value);
}
