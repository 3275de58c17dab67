import type { DatabaseService, DatabaseStats } from '../../src/databases/index.js';
import type { InFlight } from '../../src/server/admission/in-flight.js';
import { Metrics } from '../../src/server/observability/metrics.js';
import type { FollowedSync } from '../../src/sync/followed-syncs.js';
import { code, sentence, table } from './markdown.js';

const isOfProcess = ({ name }: Metric) => /^(process|nodejs)_/.test(name);

/** The table of the metrics of the service. */
export async function metrics(): Promise<string> {
  const rows = (await scrape()).filter((metric) => !isOfProcess(metric));
  return table(
    ['metric', 'type', 'unit', 'labels', 'meaning'],
    rows.map(({ name, type, labels, help }) => [
      code(name),
      type,
      unitOf(name),
      labels.map(code).join(', '),
      sentence(help),
    ]),
  );
}

/** The table of the metrics of the Node process. Their labels depend on what the process does at the moment. */
export async function processMetrics(): Promise<string> {
  const rows = (await scrape()).filter(isOfProcess);
  return table(
    ['metric', 'type', 'meaning'],
    rows.map(({ name, type, help }) => [code(name), type, sentence(help)]),
  );
}

interface Metric {
  name: string;
  type: string;
  labels: string[];
  help: string;
}

/** By the naming convention of Prometheus, the unit is the last word before `total`. */
function unitOf(name: string): string {
  return /_(seconds|bytes)(_total)?$/.exec(name)?.[1] ?? '';
}

/** Reads a scrape in which every metric with labels has a sample. */
async function scrape(): Promise<Metric[]> {
  const stats = {
    databases: [{ id: 'facts', loaded: true, writable: true, records: 0, memoryBytes: 0, diskBytes: 0 }],
    searches: {},
    commits: {},
  };
  // Only what the metrics read.
  const databases = {
    monitor: { stats: async () => stats as unknown as DatabaseStats },
  } as unknown as DatabaseService;
  const inFlight = { counts: () => ({ reads: 0 }), bytes: () => ({ bodies: 0 }) } as unknown as InFlight;
  Object.assign(stats.databases[0] as object, { reembedding: { done: 0, records: 0 } });
  const sync = {
    database: 'facts',
    name: 'facts',
    totals: {},
    lastInStep: new Date(0).toISOString(),
    waiting: 0,
    last: { records: 0, refused: 0, withheld: 0 },
  } as unknown as FollowedSync;
  const metrics = new Metrics(databases, inFlight, { all: [sync] });
  metrics.observeRequest('livez', 200, 0);
  metrics.observePage({ embedMs: 1, searchMs: 1, totalMs: 1 });
  const text = await metrics.text('', undefined);
  return [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)\n((?:[^#\n].*\n)*)/gm)].map(
    ([, name = '', help = '', type = '', samples = '']) => ({ name, help, type, labels: labelsOf(samples) }),
  );
}

/** The names of the labels of samples, without those that Prometheus gives meaning to. */
function labelsOf(samples: string): string[] {
  const names = [...samples.matchAll(/[{,](\w+)="/g)].map(([, name]) => name as string);
  return [...new Set(names)].filter((name) => name !== 'le' && name !== 'quantile');
}
