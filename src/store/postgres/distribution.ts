import type { Group } from './groups.js';
import { arrayOf, type Sql } from './sql.js';

/** The number of groups of a new store: on Citus that of the shards of a table, elsewhere one. */
export async function groupCount(sql: Sql): Promise<number> {
  if (!(await isCitus(sql))) return 1;
  const [row] = await sql.run<{ shards: number }>(
    "SELECT current_setting('citus.shard_count')::bigint AS shards",
  );
  return (row as { shards: number }).shards;
}

/**
 * Makes Citus tell no worker of the tables that the rest of a transaction makes, besides the worker that has them. Otherwise
 * they could not be made while any worker does not answer. An administrator tells the workers of them later.
 */
export async function tellNoOthers(sql: Sql): Promise<void> {
  await sql.run("SELECT set_config('citus.enable_metadata_sync', 'off', true)");
}

/** Lets Citus choose a worker for the tables of a new group. */
export async function placeGroup(sql: Sql, { databases, ...others }: Group): Promise<void> {
  if (!(await isCitus(sql))) return;
  await place(sql, databases, 'none');
  for (const table of [others.columns, others.reembeddings, others.syncs]) await place(sql, table, databases);
}

/** The worker of each group, in the order of the groups. */
export async function serversOf(sql: Sql, groups: readonly Group[]): Promise<string[]> {
  const rows = await sql.run<{ server: string }>(
    `SELECT coalesce(nodename || ':' || nodeport, '') AS server
    FROM unnest($1::text[]) WITH ORDINALITY AS t (name, place)
      LEFT JOIN pg_dist_shard ON logicalrelid = to_regclass(t.name)
      LEFT JOIN pg_dist_placement USING (shardid) LEFT JOIN pg_dist_node USING (groupid)
    ORDER BY place`,
    [arrayOf(groups.map(({ databases }) => databases))],
  );
  return rows.map(({ server }) => server);
}

/** Places the new tables of a database where its group is. */
export async function placeTables(sql: Sql, tables: readonly string[], { databases }: Group): Promise<void> {
  if (!(await isCitus(sql))) return;
  const [placed] = await sql.run(
    'SELECT 1 FROM pg_dist_partition WHERE logicalrelid = $1::text::regclass AND colocationid > 0',
    [databases],
  );
  // The store is older than Citus in its database.
  if (placed === undefined) return;
  for (const table of tables) await place(sql, table, databases);
}

/**
 * Locks the row of a database. While Citus moves a group, another writer could lock the row at the other worker, unless the
 * row is written here.
 */
export async function lockThroughMoves(sql: Sql, { databases }: Group, id: string): Promise<void> {
  await sql.run(`UPDATE ${databases} SET version = version WHERE id = $1::text`, [id]);
}

async function isCitus(sql: Sql): Promise<boolean> {
  const [citus] = await sql.run<{ exists: boolean }>(
    "SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists",
  );
  return citus?.exists === true;
}

/** Places a table, whole, on one worker. */
async function place(sql: Sql, table: string, colocateWith: string): Promise<void> {
  await sql.run('SELECT create_distributed_table($1::text::regclass, NULL, colocate_with => $2::text)', [
    table,
    colocateWith,
  ]);
}
