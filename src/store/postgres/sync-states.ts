import type { SyncState, SyncStateRequest } from '../record-store.js';
import type { CatalogEntry } from './catalog.js';
import { keyText } from './rows.js';
import { type Sql, Values } from './sql.js';
import { recordsOf } from './tables.js';

/** Reads the state of a sync, counts its records, and lists some of their keys. */
export async function readSyncState(
  sql: Sql,
  entry: CatalogEntry,
  { name, after, limit = 0 }: SyncStateRequest,
): Promise<SyncState> {
  const [stored] = await sql.run<{ state: string }>(
    `SELECT state FROM ${entry.group.syncs} WHERE database = $1::bigint AND name = $2::text`,
    [entry.number, name],
  );
  const values = new Values();
  const owned = keysWithPrefix(`${name}/`, values);
  const [counted] = await sql.run<{ records: number }>(
    `SELECT count(*) AS records FROM ${recordsOf(entry)} WHERE ${owned}`,
    values.list,
  );
  const rows =
    limit === 0
      ? []
      : await sql.run<{ key: Uint8Array }>(
          `SELECT key FROM ${recordsOf(entry)} WHERE ${owned}
            AND key > ${values.bind(Buffer.from(after ?? ''))}::bytea
          ORDER BY key LIMIT ${values.bind(limit)}::bigint`,
          values.list,
        );
  return {
    state: stored?.state ?? null,
    records: counted?.records ?? 0,
    keys: rows.flatMap(({ key }) => keyText(key) ?? []),
  };
}

/** Stores the state of a sync. */
export async function writeSyncState(
  sql: Sql,
  entry: CatalogEntry,
  { name, text }: { name: string; text: string },
): Promise<void> {
  await sql.run(
    `INSERT INTO ${entry.group.syncs} (database, name, state)
    SELECT d.number, $2::text, $3::text FROM ${entry.group.databases} AS d WHERE d.id = $1::text
    ON CONFLICT (database, name) DO UPDATE SET state = excluded.state`,
    [entry.id, name, text],
  );
}

/** The condition of the records whose keys begin with a text. */
export function keysWithPrefix(prefix: string, values: Values): string {
  const bytes = Buffer.from(prefix);
  return `substring(key FROM 1 FOR ${bytes.length}) = ${values.bind(bytes)}::bytea`;
}
