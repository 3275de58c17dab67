import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawDotChart } from './dot-chart.js';
import type { Measurement } from './measurement.js';

/** The recorded run that the chart shows. */
export const RUN = new URL('../record/million.json', import.meta.url);
/** The chart of the README. */
export const CHART = new URL('../../docs/images/peers.svg', import.meta.url);

/** The requests of the chart: a cell of the suite `peers`, and its name. */
const REQUESTS = [
  ['none', 'no filter'],
  ['nested OR, prefix, time', 'nested filter'],
  ['none, page 20', 'page 20'],
] as const;

/** The baseline without a filter of its own is part of the bench, but no product. */
const HIDDEN = new Set(['f32 scan (native)']);

/** Draws the median times of the systems in a recorded run of the suite `peers`. */
export function drawPeers(file: URL): string {
  const run = JSON.parse(readFileSync(file, 'utf8')) as { measurements: Measurement[] };
  const peers = run.measurements.filter(({ suite, system }) => suite === 'peers' && !HIDDEN.has(system));
  const rows = [...new Set(peers.map(({ system }) => system))].map((name) => {
    const cells = REQUESTS.map(([cell]) => peers.find((row) => row.system === name && row.cell === cell));
    const recalls = cells.map((cell) => Math.round((cell?.values.recall ?? 0) * 100));
    return {
      name,
      ours: name === 'cosift',
      note: recalls.some((recall) => recall < 100) ? `recall ${recalls.join(', ')} %` : '',
      values: cells.map((cell) => cell?.values.p50_ms),
    };
  });
  const [records, dimensions] = [peers[0]?.records ?? 0, peers[0]?.dimensions ?? 0];
  return drawDotChart({
    title: `One search in ${records.toLocaleString('en')} records`,
    subtitle: `Median time on one core, ${dimensions} dimensions, page of 50; shorter is better`,
    unit: 'ms',
    marks: REQUESTS.map(([, name]) => name),
    rows,
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(CHART, drawPeers(RUN));
