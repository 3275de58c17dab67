/** The value below which `share` (0..1) of the values lie; nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] as number;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Times of single runs, in microseconds, as p50 and p99 in milliseconds. */
export function latency(wallMicros: readonly number[]): { p50_ms: number; p99_ms: number } {
  return { p50_ms: percentile(wallMicros, 0.5) / 1_000, p99_ms: percentile(wallMicros, 0.99) / 1_000 };
}

/** The median over paired rounds of how many times `a` took of `b`; rounds of one turn ran side by side. */
export function pairedRatio(a: readonly number[][], b: readonly number[][]): number {
  return median(a.map((round, i) => median(round) / median(b[i] ?? [])));
}
