import { Counter, Gauge, type Registry } from 'prom-client';
import type { SyncDescription } from '../../schema/index.js';
import type { FollowedSync, SyncTotals } from '../../sync/followed-syncs.js';

const LABELS = ['database', 'sync'] as const;

/** Registers the metrics of the sources that the service follows. They ask no store. */
export function addSyncMetrics(registers: Registry[], syncs: () => readonly FollowedSync[]): void {
  const labelsOf = ({ database, name }: FollowedSync) => ({ database, sync: name });
  const gauge = (name: string, help: string, value: (sync: FollowedSync) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: LABELS,
      registers,
      collect() {
        this.reset();
        for (const sync of syncs()) {
          const current = value(sync);
          if (current !== undefined) this.set(labelsOf(sync), current);
        }
      },
    });
  const last = (name: string, help: string, value: (description: SyncDescription) => number) =>
    gauge(name, help, (sync) => sync.last && value(sync.last));
  const counter = (name: string, help: string, total: keyof SyncTotals) =>
    new Counter({
      name,
      help,
      labelNames: LABELS,
      registers,
      collect() {
        this.reset();
        for (const sync of syncs()) this.inc(labelsOf(sync), sync.totals[total]);
      },
    });
  last('cosift_sync_up', '1 if the last attempt of a pass succeeded, else 0.', ({ reason }) =>
    Number(reason === undefined),
  );
  gauge(
    'cosift_sync_in_step_timestamp_seconds',
    'The last moment of the source, in seconds since 1970, that the records showed.',
    ({ lastInStep }) => (lastInStep === undefined ? undefined : Date.parse(lastInStep) / 1000),
  );
  gauge(
    'cosift_sync_rows_waiting',
    'Rows of the running pass that are not stored yet, where the source tells their number.',
    ({ waiting }) => waiting,
  );
  last('cosift_sync_records', 'Records of the source.', ({ records }) => records);
  last('cosift_sync_refused_rows', 'Rows that could not become records.', ({ refused }) => refused);
  last(
    'cosift_sync_withheld_deletions',
    'Records that wait for a confirmation to be deleted.',
    ({ withheld }) => withheld,
  );
  counter('cosift_sync_passes_total', 'Complete passes.', 'passes');
  counter('cosift_sync_failures_total', 'Attempts of a pass that failed.', 'failures');
  counter('cosift_sync_rows_read_total', 'Rows that complete passes read.', 'read');
  counter('cosift_sync_records_written_total', 'Records that were new or differed.', 'written');
  counter('cosift_sync_records_unchanged_total', 'Rows whose records had their content.', 'unchanged');
  counter('cosift_sync_records_deleted_total', 'Records whose rows were gone.', 'deleted');
}
