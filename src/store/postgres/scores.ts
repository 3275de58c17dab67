// Scores of pgvector are sums in single precision, whose order depends on the CPU. The exact score is computed by the
// engine. These bounds say how far the two are apart.

/** One step of an exact score. */
export const STEP = 1e-9;
/** The highest score in steps. */
export const MAX_STEPS = 1_000_000_000;
/** The cursor's record may have a slightly different score on this machine; see the same number in the engine. */
export const SAME_SCORE_STEPS = MAX_STEPS / 10_000;
/** Scores within so many steps of the highest one count as the highest. */
export const ROUNDING_STEPS = 64;

/**
 * The largest difference between a score of pgvector and the exact score of the same unit vectors, for at most 4,096
 * dimensions.
 *
 * Any order of summation, with fused multiplication or without, errs by at most `d * u / (1 - d * u)` times the sum of
 * the absolute products, where `u = 2^-24`. The rounding of components adds `2 * u + u^2` times that sum, which is at
 * most 1 by Cauchy-Schwarz. The last term covers the rounding to steps and the error of the norm.
 */
export function marginOf(dimensions: number): number {
  return (dimensions + 4) * 2 ** -24 + 2e-9;
}

/** The least cosine whose score is at least `threshold`, in steps. */
export function leastCosine(threshold: number): number {
  const least = threshold === MAX_STEPS ? MAX_STEPS - ROUNDING_STEPS : threshold;
  return (least - 0.5) * STEP;
}

/** The largest score, in steps, that a cosine of at most `cosine` can have. */
export function publishedSteps(cosine: number): number {
  const steps = Math.ceil(cosine / STEP);
  if (steps >= MAX_STEPS - ROUNDING_STEPS) return MAX_STEPS;
  return Math.max(steps, 0);
}

/** Whether a score of pgvector and the exact score, in steps, can belong to the same two vectors. */
export function isWithin(margin: number, single: number, exact: number): boolean {
  const slack = margin + STEP;
  if (exact === 0) return single <= slack;
  if (exact === MAX_STEPS) return single >= 1 - ROUNDING_STEPS * STEP - slack;
  return Math.abs(single - exact * STEP) <= slack;
}
