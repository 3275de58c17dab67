import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CHART, drawPeers, RUN } from '../../bench/report/peers-chart.js';

test('the chart of the README shows the recorded run', () => {
  expect(readFileSync(CHART, 'utf8'), 'run `npx tsx bench/report/peers-chart.ts`').toBe(drawPeers(RUN));
});
