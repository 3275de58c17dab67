import { Counter, Gauge, type Registry } from 'prom-client';
import type { DatabaseStats } from '../../databases/index.js';

/** Returns the statistics of the databases for the current scrape. */
export type ReadStats = () => DatabaseStats | undefined;

/** Registers the metrics of the databases and of each database. They read `stats` in each scrape. */
export function addMetrics(registers: Registry[], stats: ReadStats): void {
  type Value = (stats: DatabaseStats) => number | undefined;
  const gauge = (name: string, help: string, value: Value) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const current = stats();
        this.set((current && value(current)) ?? 0);
      },
    });
  const counter = (name: string, help: string, value: Value) =>
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
  gauge(
    'cosift_store_up',
    '1 if the store answered within two seconds, else 0: the metrics of databases are then missing.',
    ({ databases }) => Number(databases !== undefined),
  );
  gauge('cosift_scan_queue_length', 'Searches that wait for a scan.', ({ searches }) => searches.waiting);
  gauge(
    'cosift_scan_passes',
    'Scans in progress. Searches that wait at the same time share one scan.',
    ({ searches }) => searches.running,
  );
  counter('cosift_scans_total', 'Completed searches.', ({ searches }) => searches.answered);
  counter('cosift_scan_bytes_total', 'Vector codes that scans read.', ({ searches }) => searches.bytesRead);
  gauge('cosift_commit_queue_length', 'Writes that wait for the store.', ({ commits }) => commits.waiting);
  counter(
    'cosift_commits_total',
    'Committed transactions. Concurrent writes share one.',
    ({ commits }) => commits.count,
  );
  counter(
    'cosift_commit_seconds_total',
    'Total commit time, until the written records were searchable.',
    ({ commits }) => commits.totalMs / 1000,
  );
  gauge(
    'cosift_embedder_queue_length',
    'Texts that wait to be embedded.',
    ({ embedder }) => embedder?.queued,
  );
  gauge('cosift_embedder_running', 'Texts that are being embedded.', ({ embedder }) => embedder?.running);
  counter(
    'cosift_embedder_cache_hits_total',
    'Query-vector cache hits.',
    ({ embedder }) => embedder?.cacheHits,
  );
  counter(
    'cosift_embedder_cache_misses_total',
    'Query-vector cache misses.',
    ({ embedder }) => embedder?.cacheMisses,
  );
  counter('cosift_embedder_inferences_total', 'Embedded texts.', ({ embedder }) => embedder?.inferences);
  counter(
    'cosift_embedder_seconds_total',
    'Total inference time.',
    ({ embedder }) => embedder && embedder.totalMs / 1000,
  );
  addDatabaseMetrics(registers, stats);
}

function addDatabaseMetrics(registers: Registry[], stats: ReadStats): void {
  const ofEach = (
    name: string,
    help: string,
    value: (database: NonNullable<DatabaseStats['databases']>[number]) => number | undefined,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['database'],
      registers,
      collect() {
        // Removes the values of databases that were dropped, and values that a database no longer has.
        this.reset();
        for (const database of stats()?.databases ?? []) {
          const current = value(database);
          if (current !== undefined) this.set({ database: database.id }, current);
        }
      },
    });
  ofEach('cosift_database_loaded', '1 while the database is open, else 0.', ({ loaded }) => Number(loaded));
  ofEach(
    'cosift_database_writable',
    '1 while the database accepts writes, 0 after a failed sync or a panic until the next start.',
    ({ writable }) => Number(writable),
  );
  ofEach('cosift_database_records', 'Number of records.', ({ records }) => records);
  ofEach('cosift_database_memory_bytes', 'Memory of the database.', ({ memoryBytes }) => memoryBytes);
  ofEach('cosift_database_disk_bytes', 'Size of the files of the database.', ({ diskBytes }) => diskBytes);
  ofEach(
    'cosift_reembedding_records',
    'Number of all records, while the database is embedded with another model.',
    ({ reembedding }) => reembedding?.records,
  );
  ofEach(
    'cosift_reembedding_records_done',
    'Number of records with a new vector, while the database is embedded with another model.',
    ({ reembedding }) => reembedding?.done,
  );
}
