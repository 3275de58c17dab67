import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import {
  type Column as ColumnContent,
  type Columns,
  type ColumnType,
  changedMeanwhile,
  type IdentityName,
  isArray,
  plainText,
  typeOf,
} from './columns.js';
import type { ExportedRecord } from './records.js';

/** The writer has the types of another version of the reader. */
type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

/** A row group is in memory as a whole, so it ends with the batch that reaches one of these. */
const GROUP_RECORDS = 20_000;
const GROUP_VALUES = 1_000_000;

interface Column {
  name: string;
  schema: SchemaElement[];
  /** Returns the value as the writer takes it. */
  value(record: ExportedRecord): unknown;
}

const TYPES = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
} as const satisfies Record<ColumnType, Partial<SchemaElement>>;

/** Yields a Parquet file, a row group at a time. A missing value is null. */
export async function* parquetOf(
  batches: AsyncIterable<readonly ExportedRecord[]>,
  columns: Columns,
  vectors: boolean,
): AsyncGenerator<Uint8Array, void, undefined> {
  const fileColumns = columnsOf(columns, vectors);
  const writer = new ByteWriter();
  const root: SchemaElement = { name: 'root', num_children: fileColumns.length };
  const schema = [root, ...fileColumns.flatMap((column) => column.schema)];
  const parquet = new ParquetWriter({ writer, schema, createdBy: 'cosift' });
  const taken = () => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  let group: ExportedRecord[] = [];
  let values = 0;
  const writeGroup = async () => {
    const columnData = fileColumns.map(({ name, value }) => ({ name, data: group.map(value) }));
    await parquet.write({ columnData, rowGroupSize: group.length });
    group = [];
    values = 0;
    return taken();
  };
  for await (const records of batches) {
    for (const record of records) {
      columns.check(record);
      group.push(record);
      values += fileColumns.length + (record.vector?.length ?? 0);
      if (group.length >= GROUP_RECORDS || values >= GROUP_VALUES) yield await writeGroup();
    }
  }
  if (group.length > 0) yield await writeGroup();
  await parquet.finish();
  yield taken();
}

function columnsOf(columns: Columns, vectors: boolean): Column[] {
  const data = columns.names.map((name) => dataColumn(name, columns.of(name)));
  const identities = columns.identities.map(identityColumn);
  return [...identities, ...data, ...(vectors ? vectorColumns() : [])];
}

function identityColumn(name: IdentityName): Column {
  if (name === 'id') {
    const schema: SchemaElement[] = [{ name, type: 'INT64', repetition_type: 'REQUIRED' }];
    return { name, schema, value: ({ id }) => BigInt(id) };
  }
  const repetition_type = name === 'uuid' ? 'REQUIRED' : 'OPTIONAL';
  return { name, schema: [{ name, ...TYPES.text, repetition_type }], value: (record) => record[name] };
}

function dataColumn(name: string, { type, isList }: ColumnContent): Column {
  const schema: SchemaElement[] = isList
    ? listSchema(name, TYPES[type])
    : [{ name, ...TYPES[type], repetition_type: 'OPTIONAL' }];
  const scalar = (value: unknown) => {
    if (type === 'text') return String(value);
    if (typeOf(value) !== type) throw changedMeanwhile(`a ${typeOf(value)} in column "${name}"`);
    return value;
  };
  return {
    name,
    schema,
    value({ data }) {
      const value = Object.hasOwn(data, name) ? data[name] : undefined;
      if (value === undefined || value === null) return null;
      if (!isList && type === 'text') return plainText(value);
      if (isArray(value) !== isList) {
        throw changedMeanwhile(`a value that is ${isList ? 'no' : 'a'} list in column "${name}"`);
      }
      return isArray(value) ? value.map(scalar) : scalar(value);
    },
  };
}

function listSchema(name: string, element: Partial<SchemaElement>): SchemaElement[] {
  return [
    { name, repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', ...element, repetition_type: 'REQUIRED' },
  ];
}

function vectorColumns(): Column[] {
  const name = 'embedded_by';
  return [
    { name: 'vector', schema: listSchema('vector', TYPES.number), value: ({ vector }) => vector },
    {
      name,
      schema: [{ name, ...TYPES.text, repetition_type: 'OPTIONAL' }],
      value: ({ embedded_by }) => embedded_by,
    },
  ];
}
