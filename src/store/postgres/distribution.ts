import type { RecordTables } from './schema.js';
import type { Sql } from './sql.js';

/** How Citus spreads the tables of a database: all on one worker, or the records over all workers by their ids. */
export type Distribution = 'database' | 'id';

/**
 * Distributes new tables. Vectors of passages are where their records are. With `id`, the changes stay with the
 * coordinator, because their positions are one sequence. The tables of a re-embedding are where those of `current` are,
 * because Citus joins only tables in the same places.
 */
export async function distribute(
  sql: Sql,
  distribution: Distribution | undefined,
  { records, passages }: RecordTables,
  { changes, current = 'none' }: { changes?: string | undefined; current?: string | undefined },
): Promise<void> {
  if (distribution === undefined) return;
  const isById = distribution === 'id';
  await place(sql, records, isById ? 'id' : null, current);
  await place(sql, passages, isById ? 'record' : null, records);
  if (!isById && changes !== undefined) await place(sql, changes, null, records);
}

/** `column`: the distribution column; null for a table on one worker. */
async function place(sql: Sql, table: string, column: string | null, colocateWith: string): Promise<void> {
  await sql.run('SELECT create_distributed_table($1::text::regclass, $2::text, colocate_with => $3::text)', [
    table,
    column,
    colocateWith,
  ]);
}
