import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, type SchemaElement } from 'hyparquet';
import { DamagedParquet, ParquetError, readingAt } from './errors.js';

const MAGIC = Buffer.from('PAR1');
const ENCRYPTED = Buffer.from('PARE');

export type RowGroup = FileMetaData['row_groups'][number];

/** A column, or a part of a nested column. */
export interface Field {
  name: string;
  element: SchemaElement;
  children: readonly Field[];
  isRepeated: boolean;
  /** The definition level from which the field has a value. */
  definition: number;
  /** The repetition level of a further value of the innermost repeated field. */
  repetition: number;
  /** The chunks of a row group that have the values, one for each field without children. */
  chunks: readonly number[];
}

/** What the end of a Parquet file says. */
export interface ParquetFile {
  file: AsyncBuffer;
  columns: readonly Field[];
  groups: readonly RowGroup[];
}

export function isParquet(head: Uint8Array): boolean {
  const magic = head.subarray(0, MAGIC.length);
  return MAGIC.equals(magic) || ENCRYPTED.equals(magic);
}

/** @throws {Error} when the file is damaged, or cannot be read without a key. */
export async function openParquet(file: AsyncBuffer): Promise<ParquetFile> {
  const size = file.byteLength;
  const end = Buffer.from(await file.slice(Math.max(0, size - MAGIC.length), size));
  if (ENCRYPTED.equals(end))
    throw new ParquetError('the Parquet file is encrypted: decrypt it before the import');
  if (size < 12 || !MAGIC.equals(end)) {
    throw new ParquetError('the Parquet file is cut off or damaged: its end is missing; copy it again');
  }
  return readingAt('the list of columns', '; write the file again', async () => {
    const { schema, row_groups } = await parquetMetadataAsync(file, { geoparquet: false });
    return { file, columns: columnsOf(schema), groups: row_groups };
  });
}

function columnsOf(schema: readonly SchemaElement[]): readonly Field[] {
  let at = 0;
  let chunks = 0;
  const fieldBelow = (definition: number, repetition: number): Field => {
    const element = schema[at++];
    if (element === undefined || typeof element.name !== 'string') throw new DamagedParquet();
    const isRepeated = element.repetition_type === 'REPEATED';
    const levels = {
      definition: definition + (element.repetition_type === 'REQUIRED' ? 0 : 1),
      repetition: repetition + (isRepeated ? 1 : 0),
    };
    const first = chunks;
    // Some writers state 0 children for a field that has values of its own.
    if (element.type !== undefined) chunks += 1;
    const children =
      element.type === undefined ? childrenOf(element, levels.definition, levels.repetition) : [];
    const indexes = Array.from({ length: chunks - first }, (_, index) => first + index);
    return { name: element.name, element, children, isRepeated, ...levels, chunks: indexes };
  };
  const childrenOf = ({ num_children: count = 0 }: SchemaElement, definition: number, repetition: number) => {
    if (count < 0 || count > schema.length) throw new DamagedParquet();
    const children = Array.from({ length: count }, () => fieldBelow(definition, repetition));
    // A group without fields has no values.
    return children.filter((child) => child.chunks.length > 0);
  };
  const root = schema[at++];
  if (root === undefined) throw new DamagedParquet();
  // Whether the root is repeated says nothing: some writers state it.
  const columns = childrenOf(root, 0, 0);
  if (at < schema.length) throw new DamagedParquet();
  return columns;
}
