import type { SearchResult } from './bench-target.js';

/** Quantiles by nearest rank. */
export interface Quantiles {
  p50: number;
  p95: number;
  p99: number;
}

export interface Measurement {
  searches: number;
  per_second: number;
  /** From the call to the parsed page. */
  latency_ms: Quantiles;
  /** The part of the engine; null when the server does not tell it. */
  engine_ms: Quantiles | null;
  /** The part of the model; null when the server does not tell it. */
  embedding_ms: Quantiles | null;
}

/** Runs searches for some seconds, at least one, with `concurrency` of them at the same time. `ask` gets their number, from 0. */
export async function measure(
  ask: (turn: number) => Promise<SearchResult>,
  { concurrency, seconds, signal }: { concurrency: number; seconds: number; signal: AbortSignal },
): Promise<Measurement> {
  const [latencies, engine, embedding]: number[][] = [[], [], []];
  const begin = performance.now();
  let turn = 0;
  let failed = false;
  const client = async () => {
    do {
      const start = performance.now();
      const answer = await ask(turn++).catch((error: unknown) => {
        failed = true;
        throw error;
      });
      latencies?.push(performance.now() - start);
      engine?.push(answer.searchMs);
      embedding?.push(answer.embedMs);
    } while (!failed && !signal.aborted && performance.now() < begin + seconds * 1000);
  };
  await Promise.all(Array.from({ length: concurrency }, client));
  signal.throwIfAborted();
  const elapsed = performance.now() - begin;
  return {
    searches: turn,
    per_second: Number(((turn * 1000) / elapsed).toFixed(1)),
    latency_ms: quantiles(latencies ?? []) as Quantiles,
    engine_ms: quantiles(engine ?? []),
    embedding_ms: quantiles(embedding ?? []),
  };
}

function quantiles(values: readonly number[]): Quantiles | null {
  if (values.some(Number.isNaN)) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Number((sorted[Math.ceil(share * sorted.length) - 1] ?? 0).toFixed(3));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
