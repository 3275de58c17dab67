/** Steps in a relevance score of 1. */
const STEPS = 1_000_000_000n;

/** A step of a component of a unit vector. */
const STEP = 2 ** -30;

/** Steps below 1 that count as 1, so that a copy of a vector reaches a threshold of 1. */
const ROUNDING_STEPS = 64n;

/**
 * The published rule of the relevance score, in integers: components of unit vectors in steps of 2^-30, their dot
 * product in steps of 1e-9, clamped to 0..1.
 */
export function relevanceScore(query: readonly number[], record: readonly number[]): number {
  const [a, b] = [unit(query), unit(record)];
  const dot = a.reduce((sum, component, at) => sum + component * b[at]!, 0n);
  const steps = (dot * STEPS + (1n << 59n)) >> 60n;
  if (steps >= STEPS - ROUNDING_STEPS) return 1;
  return steps <= 0n ? 0 : Number(steps) / 1e9;
}

/** The rule of the query of examples: the direction of 2p - n, or of p without negative examples. */
export function exampleVector(
  positive: readonly (readonly number[])[],
  negative: readonly (readonly number[])[],
): number[] {
  const [p, n] = [BigInt(positive.length), BigInt(negative.length)];
  const weighted = [
    ...positive.map((vector) => ({ steps: unit(vector), weight: n === 0n ? 1n : 2n * n })),
    ...negative.map((vector) => ({ steps: unit(vector), weight: -p })),
  ];
  return (positive[0] ?? []).map(
    (_, at) => Number(weighted.reduce((sum, { steps, weight }) => sum + weight * steps[at]!, 0n)) * STEP,
  );
}

/** Components of the unit vector in steps of 2^-30; halves are rounded away from zero. A unit vector of whole steps stays. */
function unit(vector: readonly number[]): bigint[] {
  let squares = 0;
  for (const component of vector) squares += component * component;
  const isWhole = vector.every((component) => Number.isInteger(component / STEP));
  if (isWhole && Math.abs(Math.sqrt(squares) - 1) <= (Math.sqrt(vector.length) / 2) * STEP) {
    return vector.map((component) => BigInt(component / STEP));
  }
  const scale = 2 ** 30 / Math.sqrt(squares);
  return vector.map((component) => {
    const scaled = component * scale;
    const magnitude = Math.abs(scaled);
    const whole = Math.floor(magnitude);
    const rounded = magnitude - whole >= 0.5 ? whole + 1 : whole;
    return BigInt(scaled < 0 ? -rounded : rounded);
  });
}
