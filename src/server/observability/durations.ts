import type { Histogram, Registry } from 'prom-client';

interface Counts {
  /** The number of durations of each bucket, and of those above all bounds. */
  buckets: number[];
  sum: number;
}

interface DurationsOptions<Label extends string> {
  name: string;
  help: string;
  label: Label;
  /** Upper bounds of the buckets in seconds, ascending. */
  bounds: readonly number[];
}

/**
 * A histogram of durations with one label. The histograms of `prom-client` hash their labels with each value, which takes
 * several times as long as to count it.
 */
export class Durations<Label extends string> {
  readonly name: string;
  readonly #options: DurationsOptions<Label>;
  readonly #counts = new Map<string, Counts>();

  constructor(registry: Registry, options: DurationsOptions<Label>) {
    this.name = options.name;
    this.#options = options;
    // The method `metrics` of the registry uses only `name` and `get`.
    registry.registerMetric(this as unknown as Histogram);
  }

  observe(label: string, seconds: number): void {
    const { bounds } = this.#options;
    let counts = this.#counts.get(label);
    if (counts === undefined) {
      counts = { buckets: new Array(bounds.length + 1).fill(0), sum: 0 };
      this.#counts.set(label, counts);
    }
    let bucket = 0;
    while (seconds > (bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
    counts.buckets[bucket] = (counts.buckets[bucket] ?? 0) + 1;
    counts.sum += seconds;
  }

  /** The values as the histograms of `prom-client` return them. */
  async get() {
    const { name, help, label } = this.#options;
    const values = [...this.#counts].flatMap(([value, counts]) => this.#values({ [label]: value }, counts));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }

  #values(labels: Record<string, string>, { buckets, sum }: Counts) {
    const { name, bounds } = this.#options;
    let count = 0;
    const cumulative = buckets.map((inBucket, i) => {
      count += inBucket;
      return { metricName: `${name}_bucket`, labels: { le: bounds[i] ?? '+Inf', ...labels }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
