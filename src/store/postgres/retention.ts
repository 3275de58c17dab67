import type { CatalogEntry } from './catalog.js';
import type { Sql } from './sql.js';
import { CLOCK } from './sql.js';
import { changesOf } from './tables.js';

/**
 * The position of the last change that need not be kept any more: a later one has its age. A change that is younger is
 * never removed, also if changes after it have earlier times.
 */
export async function lastExpired(sql: Sql, entry: CatalogEntry, keepMs: number): Promise<number> {
  const [kept] = await sql.run<{ position: number }>(
    `SELECT position FROM ${changesOf(entry)}
    WHERE position > $1::bigint AND written >= ${CLOCK} - $2::bigint ORDER BY position LIMIT 1`,
    [entry.removed, keepMs],
  );
  return kept === undefined ? entry.position : kept.position - 1;
}
