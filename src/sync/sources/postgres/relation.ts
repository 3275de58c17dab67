import { CosiftError } from '../../../errors.js';
import { type ColumnReader, columnReader, type SourceType } from '../column-readers.js';
import { checkWhere, type TableDefinition } from '../definition.js';
import { type KeysOfTable, tableColumns } from '../table-columns.js';
import type { Snapshot } from './connection.js';
import { quoted } from './names.js';
import { sqlTypes } from './sql-types.js';

/** What is known of the table or query of a source at one moment. */
export interface Relation {
  /** What stands after FROM. */
  from: string;
  /** The table with its schema, quoted; absent for a query. */
  table?: string | undefined;
  /** `poll`: the rows that changed are found by their transactions. `scan`: all rows are read. */
  method: 'poll' | 'scan';
  columns: readonly ColumnReader[];
  key: readonly { name: string; type: string; kind: SourceType['kind'] }[];
  /** The declared types of the columns. */
  types: readonly { name: string; type: string }[];
  /** Differs for another server, and after a restore or a failover. */
  identity: string;
  /**
   * Differs for another table of this name, other partitions, and whatever changes values without writing their rows; and after
   * a start of the server, whose files may have been replaced while it was stopped.
   */
  layout: string;
  notices: readonly string[];
}

const MIN_VERSION = 130_000;
/** Tables whose rows have the numbers of their transactions. */
const HEAPS = ['r', 'p'];

/** @throws {CosiftError} `source_failed` for a definition that does not fit to the database. */
export async function readRelation(snapshot: Snapshot, definition: TableDefinition): Promise<Relation> {
  const server = await serverOf(snapshot);
  const { table, query } = definition;
  const found = table === undefined ? undefined : await tableOf(snapshot, table);
  const from = `${found?.name ?? `(${query as string}\n)`} AS source`;
  const given = await snapshot.columnsOf(found === undefined ? (query as string) : `TABLE ${found.name}`);
  const what = table ?? 'the query';
  await checkWhere(definition, (expression) => snapshot.rows(`SELECT ${expression} FROM ${from} LIMIT 0`));
  const types = await sqlTypes(snapshot, [...new Set(given.map(({ type }) => type))]);
  const typeOf = new Map(given.map(({ name, type }) => [name, types.get(type) as SourceType]));
  const { columns, key, declared } = tableColumns(definition, typeOf, found, what);
  const reason = reasonToScan(definition, server, found, typeOf);
  if (definition.stream !== undefined && reason !== undefined)
    throw new CosiftError('source_failed', `\`stream\` is not possible: ${reason}`);
  return {
    from,
    table: found?.name,
    method: reason === undefined ? 'poll' : 'scan',
    columns: columns.map(({ name, type, given }) => columnReader(name, type, given, expressionsOf(name))),
    key: key.map(({ name, type }) => ({ name, type: type.name, kind: type.kind })),
    types: declared,
    identity: server.identity,
    layout: JSON.stringify([server.state, found?.layout, declared]),
    notices: noticesOf(definition, reason),
  };
}

interface Server {
  identity: string;
  /** Its start, and the labels of all enums. */
  state: string;
  isStandby: boolean;
  isUtf8: boolean;
}

async function serverOf(snapshot: Snapshot): Promise<Server> {
  const [[version, database, isStandby, encoding, state, mayAsk] = []] = await snapshot.rows(`
    SELECT current_setting('server_version_num'), d.oid::text, pg_is_in_recovery()::text,
      current_setting('server_encoding'), concat_ws(' ', pg_postmaster_start_time(),
        (SELECT md5(string_agg(concat_ws(' ', oid, enumlabel), ',' ORDER BY oid)) FROM pg_enum)),
      has_function_privilege('pg_control_system()', 'EXECUTE') AND has_function_privilege('pg_control_checkpoint()', 'EXECUTE')
    FROM pg_database d WHERE d.datname = current_database()`);
  if (Number(version) < MIN_VERSION)
    throw new CosiftError('source_failed', 'the source is a PostgreSQL before version 13');
  const [control = []] =
    mayAsk !== 't'
      ? []
      : await snapshot.rows(
          'SELECT system_identifier::text, timeline_id::text FROM pg_control_system(), pg_control_checkpoint()',
        );
  return {
    identity: [...control, database].join('/'),
    state: state as string,
    isStandby: isStandby === 'true',
    isUtf8: encoding === 'UTF8',
  };
}

interface Table extends KeysOfTable {
  /** The name with its schema, quoted. */
  name: string;
  layout: string;
}

/** The table, and those that it is made of: its partitions and the tables that inherit from it. */
const TABLE = `
  WITH RECURSIVE parts AS (
    SELECT to_regclass($1)::oid AS oid
    UNION
    SELECT i.inhrelid FROM parts JOIN pg_inherits i ON i.inhparent = parts.oid
  ), classes AS (
    SELECT c.oid, c.relfilenode, c.relkind, coalesce(am.amname, '') AS method,
      (SELECT string_agg(i.xmin::text, ' ' ORDER BY i.inhseqno) FROM pg_inherits i WHERE i.inhrelid = c.oid) AS attached
    FROM parts JOIN pg_class c ON c.oid = parts.oid LEFT JOIN pg_am am ON am.oid = c.relam
  )
  SELECT format('%I.%I', n.nspname, c.relname), c.relkind::text,
    (SELECT bool_and(relkind IN ('r', 'p') AND method IN ('', 'heap')) AND (c.relkind = 'p' OR count(*) = 1) FROM classes)::text,
    (SELECT md5(string_agg(concat_ws(' ', oid, relfilenode, attached), ',' ORDER BY oid)) FROM classes) || ' ' ||
    (SELECT md5(string_agg(concat_ws(' ', attnum, attname, atttypid, atttypmod, attisdropped, atthasmissing, xmin), ',' ORDER BY attnum))
     FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0) || ' ' ||
    (SELECT coalesce(md5(string_agg(concat_ws(' ', adrelid, adnum, pg_get_expr(adbin, adrelid)), ',' ORDER BY adrelid, adnum)), '')
     FROM classes JOIN pg_attrdef ON adrelid = classes.oid JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
     WHERE attgenerated <> '')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)`;

/** The keys of a table: columns of unique indexes without conditions and expressions that have no NULL. */
const KEYS = `
  SELECT i.indisprimary::text, json_agg(a.attname ORDER BY k.place)::text
  FROM pg_index i
  CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
  LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
  WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND k.place <= i.indnkeyatts
  GROUP BY i.indexrelid, i.indisprimary HAVING bool_and(coalesce(a.attnotnull, false))
  ORDER BY i.indisprimary DESC, i.indexrelid`;

async function tableOf(snapshot: Snapshot, table: string): Promise<Table> {
  const [found] = await snapshot.rows(TABLE, [table]);
  if (found === undefined) {
    throw new CosiftError(
      'source_failed',
      `the source has no table ${table}, or its user may not use the schema`,
    );
  }
  const [name, kind, isHeap, layout] = found as string[];
  const keys = (await snapshot.rows(KEYS, [table])).map(([isPrimary, names]) => ({
    isPrimary: isPrimary === 'true',
    names: JSON.parse(names as string) as string[],
  }));
  return {
    name: name as string,
    hasRows: HEAPS.includes(kind as string) && isHeap === 'true',
    layout: layout as string,
    primaryKey: keys.find(({ isPrimary }) => isPrimary)?.names ?? [],
    uniqueKeys: keys.map(({ names }) => names),
  };
}

function expressionsOf(name: string) {
  return { scalar: `${quoted(name)}::text`, list: `to_json(${quoted(name)}::text[])::text` };
}

/** Why changes cannot be told by the transactions that wrote the rows, if they cannot. */
function reasonToScan(
  { columns, rls }: TableDefinition,
  { isStandby, isUtf8 }: Server,
  found: Table | undefined,
  types: ReadonlyMap<string, SourceType>,
): string | undefined {
  if (isStandby) return 'the source is a standby';
  if (!found?.hasRows) return 'it is no ordinary table';
  if (!isUtf8) return 'the encoding of the source is not UTF8';
  // A policy, or what it depends on, may change what is visible of rows that nobody writes.
  if (rls) return 'row-level security may hide rows';
  // The text of such a value may depend on other tables, such as that of a regclass.
  const other = columns.find((name) => (types.get(name)?.element ?? types.get(name))?.kind === undefined);
  return other === undefined ? undefined : `column "${other}" has the type ${types.get(other)?.name}`;
}

function noticesOf({ where, rls }: TableDefinition, reason: string | undefined): string[] {
  return [
    ...(reason === undefined ? [] : [`${reason}, so all rows are read each time`]),
    ...(reason === undefined && where !== undefined
      ? [
          '`where` must depend on the columns of the row alone: what makes a row enter it otherwise is found by the reconcile',
        ]
      : []),
    ...(rls ? ['rows that row-level security hides count as absent'] : []),
  ];
}

/** The name of a table for LOCK TABLE, before anything else is known of it; undefined for what cannot be locked. */
export async function lockableName(
  snapshot: Snapshot,
  { table }: TableDefinition,
): Promise<string | undefined> {
  if (table === undefined) return undefined;
  const [[name, kind] = []] = await snapshot.rows(
    "SELECT format('%I.%I', n.nspname, c.relname), c.relkind::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1)",
    [table],
  );
  return HEAPS.includes(kind ?? '') ? (name as string) : undefined;
}

/** The columns of a definition as they are selected: the key, the data, and the times. */
export function selected({ key, columns }: Relation, { times }: TableDefinition): string {
  const time = (name: string | undefined) => (name === undefined ? 'NULL' : `${quoted(name)}::text`);
  return [
    ...key.map(({ name }) => `${quoted(name)}::text`),
    ...columns.map(({ expression }) => expression),
    time(times?.created),
    time(times?.changed),
  ].join(', ');
}
