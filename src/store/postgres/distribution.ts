import type { RecordTables } from './schema.js';
import type { Sql } from './sql.js';

/** How Citus spreads the tables of a database: all on one worker, or the records over all workers by their ids. */
export type Distribution = 'database' | 'id';

/** How Citus replicates a table of which every worker has a copy. */
const REFERENCE = 't';

/**
 * Distributes new tables. Vectors of passages are where their records are. With `id`, the changes stay with the
 * coordinator, because their positions are one sequence.
 */
export async function distribute(
  sql: Sql,
  distribution: Distribution | undefined,
  { records, passages }: RecordTables,
  changes: string,
): Promise<void> {
  if (distribution === undefined) return;
  const isById = distribution === 'id';
  await place(sql, records, isById ? 'id' : null, 'none');
  await place(sql, passages, isById ? 'record' : null, records);
  if (!isById) await place(sql, changes, null, records);
}

/**
 * Places the tables of a re-embedding where Citus has those of `current`, however they came there: it joins only tables
 * in the same places, and refuses to place a table with one that is spread in another way.
 */
export async function distributeLike(
  sql: Sql,
  current: string,
  { records, passages }: RecordTables,
): Promise<void> {
  const [citus] = await sql.run<{ exists: boolean }>(
    "SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists",
  );
  if (!citus?.exists) return;
  const [placed] = await sql.run<{ column: string | null; model: string; colocation: number }>(
    `SELECT column_to_column_name(logicalrelid, partkey) AS column, repmodel AS model, colocationid AS colocation
    FROM pg_dist_partition WHERE logicalrelid = $1::text::regclass`,
    [current],
  );
  if (placed === undefined) return;
  const { column, model, colocation } = placed;
  if (model === REFERENCE) {
    for (const table of [records, passages]) {
      await sql.run('SELECT create_reference_table($1::text::regclass)', [table]);
    }
    return;
  }
  // A table of the coordinator that Citus knows.
  if (column === null && colocation === 0) return;
  await place(sql, records, column, current);
  await place(sql, passages, column === null ? null : 'record', records);
}

/** `column`: the distribution column; null for a table on one worker. */
async function place(sql: Sql, table: string, column: string | null, colocateWith: string): Promise<void> {
  await sql.run('SELECT create_distributed_table($1::text::regclass, $2::text, colocate_with => $3::text)', [
    table,
    column,
    colocateWith,
  ]);
}
