import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Backend, PageReply } from '../backend/backend.js';
import type { InFlight } from './in-flight.js';
import type { OperationId } from './operations.js';

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** What Prometheus may read: numbers by operation, stage and database, never a key or a text. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #latency: Histogram<'operation'>;
  readonly #stages: Histogram<'stage'>;

  constructor(backend: Backend, inFlight: InFlight) {
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
    addBackendMetrics(registers, backend);
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

  text(): Promise<string> {
    return this.#registry.metrics();
  }
}

function addBackendMetrics(registers: Registry[], backend: Backend): void {
  const byDatabase = (name: string, help: string, fact: string, scale = 1) =>
    new Gauge({
      name,
      help,
      labelNames: ['database'],
      registers,
      collect() {
        this.reset();
        for (const database of backend.stats().databases) {
          const value = database[fact];
          if (typeof value === 'number') this.set({ database: database.id }, value * scale);
        }
      },
    });
  byDatabase('cosift_database_records', 'Records.', 'records');
  byDatabase('cosift_database_memory_bytes', 'Bytes held in memory.', 'memory_bytes');
  byDatabase('cosift_database_disk_bytes', 'Bytes on disk.', 'disk_bytes');
  byDatabase('cosift_database_queue_length', 'Scans that wait.', 'queue');
  byDatabase('cosift_database_scans_total', 'Scans since the start.', 'scans');
  byDatabase('cosift_database_scan_bytes_total', 'Bytes read by scans since the start.', 'scan_bytes');
  byDatabase('cosift_database_commits_total', 'Commits since the start.', 'commits');
  byDatabase('cosift_database_commit_seconds_total', 'Time in commits since the start.', 'commit_ms', 0.001);

  type Embedder = NonNullable<ReturnType<Backend['stats']>['embedder']>;
  const ofEmbedder = (name: string, help: string, fact: keyof Embedder, scale = 1) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set((backend.stats().embedder?.[fact] ?? 0) * scale);
      },
    });
  ofEmbedder('cosift_embedder_queued', 'Texts that wait for the model.', 'queued');
  ofEmbedder('cosift_embedder_running', 'Texts in the model.', 'running');
  ofEmbedder('cosift_embedder_cache_hits_total', 'Query vectors that were kept.', 'cacheHits');
  ofEmbedder('cosift_embedder_cache_misses_total', 'Query vectors that were not kept.', 'cacheMisses');
  ofEmbedder('cosift_embedder_inferences_total', 'Texts embedded.', 'inferences');
  ofEmbedder('cosift_embedder_seconds_total', 'Time in the model.', 'totalMs', 0.001);
}
