import { Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { Durations } from '../../src/server/observability/durations.js';

const METRIC = { name: 'seconds', help: 'Time by `stage`.' };
const BOUNDS = [0.001, 0.5, 10];

test('a scrape has the same lines as with a histogram of the library', async () => {
  const [own, theirs] = [new Registry(), new Registry()];
  const durations = new Durations(own, { ...METRIC, label: 'stage', bounds: BOUNDS });
  const histogram = new Histogram({ ...METRIC, labelNames: ['stage'], buckets: BOUNDS, registers: [theirs] });
  expect(await own.metrics()).toBe(await theirs.metrics());
  for (const seconds of [0, 0.001, 0.0011, 0.5, 9.99, 10, 10.01, 1e9]) {
    for (const stage of ['search', 'a "stage"']) {
      durations.observe(stage, seconds);
      histogram.observe({ stage }, seconds);
    }
  }
  expect(await own.metrics()).toBe(await theirs.metrics());
});
