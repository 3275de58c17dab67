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
export interface StoredRow extends RecordRow, RowVectors {
  hash: Uint8Array;
}

/** The vectors of a record, if they are read. */
export interface RowVectors {
  exact?: Uint8Array | null;
  passages?: Uint8Array | null;
}

/** The columns of {@link RowVectors}. */
export const VECTORS = 'exact, passages';

/** A record as the engine takes it. */
export function nativeRow(row: RecordRow & RowVectors & { hash?: Uint8Array }): NativeRow {
  const { exact, passages } = row;
  return { ...row, key: keyText(row.key), vector: exact ?? undefined, passages: passages ?? undefined };
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
    `SELECT ${ROW}, hash, ${VECTORS} FROM ${table} WHERE id = ANY($1::bigint[]) OR uuid = ANY($2::uuid[])`,
    [arrayOf(ids), arrayOf(uuids)],
  );
}
