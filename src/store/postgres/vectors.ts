import type { NativeScanned } from '../local/binding.js';
import type { CatalogEntry } from './catalog.js';
import type { Sql, SqlValue } from './sql.js';

/** A vector in the binary form of pgvector: the number of values, two unused bytes, and the values. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(4 + 4 * vector.length));
  bytes.setUint16(0, vector.length);
  for (const [at, value] of vector.entries()) bytes.setFloat32(4 + 4 * at, value);
  return Buffer.from(bytes.buffer);
}

/**
 * Replaces the vectors of records with several, in the table `passages`. `ids` is an array of the records; the vectors of
 * others are left out.
 */
export async function replacePassages(
  sql: Sql,
  { id, group }: CatalogEntry,
  passages: string,
  ids: SqlValue,
  { count, ids: records, numbers, directions, embs }: NativeScanned,
): Promise<void> {
  await deletePassages(sql, passages, ids);
  if (count === 0) return;
  await sql.run(
    `INSERT INTO ${passages} (record, number, passage_direction, passage_emb)
    SELECT t.record, t.number, t.direction, t.emb
    FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::vector[]) AS t (record, number, direction, emb)
      CROSS JOIN ${group.databases} AS d WHERE d.id = $6::text AND t.record = ANY($1::bigint[])`,
    [ids, records, numbers, directions, embs, id],
  );
}

/** Removes the vectors of records with several. `ids` is an array. */
export async function deletePassages(sql: Sql, passages: string, ids: SqlValue): Promise<void> {
  await sql.run(`DELETE FROM ${passages} WHERE record = ANY($1::bigint[])`, [ids]);
}
