import type { Measurement } from './measurement.js';
import { type Axis, type Chart, drawChart, type Series } from './svg.js';

/** The charts for which there are measurements, by file name. */
export function chartsOf(all: readonly Measurement[], ours: ReadonlySet<string>): Map<string, string> {
  const charts = new Map<string, Chart>();
  const add = (file: string, title: string, x: Axis, y: Axis, series: Series[]) => {
    if (series.some(({ points }) => points.length > 0)) charts.set(file, { title, x, y, series });
  };
  const bySystem = (
    rows: readonly Measurement[],
    x: (row: Measurement) => number | undefined,
    y: (row: Measurement) => number | undefined,
  ) =>
    [...new Set(rows.map(({ system }) => system))].map((name) => ({
      name,
      ours: ours.has(name),
      points: rows
        .filter(({ system }) => system === name)
        .flatMap((row): [number, number][] => {
          const [px, py] = [x(row), y(row)];
          return px !== undefined && py !== undefined && px > 0 && py > 0 ? [[px, py]] : [];
        })
        .toSorted((a, b) => a[0] - b[0]),
    }));

  const peers = all.filter(({ suite, data }) => suite === 'peers' && data === undefined);
  const unfiltered = peers.filter(({ cell }) => cell === 'none');
  add(
    'latency-by-size.svg',
    'One query, one thread, no filter, limit 50',
    { label: 'records', log: true },
    { label: 'p50, ms', log: true },
    bySystem(
      unfiltered,
      (row) => row.records,
      (row) => row.values.p50_ms,
    ),
  );
  const largest = Math.max(0, ...unfiltered.map((row) => row.records ?? 0));
  add(
    'recall-against-qps.svg',
    `Recall against queries a second, one client, ${largest.toLocaleString('en')} records`,
    { label: 'queries a second', log: true },
    { label: 'recall at 50' },
    bySystem(
      unfiltered.filter(({ records }) => records === largest),
      (row) => (row.values.p50_ms === undefined ? undefined : 1_000 / row.values.p50_ms),
      (row) => row.values.recall,
    ).map((series) => ({ ...series, loose: true })),
  );
  const clients = all.filter(({ suite, data }) => suite === 'clients' && data === undefined);
  const crowded = Math.max(0, ...clients.map((row) => row.records ?? 0));
  add(
    'throughput-by-clients.svg',
    `Queries a second by clients, all cores, ${crowded.toLocaleString('en')} records`,
    { label: 'clients', log: true },
    { label: 'queries a second', log: true },
    bySystem(
      clients.filter(({ records }) => records === crowded),
      (row) => row.clients,
      (row) => row.values.per_second,
    ),
  );
  const sweep = all.filter(
    ({ suite, data, selectivity }) => suite === 'filters' && data === undefined && selectivity !== undefined,
  );
  const swept = Math.max(0, ...sweep.map((row) => row.records ?? 0));
  add(
    'latency-by-selectivity.svg',
    `p50 by what a filter keeps, one thread, ${swept.toLocaleString('en')} records`,
    { label: 'share of the records kept', log: true },
    { label: 'p50, ms', log: true },
    bySystem(
      sweep.filter(({ records }) => records === swept),
      (row) => row.selectivity,
      (row) => row.values.p50_ms,
    ),
  );
  return new Map([...charts].map(([file, chart]) => [file, drawChart(chart)]));
}
