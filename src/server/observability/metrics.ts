import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backend, BackendStats, PageReply } from '../../backend/backend.js';
import type { InFlight } from '../admission/in-flight.js';
import type { OperationId } from '../operations/table.js';

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** What Prometheus may read: numbers by operation, stage and database, never a key or a text. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #latency: Histogram<'operation'>;
  readonly #stages: Histogram<'stage'>;
  readonly #backend: Backend;
  /** Read once for each text, so that its numbers belong together. */
  #stats: BackendStats | undefined;

  constructor(backend: Backend, inFlight: InFlight) {
    this.#backend = backend;
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry, prefix: 'cosift_process_' });
    this.#requests = new Counter({
      name: 'cosift_http_requests_total',
      help: 'Answered requests.',
      labelNames: ['operation', 'status'],
      registers,
    });
    this.#latency = new Histogram({
      name: 'cosift_http_request_seconds',
      help: 'From the head of a request to the end of its answer.',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    });
    this.#stages = new Histogram({
      name: 'cosift_search_stage_seconds',
      help: 'Time in one stage of a search or query.',
      labelNames: ['stage'],
      buckets: SECONDS,
      registers,
    });
    new Gauge({
      name: 'cosift_in_flight',
      help: 'Calls under way.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, count] of Object.entries(inFlight.counts())) this.set({ kind }, count);
      },
    });
    new Gauge({
      name: 'cosift_in_flight_bytes',
      help: 'Bytes that requests hold: bodies, and responses that are not sent yet.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, bytes] of Object.entries(inFlight.bytes())) this.set({ kind }, bytes);
      },
    });
    addBackendMetrics(registers, () => this.#stats);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  observeRequest(operation: OperationId | 'unknown', status: number, seconds: number): void {
    this.#requests.inc({ operation, status });
    this.#latency.observe({ operation }, seconds);
  }

  observePage({ embedMs, searchMs, totalMs }: PageReply['timings']): void {
    if (embedMs > 0) this.#stages.observe({ stage: 'embed' }, embedMs / 1000);
    this.#stages.observe({ stage: 'search' }, searchMs / 1000);
    this.#stages.observe({ stage: 'total' }, totalMs / 1000);
  }

  /** Everything; for a key of some databases only what is told of each of these. */
  async text(databases: ReadonlySet<string> | undefined): Promise<string> {
    this.#stats = await this.#backend.stats();
    const text = await this.#registry.metrics();
    return databases === undefined ? text : ofDatabases(text, databases);
  }
}

/** The metrics that have a label `database`, with the values of these databases. */
function ofDatabases(text: string, databases: ReadonlySet<string>): string {
  const metrics = text.split(/^(?=# HELP )/m).map((metric) => {
    const lines = metric.split('\n');
    const values = lines.filter((line) => {
      const [, database] = /^\w+\{(?:[^}]*,)?database="([^"]*)"/.exec(line) ?? [];
      return database !== undefined && databases.has(database);
    });
    return values.length === 0 ? [] : [...lines.filter((line) => line.startsWith('#')), ...values, ''];
  });
  return metrics.flat().join('\n');
}

/** The facts of the backend that the text being made shows. */
type ReadStats = () => BackendStats | undefined;

function addBackendMetrics(registers: Registry[], stats: ReadStats): void {
  type Value = (stats: BackendStats) => number | undefined;
  const now = (name: string, help: string, value: Value) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const current = stats();
        this.set((current && value(current)) ?? 0);
      },
    });
  const sum = (name: string, help: string, value: Value) =>
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        const current = stats();
        this.inc((current && value(current)) ?? 0);
      },
    });
  now('cosift_scan_queue_length', 'Searches that wait for a pass.', ({ searches }) => searches.waiting);
  now('cosift_scan_passes', 'Passes over a database under way.', ({ searches }) => searches.running);
  sum('cosift_scans_total', 'Searches scanned.', ({ searches }) => searches.answered);
  sum(
    'cosift_scan_bytes_total',
    'Bytes of codes that scans went through.',
    ({ searches }) => searches.bytesRead,
  );
  now('cosift_commit_queue_length', 'Writes that wait for the store.', ({ commits }) => commits.waiting);
  sum('cosift_commits_total', 'Transactions made durable.', ({ commits }) => commits.count);
  sum('cosift_commit_seconds_total', 'Time in them.', ({ commits }) => commits.totalMs / 1000);
  now('cosift_embedder_queue_length', 'Texts that wait for the model.', ({ embedder }) => embedder?.queued);
  now('cosift_embedder_running', 'Texts in the model.', ({ embedder }) => embedder?.running);
  sum('cosift_embedder_cache_hits_total', 'Query vectors at hand.', ({ embedder }) => embedder?.cacheHits);
  sum('cosift_embedder_cache_misses_total', 'Query vectors made.', ({ embedder }) => embedder?.cacheMisses);
  sum('cosift_embedder_inferences_total', 'Texts embedded.', ({ embedder }) => embedder?.inferences);
  sum(
    'cosift_embedder_seconds_total',
    'Time in the model.',
    ({ embedder }) => embedder && embedder.totalMs / 1000,
  );
  addDatabaseMetrics(registers, stats);
}

function addDatabaseMetrics(registers: Registry[], stats: ReadStats): void {
  const ofEach = (
    name: string,
    help: string,
    value: (database: BackendStats['databases'][number]) => number | undefined,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['database'],
      registers,
      collect() {
        // A database that was dropped must not stay, nor what it no longer has.
        this.reset();
        for (const database of stats()?.databases ?? []) {
          const now = value(database);
          if (now !== undefined) this.set({ database: database.id }, now);
        }
      },
    });
  ofEach('cosift_database_loaded', '1 while it is served, 0 while it is not.', ({ loaded }) =>
    Number(loaded),
  );
  ofEach(
    'cosift_database_writable',
    '1 while it takes writes, 0 after a failed sync or a panic until the next start.',
    ({ writable }) => Number(writable),
  );
  ofEach('cosift_database_records', 'Records.', ({ records }) => records);
  ofEach('cosift_database_memory_bytes', 'Bytes held in memory.', ({ memoryBytes }) => memoryBytes);
  ofEach('cosift_database_disk_bytes', 'Bytes on disk.', ({ diskBytes }) => diskBytes);
  ofEach(
    'cosift_reembedding_records',
    'Records of a database that is being embedded with another model.',
    ({ reembedding }) => reembedding?.records,
  );
  ofEach(
    'cosift_reembedding_records_done',
    'Those that have their new vector.',
    ({ reembedding }) => reembedding?.done,
  );
}
