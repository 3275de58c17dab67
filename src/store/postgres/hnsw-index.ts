import type { Sql } from './sql.js';

/** Candidates that an HNSW index keeps while it is searched: more find more, and pgvector allows 1,000. */
const MIN_EF = 100;
const MAX_EF = 1_000;

/** Whether the operator has made an HNSW index of the inner products of a table, and it is complete. */
export async function hasHnswIndex(sql: Sql, table: string): Promise<boolean> {
  const found = await sql.run(
    `SELECT 1 FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS a ON a.oid = c.relam
      JOIN pg_opclass AS o ON o.oid = indclass[0]
    WHERE indrelid = $1::text::regclass AND indisvalid AND amname = 'hnsw' AND opcname = 'vector_ip_ops'`,
    [table],
  );
  return found.length > 0;
}

/** Prepares a transaction for reading `size` vectors from an HNSW index. */
export async function prepareHnswScan(sql: Sql, size: number): Promise<void> {
  // An iterative scan goes on while a filter leaves out what it finds.
  await sql.run(
    `SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', $1::text, true)`,
    [String(Math.min(Math.max(size, MIN_EF), MAX_EF))],
  );
}
