import type { NativeScanned } from '../local/binding.js';
import type { RecordTables } from './schema.js';
import type { Sql, SqlValue } from './sql.js';

/** A vector in the text form of pgvector. */
export function vectorText(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}

/** Replaces the vectors of records with several. `ids` is an array of the records; the vectors of others are left out. */
export async function replacePassages(
  sql: Sql,
  { passages }: RecordTables,
  ids: SqlValue,
  { count, ids: records, numbers, directions, embs }: NativeScanned,
): Promise<void> {
  await deletePassages(sql, passages, ids);
  if (count === 0) return;
  await sql.run(
    `INSERT INTO ${passages} (record, number, passage_direction, passage_emb)
    SELECT record, number, direction, emb
    FROM unnest($2::bigint[], $3::bigint[], $4::bytea[], $5::vector[]) AS t (record, number, direction, emb)
    WHERE record = ANY($1::bigint[])`,
    [ids, records, numbers, directions, embs],
  );
}

/** Removes the vectors of records with several. `ids` is an array. */
export async function deletePassages(sql: Sql, passages: string, ids: SqlValue): Promise<void> {
  await sql.run(`DELETE FROM ${passages} WHERE record = ANY($1::bigint[])`, [ids]);
}
