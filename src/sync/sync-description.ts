import type { SyncDescription } from '../schema/index.js';
import type { SyncStatus } from './sync.js';

/** A status as the service and the command line show it. */
export function describeSync(
  name: string,
  database: string,
  { state, inStepAsOf, records, refused, refusedRows, withheld, ...others }: SyncStatus,
): SyncDescription {
  const { reason, byScan, nextAttempt, progress, lastWholePass } = others;
  return {
    name,
    database,
    state,
    ...(inStepAsOf && { in_step_as_of: inStepAsOf.toISOString() }),
    records,
    refused,
    refused_rows: refusedRows.map(({ key, reason }) => ({ key, reason })),
    withheld,
    ...(reason !== undefined && { reason }),
    ...(byScan !== undefined && { by_scan: byScan }),
    ...(nextAttempt && { next_attempt: nextAttempt.toISOString() }),
    ...(progress && { progress: describeProgress(progress) }),
    ...(lastWholePass && { last_whole_pass: describePass(lastWholePass) }),
  };
}

function describeProgress({ rows, total, rowsPerSecond }: NonNullable<SyncStatus['progress']>) {
  return {
    rows,
    ...(total !== undefined && { total }),
    rows_per_second: rowsPerSecond,
    ...(total !== undefined && rows > 0 && { seconds_left: Math.max(0, total - rows) / rowsPerSecond }),
  };
}

function describePass({ at, read, written, unchanged, deleted }: NonNullable<SyncStatus['lastWholePass']>) {
  return { at: at.toISOString(), read, written, unchanged, deleted };
}

/** Returns a function to call after each pass: it shows the description if one of `members` differs from the last time. */
export function onChange(
  read: () => Promise<SyncDescription>,
  members: readonly (keyof SyncDescription)[],
  show: (description: SyncDescription) => void | Promise<void>,
): () => Promise<void> {
  let last = '';
  let shown: Promise<void> = Promise.resolve();
  return () => {
    // Calls follow each other.
    shown = shown
      .catch(() => undefined)
      .then(async () => {
        const description = await read();
        // The next pass runs already, and ends with another call.
        if (description.state === 'reading') return;
        const facts = JSON.stringify(members.map((member) => description[member]));
        if (facts === last) return;
        last = facts;
        await show(description);
      });
    return shown;
  };
}
