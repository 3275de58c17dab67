import { CosiftError } from '../../../errors.js';
import type { ColumnReader } from '../column-readers.js';
import { checkWhere, type TableDefinition } from '../definition.js';
import { type KeysOfTable, tableColumns } from '../table-columns.js';
import type { Session } from './connection.js';
import { fieldReader, isBinary, type MysqlType, textOf, typeOfField } from './fields.js';
import { quoted } from './quoted.js';

/** A table or view, as the catalog has it. */
export interface Table extends KeysOfTable {
  /** The name with its database, quoted. */
  name: string;
  columns: readonly string[];
  /** The columns whose texts may be the same in UTF-8 although they differ. */
  inexact: readonly string[];
  /** Differs after each commit that changes rows, and after each change of the definition; undefined if that cannot be told. */
  version: TableVersion | undefined;
  /** Whether the server tells when the table was last changed, once it was. */
  isTold: boolean;
}

export interface TableVersion {
  text: string;
  /** Whether no later change can have the same version. */
  isSettled: boolean;
}

/** What is known of the table or query of a source at one moment. */
export interface Relation {
  /** What stands after FROM. */
  from: string;
  columns: readonly ColumnReader[];
  /** The names of the key, and what gives the texts of its values in SQL. */
  key: readonly { name: string; expression: string }[];
  /** Whether no two rows have the same texts of their keys. */
  isUnique: boolean;
  /** What gives the texts of the times in SQL. */
  times: readonly string[];
  /** The declared types of the columns. */
  types: readonly { name: string; type: string }[];
  identity: string;
  layout: string;
  notices: readonly string[];
}

/** Character sets whose texts stay different in UTF-8. */
const EXACT_SETS = ['utf8mb4', 'utf8mb3', 'utf8', 'ascii', 'latin1', 'ucs2', 'utf16', 'utf16le', 'utf32'];

/** Versions of MariaDB whose times of tables are known to tell each change. */
const TELLING = /^(10\.11|11\.\d+)\..*mariadb/i;

/** Seconds after which a commit has another second than the last change, also one that a busy server is late to note. */
const SETTLED_S = 3;

const FOUND = `
  SELECT table_schema, table_name, table_type, engine, create_options, update_time, create_time,
    TIMESTAMPDIFF(SECOND, GREATEST(update_time, create_time), SYSDATE())
  FROM information_schema.tables WHERE table_schema = ? AND table_name = ?`;

const COLUMNS = `
  SELECT column_name, extra, character_set_name FROM information_schema.columns
  WHERE BINARY table_schema = ? AND BINARY table_name = ? ORDER BY ordinal_position`;

const KEYS = `
  SELECT index_name, column_name, nullable, sub_part FROM information_schema.statistics
  WHERE BINARY table_schema = ? AND BINARY table_name = ? AND non_unique = 0 ORDER BY index_name, seq_in_index`;

/** @throws {CosiftError} `source_failed` if there is no table of the name. */
export async function findTable(session: Session, table: string): Promise<Table> {
  const names = partsOf(table, session.database);
  const rows = await session.rows(FOUND, names);
  // Names that differ in their case may be those of different tables.
  const row = rows.find(([schema, name]) => schema === names[0] && name === names[1]) ?? rows[0];
  if (row === undefined) {
    throw new CosiftError(
      'source_failed',
      `the source has no table ${table}, or its user may not read it: GRANT SELECT ON ${names.map(quoted).join('.')} TO ${session.account}`,
    );
  }
  const [schema, name, type, engine, options, updated, created, age] = row as string[];
  const place = [schema as string, name as string];
  const columns = await session.rows(COLUMNS, place);
  const isTable = type === 'BASE TABLE';
  // Only the times of InnoDB are those of commits, and those of partitions may go back. A table of MySQL that takes the name of
  // another one keeps its times.
  const isTold =
    TELLING.test(session.version) &&
    isTable &&
    engine === 'InnoDB' &&
    !/partitioned/i.test(options ?? '') &&
    isStored(columns);
  return {
    name: place.map(quoted).join('.'),
    hasRows: isTable,
    columns: columns.map(([column]) => column as string),
    inexact: columns
      .filter(([, , set]) => set !== null && !EXACT_SETS.includes(set as string))
      .map(([column]) => column as string),
    isTold,
    version:
      isTold && updated
        ? { text: [...place, updated, created].join(' '), isSettled: Number(age) >= SETTLED_S }
        : undefined,
    ...keysOf(await session.rows(KEYS, place)),
  };
}

/** Whether no column is computed when it is read, perhaps of more than its row. */
function isStored(columns: readonly (readonly (string | null)[])[]): boolean {
  return columns.every(([, extra]) => !/VIRTUAL/i.test(extra ?? ''));
}

/** The database and the name of a table, which may be in backticks. */
function partsOf(table: string, database: string): string[] {
  const [, first, second] = /^(?:(`(?:[^`]|``)+`|[^`.]+)\.)?(`(?:[^`]|``)+`|[^`.]+)$/.exec(table) ?? [];
  if (second === undefined)
    throw new CosiftError(
      'source_failed',
      `${table} is no name of a table: put a name with a dot into backticks`,
    );
  const plain = (part: string) => (part.startsWith('`') ? part.slice(1, -1).replaceAll('``', '`') : part);
  return [first === undefined ? database : plain(first), plain(second)];
}

function keysOf(rows: readonly (readonly (string | null)[])[]): Pick<Table, 'primaryKey' | 'uniqueKeys'> {
  const names = [...new Set(rows.map(([index]) => index))];
  const indexes = names.map((name) => rows.filter(([index]) => index === name));
  const keys = indexes.filter((parts) =>
    parts.every(([, column, nullable, prefix]) => column !== null && nullable !== 'YES' && prefix === null),
  );
  const namesOf = (parts: readonly (readonly (string | null)[])[]) =>
    parts.map(([, column]) => column as string);
  const primary = keys.find((parts) => parts.some(([index]) => index === 'PRIMARY'));
  return { primaryKey: primary === undefined ? [] : namesOf(primary), uniqueKeys: keys.map(namesOf) };
}

/**
 * Reads what the source is. It is locked against changes of its definition until the end of the transaction, which must have begun.
 *
 * @throws {CosiftError} `source_failed` for a definition that does not fit to the database.
 */
export async function readRelation(
  session: Session,
  definition: TableDefinition,
  found: Table | undefined,
): Promise<Relation> {
  const { table, query, where, times } = definition;
  const what = table ?? 'the query';
  const from = `${found?.name ?? `(${query as string}\n)`} AS source`;
  // A user may have the right to some columns only.
  const list = found === undefined ? '*' : found.columns.map(quoted).join(', ');
  const fields = await session.fieldsOf(`SELECT ${list} FROM ${from} LIMIT 0`);
  const types = new Map(fields.map((field) => [field.name, typeOfField(field)]));
  // The digits of bytes may be part of a key.
  const keyTypes = new Map(
    [...types].map(([name, type]) => [name, isBinary(type) ? { ...type, kind: 'text' as const } : type]),
  );
  await checkWhere(definition, (expression) => session.fieldsOf(`SELECT ${expression} FROM ${from} LIMIT 0`));
  const { columns, key, isUnique, declared } = tableColumns(definition, keyTypes, found, what);
  const typeOf = (name: string) => types.get(name) as MysqlType;
  const time = (name: string | undefined) => (name === undefined ? 'NULL' : textOf(name, typeOf(name)));
  return {
    from,
    columns: columns.map(({ name, given }) => fieldReader(name, typeOf(name), given)),
    key: key.map(({ name }) => ({ name, expression: textOf(name, typeOf(name)) })),
    isUnique: isUnique && !key.some(({ name }) => found?.inexact.includes(name)),
    times: [time(times?.created), time(times?.changed)],
    types: declared,
    identity: session.database,
    layout: JSON.stringify(declared),
    notices: noticesOf(session, found, where),
  };
}

function noticesOf({ version }: Session, found: Table | undefined, where: string | undefined): string[] {
  if (found?.isTold) {
    return where === undefined
      ? []
      : [
          '`where` must depend on the columns of the row alone: what makes a row enter it otherwise is found by the reconcile',
        ];
  }
  const reason = TELLING.test(version) ? 'it is no ordinary table' : `the source is version ${version}`;
  return [`${reason}, so a checksum of all rows is computed each time`];
}
