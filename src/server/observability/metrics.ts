import { setImmediate } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { FairLimiter } from '../../async/fair-limiter.js';
import { rationed } from '../../async/rationed.js';
import type { DatabaseService, DatabaseStats, PageReply } from '../../databases/index.js';
import type { FollowedSyncs } from '../../sync/followed-syncs.js';
import type { InFlight } from '../admission/in-flight.js';
import { addMetrics } from './database-metrics.js';
import { addSyncMetrics } from './sync-metrics.js';

const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

/** Maximum number of scrapes of one key that may wait. */
const MAX_WAITING = 64;

let ofProcess: Registry | undefined;

/** The metrics of this process. Their timer and their observer never end, so all services of the process have the same. */
function processMetrics(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    // Under the names that dashboards for Node expect.
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

/** Prometheus metrics by operation, stage and database. They never contain a key or a text. */
export class Metrics {
  readonly #process = processMetrics();
  readonly #registry = new Registry();
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #latency: Histogram<'operation'>;
  readonly #stages: Histogram<'stage'>;
  readonly #databases: DatabaseService;
  readonly #allText = rationed(() => this.#read());
  /** One at a time, because the metrics of some databases take milliseconds to select. */
  readonly #scrapes = new FairLimiter({ total: 1, perCaller: 1, waitingPerCaller: MAX_WAITING });
  /** Those of the scrape that is being written, so that all its numbers are of the same moment. */
  #stats: DatabaseStats | undefined;

  constructor(databases: DatabaseService, inFlight: InFlight, syncs: Pick<FollowedSyncs, 'all'>) {
    this.#databases = databases;
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: 'cosift_http_requests_total',
      help: 'Completed requests by `operation` of the OpenAPI document and `status`.',
      labelNames: ['operation', 'status'],
      registers,
    });
    this.#latency = new Histogram({
      name: 'cosift_http_request_seconds',
      help: 'Time from the head of a request to the end of its response, by `operation`.',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers,
    });
    this.#stages = new Histogram({
      name: 'cosift_search_stage_seconds',
      help: 'Time in each `stage` of a search or query: `embed`, `search`, `total`.',
      labelNames: ['stage'],
      buckets: SECONDS,
      registers,
    });
    new Gauge({
      name: 'cosift_in_flight',
      help:
        'Requests in flight by `kind`: `searches` (and queries), `reads`, `writes` (without those that wait for a ' +
        're-embedding), `streams` (streamed upserts), `waits` (requests for changes), `exports`.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, count] of Object.entries(inFlight.counts())) this.set({ kind }, count);
      },
    });
    new Gauge({
      name: 'cosift_in_flight_bytes',
      help: 'Memory by `kind`: `bodies` of requests in flight, and `unsent` responses.',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, bytes] of Object.entries(inFlight.bytes())) this.set({ kind }, bytes);
      },
    });
    addMetrics(registers, () => this.#stats);
    addSyncMetrics(registers, () => syncs.all);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  observeRequest(operation: string, status: number, seconds: number): void {
    this.#requests.inc({ operation, status });
    this.#latency.observe({ operation }, seconds);
  }

  observePage({ embedMs, searchMs, totalMs }: PageReply['timings']): void {
    if (embedMs > 0) this.#stages.observe({ stage: 'embed' }, embedMs / 1000);
    this.#stages.observe({ stage: 'search' }, searchMs / 1000);
    this.#stages.observe({ stage: 'total' }, totalMs / 1000);
  }

  /**
   * All metrics as text. With `databases`, only the metrics with a label `database`, for these databases; callers take turns
   * for these.
   *
   * @throws {CosiftError} `busy` when too many scrapes of the caller wait.
   */
  async text(caller: string, databases: ReadonlySet<string> | undefined): Promise<string> {
    const text = await this.#allText();
    if (databases === undefined) return text;
    return await this.#scrapes.run(caller, async () => {
      await setImmediate();
      return ofDatabases(text, databases);
    });
  }

  async #read(): Promise<string> {
    this.#stats = await this.#databases.monitor.stats();
    // A turn of the event loop for each metric, because some have a value for every database.
    const texts: string[] = [];
    for (const registry of [this.#process, this.#registry]) {
      for (const { name } of registry.getMetricsAsArray()) {
        texts.push(await registry.getSingleMetricAsString(name));
        await setImmediate();
      }
    }
    return `${texts.join('\n\n')}\n`;
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
