/** The quantile at `share` (0..1), by nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] as number;
}

/** The median. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** p50 and p99, in milliseconds, of times in microseconds. */
export function latency(wallMicros: readonly number[]): { p50_ms: number; p99_ms: number } {
  return { p50_ms: percentile(wallMicros, 0.5) / 1_000, p99_ms: percentile(wallMicros, 0.99) / 1_000 };
}

/** The median of `a / b` over paired rounds. The two values of a pair were measured in the same turn. */
export function pairedRatio(a: readonly number[][], b: readonly number[][]): number {
  return median(a.map((round, i) => median(round) / median(b[i] ?? [])));
}
