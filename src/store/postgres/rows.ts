import type { NativeRow } from '../local/binding.js';
import { arrayOf, type Sql } from './sql.js';

/** A record as its table has it. */
export interface RecordRow {
  id: number;
  uuid: string;
  key: Uint8Array | null;
  data: string;
  created: number;
  changed: number;
  synced: number;
}

/** The columns of a {@link RecordRow}. */
export const ROW = 'id, uuid, key, data, created, changed, synced';

/** A record with what a write compares. */
export interface StoredRow extends RecordRow {
  hash: Uint8Array;
  exact: Uint8Array | null;
}

/** A record as the engine takes it. */
export function nativeRow(row: RecordRow & { hash?: Uint8Array; exact?: Uint8Array | null }): NativeRow {
  return { ...row, key: keyText(row.key), vector: row.exact ?? undefined };
}

/** A key, which is stored as bytes because it may contain any character. */
export function keyText(key: Uint8Array | null): string | undefined {
  return key === null ? undefined : Buffer.from(key).toString('utf8');
}

/** An identity of a record as the engine names it. */
export type Reference = { id: string } | { uuid: string };

/** The stored records of identities. Each of them is returned once. */
export async function rowsOf(
  sql: Sql,
  table: string,
  references: readonly Reference[],
): Promise<StoredRow[]> {
  if (references.length === 0) return [];
  const ids = references.flatMap((reference) => ('id' in reference ? [reference.id] : []));
  const uuids = references.flatMap((reference) => ('uuid' in reference ? [reference.uuid] : []));
  return await sql.run<StoredRow>(
    `SELECT ${ROW}, hash, exact FROM ${table} WHERE id = ANY($1::bigint[]) OR uuid = ANY($2::uuid[])`,
    [arrayOf(ids), arrayOf(uuids)],
  );
}
