import type { NativeRow } from '../local/binding.js';
import { arrayOf, type Sql, Values } from './sql.js';

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

/** The columns of a {@link RecordRow} without its data. */
export const WITHOUT_DATA = 'id, uuid, key, created, changed, synced';

/** The columns of a {@link RecordRow}. */
export const ROW = `${WITHOUT_DATA}, data`;

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
  const { id, uuid, key, data, hash, created, changed, synced, exact, passages } = row;
  const [vector, long] = [exact ?? undefined, passages ?? undefined];
  return { id, uuid, key: keyText(key), data, hash, created, changed, synced, vector, passages: long };
}

/** A key, which is stored as bytes because it may contain any character. */
export function keyText(key: Uint8Array | null): string | undefined {
  return key === null ? undefined : Buffer.from(key).toString('utf8');
}

/** An identity of a record as the engine names it. */
export type Reference = { id: string } | { uuid: string };

/** Bytes of a record that is read together with many others. */
export const SHORT_BYTES = 16_384;

/** Stands for the data of a record that is not read. No record has this data, because data is stored without spaces. */
export const NOT_READ = '{ }';

/** Of which records the data is read. */
const DATA_OF = {
  all: 'data',
  short: `CASE WHEN octet_length(data) <= ${SHORT_BYTES} THEN data ELSE '${NOT_READ}' END AS data`,
  none: `'${NOT_READ}' AS data`,
};

/** The stored records of identities. Each of them is returned once. */
export async function rowsOf(
  sql: Sql,
  table: string,
  references: readonly Reference[],
  dataOf: keyof typeof DATA_OF = 'all',
  vectors = false,
): Promise<StoredRow[]> {
  if (references.length === 0) return [];
  const values = new Values();
  const columns = [WITHOUT_DATA, 'hash', DATA_OF[dataOf], ...(vectors ? [VECTORS] : [])];
  return await sql.run<StoredRow>(
    `SELECT ${columns.join(', ')} FROM ${table} WHERE ${referencedSql(references, values)}`,
    values.list,
  );
}

/** The condition of the records with some identities. */
export function referencedSql(references: readonly Reference[], values: Values): string {
  const ids = references.flatMap((reference) => ('id' in reference ? [reference.id] : []));
  const uuids = references.flatMap((reference) => ('uuid' in reference ? [reference.uuid] : []));
  return `(id = ANY(${values.bind(arrayOf(ids))}::bigint[]) OR uuid = ANY(${values.bind(arrayOf(uuids))}::uuid[]))`;
}
