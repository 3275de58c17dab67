import type { DatabaseService } from '../../databases/index.js';
import type { ConfiguredSync, Sync } from '../../sync/index.js';
import { describe } from '../failure.js';
import { ensureDatabase } from './ensure-database.js';

interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/**
 * Follows the sources of a config file until the databases are closed. Each change of the state of a source is a line of the
 * log. So is a source that cannot be followed until the configuration is changed; the others are followed.
 */
export async function followSources(
  databases: DatabaseService,
  syncs: readonly ConfiguredSync[],
  log: Log,
): Promise<void> {
  if (syncs.length === 0) return;
  const { openTableSource } = await import('../../sync/index.js');
  const { openSync } = await import('../../sync/open-sync.js');
  for (const configured of syncs) {
    const { name, database } = configured;
    try {
      await follow(configured);
    } catch (error) {
      log.warn({ sync: name, database, state: 'failed', reason: describe(error) }, 'sync');
    }
  }

  async function follow(configured: ConfiguredSync): Promise<void> {
    const { name, database, source, everyMs, maxDeletes } = configured;
    await ensureDatabase(databases, configured);
    const sync: Sync = await openSync(databases, database, await openTableSource(source), {
      name,
      maxDeletes,
      everyMs,
      onAttempt: () => report(sync).catch(() => undefined),
    });
    let last = '';
    const report = async (of: Sync) => {
      const { state, reason, records, refused, withheld } = await of.status();
      const shown = JSON.stringify({ state, reason, refused, withheld });
      if (shown === last) return;
      last = shown;
      const facts = { sync: name, database, state, ...(reason && { reason }), records, refused, withheld };
      if (state === 'in_step') log.info(facts, 'sync');
      else log.warn(facts, 'sync');
    };
  }
}
