import type { FilterRule } from '../../schema/index.js';
import { count } from '../../schema/plain.js';
import { outputWidth } from '../output.js';
import { bytes, plural } from '../progress-bar.js';
import { table } from '../table.js';
import type { CheckResult } from './check.js';
import type { ImportRates } from './generated-database.js';
import type { Machine } from './machine.js';
import type { Measurement, Quantiles } from './measure.js';

/** What `--json` prints. */
export interface Report {
  cosift: string;
  /** The machine of this command, which may not be that of the server. */
  machine: Machine;
  /** The server; null for a directory of this machine. */
  url: string | null;
  /** null for generated records. */
  database: string | null;
  /** null when the key may not read records. */
  records: number | null;
  dimensions: number | null;
  model: string | null;
  seed: number;
  concurrency: number;
  duration_s: number;
  queries: { count: number; from: string };
  check: CheckResult;
  /** Only for generated records: a database is only read. */
  import?: ImportRates;
  /** Time to embed a text that is in no cache; only with a model. */
  embedding_ms?: Quantiles | null;
  searches: ({ filter: FilterRule | null; share?: number } & Omit<Measurement, 'embedding_ms'>)[];
}

export function printed(report: Report): string {
  const { machine, records, model, dimensions, check, searches } = report;
  const what =
    records === null
      ? `database ${report.database}, whose records the key may not read`
      : `${report.database === null ? 'generated records' : `database ${report.database}`}: ` +
        `${plural(records, 'record')}, ${dimensions} dimensions, ${model ?? 'own vectors'}`;
  const facts = [
    ['cosift', `${report.cosift}, Node ${machine.node}, ${machine.system}`],
    [
      report.url === null ? 'machine' : 'client',
      `${machine.cpu}, ${plural(machine.cores, 'core')}, ${bytes(machine.memory_bytes)}`,
    ],
    ...(report.url === null ? [] : [['server', report.url]]),
    ['searched', what],
    ['queries', `${count(report.queries.count)} ${report.queries.from}; seed ${report.seed}`],
    ['check', checked(check)],
    ...(report.import === undefined ? [] : [['import', imported(report.import)]]),
    ...(report.embedding_ms === undefined
      ? []
      : [['embedding', `${listed(report.embedding_ms)} for a text that is in no cache`]]),
  ];
  const rows = searches.map(({ filter, share, per_second, searches, latency_ms, engine_ms }) => [
    count(Math.round(per_second)),
    ...Object.values(latency_ms).map(milliseconds),
    engine_ms === null ? 'unknown' : milliseconds(engine_ms.p50),
    count(searches),
    filter === null ? 'none' : `${filterText(filter)} (${Math.round((share ?? 0) * 100)} % of the sample)`,
  ]);
  const header = ['searches/s', 'p50 ms', 'p95 ms', 'p99 ms', 'engine p50 ms', 'searches', 'filter'];
  const title = `Searches with cached query vectors, ${report.concurrency} at a time, ${report.duration_s} s each:`;
  const [first, ...others] = facts as [string[], ...string[][]];
  return [table(first, others, Number.POSITIVE_INFINITY), '', title, table(header, rows, outputWidth())].join(
    '\n',
  );
}

function checked(check: CheckResult): string {
  if ('skipped' in check) return `none: ${check.skipped}`;
  const { searches, records } = check;
  return `${plural(searches, 'page')} equal to brute force over ${plural(records, 'record')}: ids, scores, order`;
}

function imported({ embedding_per_second: embedding, with_vectors_per_second: stored }: ImportRates): string {
  return `${count(embedding)} records/s with embedding, ${count(stored)} records/s with given vectors`;
}

function listed(quantiles: Quantiles | null): string {
  if (quantiles === null) return 'unknown (the response has no server-timing)';
  const { p50, p95, p99 } = quantiles;
  return `p50 ${milliseconds(p50)} ms, p95 ${milliseconds(p95)} ms, p99 ${milliseconds(p99)} ms`;
}

function milliseconds(value: number): string {
  return value.toFixed(2);
}

function filterText(rule: FilterRule): string {
  const operator = rule.operator === 'equals' ? '=' : '<';
  return `${rule.column} ${operator} ${JSON.stringify('value' in rule ? rule.value : null)}`;
}
