import { CosiftError, isCode } from '../../errors.js';
import { placeTables, tellNoOthers } from './distribution.js';
import type { Group, Groups } from './groups.js';
import { limitedDatabase } from './limited-database.js';
import { changeTable, type RecordTables, recordTables } from './schema.js';
import type { Servers } from './servers.js';
import type { Sql, SqlDatabase } from './sql.js';
import { FAILOVER } from './store-error.js';

/** The states of PostgreSQL for a table that is missing, and for one that exists. */
const MISSING = '42P01';
const EXISTS = ['42P07', '23505'];
/** The state of PostgreSQL for a statement that took too long. */
const TIMED_OUT = '57014';
/** Milliseconds that the removal of a table may take: Citus waits for every worker. */
const LIMIT_MS = 2_000;
/** Attempts to make tables and to take them into use. */
const MAX_ATTEMPTS = 5;

/** Names the tables of records: the number of a database, and its generation. */
export interface Numbers {
  number: number;
  generation: number;
}

export function tablesOf({ number, generation }: Numbers): RecordTables {
  return { records: recordsOf({ number, generation }), passages: `cosift.passages_${number}_${generation}` };
}

/** The table of the records of a database. */
export function recordsOf({ number, generation }: Numbers): string {
  return `cosift.records_${number}_${generation}`;
}

/** The table of the change feed of a database. */
export function changesOf({ number }: { number: number }): string {
  return `cosift.changes_${number}`;
}

/** Tables that no row names yet. */
export interface MadeTables extends Numbers {
  /** Identifies the table of records among those that had its name. */
  oid: number;
}

/**
 * Makes tables in a transaction of their own and takes them into use in another one, which so writes at the place of the
 * group only. Tables that are not taken into use are removed by {@link removeUnusedTables}.
 *
 * @param make Makes the tables.
 * @param use Takes them into use; returns undefined if others were quicker.
 */
export async function makeAndUse<T>(
  database: SqlDatabase,
  make: (sql: Sql) => Promise<MadeTables>,
  use: (sql: Sql, made: MadeTables) => Promise<T>,
): Promise<T> {
  let tellsAll = true;
  for (let attempt = 1; ; attempt++) {
    let made: MadeTables | undefined;
    try {
      const tables = await database.write(async (sql) => {
        if (!tellsAll) await tellNoOthers(sql);
        return await make(sql);
      });
      made = tables;
      return await database.write(async (sql) => {
        await keepTables(sql, tables);
        return await use(sql, tables);
      });
    } catch (error) {
      // Others removed the tables before they were in use, or made tables of the same name; or a worker of Citus was not
      // told yet that they are there.
      const state = error instanceof CosiftError ? String(error.fields.postgres) : '';
      const wereQuicker = state === MISSING || (made === undefined && EXISTS.includes(state));
      // A worker of Citus does not answer: the tables may be of another one.
      const isSilent = made === undefined && tellsAll && (FAILOVER.has(state) || state === TIMED_OUT);
      if (isSilent) tellsAll = false;
      if (!(wereQuicker || isSilent) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Keeps tables from being removed until the end of the transaction. */
async function keepTables(sql: Sql, made: MadeTables): Promise<void> {
  const records = recordsOf(made);
  await sql.run(`SELECT count(*) FROM ${records}`);
  if ((await oidOf(sql, records)) === made.oid) return;
  throw replaced();
}

/** Tables cannot be taken into use, and must be made again. */
export function replaced(): CosiftError {
  return new CosiftError('store_failed', 'the tables were replaced by others', {
    fields: { postgres: MISSING },
  });
}

/** Makes the first tables of a new database, which has no row yet. */
export async function makeTables(
  sql: Sql,
  { id, groups, dimensions }: { id: string; groups: Groups; dimensions: number },
): Promise<MadeTables> {
  const group = groups.of(id);
  const [row] = await sql.run<{ number: number }>(
    "SELECT nextval('cosift.numbers') * $1::bigint + $2::bigint AS number",
    [groups.all.length, group.place],
  );
  const { number } = row as { number: number };
  await sql.run('INSERT INTO cosift.names VALUES ($1::bigint, $2::text)', [number, id]);
  for (const statement of changeTable(changesOf({ number }))) await sql.run(statement);
  await placeTables(sql, [changesOf({ number })], group);
  return await makeRecordTables(sql, { number, generation: 1 }, dimensions, group);
}

export async function makeNextTables(
  sql: Sql,
  number: number,
  dimensions: number,
  group: Group,
): Promise<MadeTables> {
  const tables = await existing(sql, number);
  const generations = tables.map(({ generation }) => generation ?? 0);
  return await makeRecordTables(sql, { number, generation: Math.max(...generations) + 1 }, dimensions, group);
}

async function makeRecordTables(
  sql: Sql,
  numbers: Numbers,
  dimensions: number,
  group: Group,
): Promise<MadeTables> {
  const { records, passages } = tablesOf(numbers);
  for (const statement of recordTables({ records, passages }, dimensions)) await sql.run(statement);
  await placeTables(sql, [records, passages], group);
  return { ...numbers, oid: (await oidOf(sql, records)) as number };
}

async function oidOf(sql: Sql, table: string): Promise<number | null> {
  const [row] = await sql.run<{ oid: number | null }>('SELECT to_regclass($1::text)::oid::bigint AS oid', [
    table,
  ]);
  return row?.oid ?? null;
}

/** A table of records, passages or changes. */
interface ExistingTable {
  table: string;
  number: number;
  /** Null for a table of changes. */
  generation: number | null;
}

/** The tables of one database, or of all. */
async function existing(sql: Sql, number?: number): Promise<ExistingTable[]> {
  return await sql.run<ExistingTable>(
    `SELECT tablename AS table, split_part(tablename, '_', 2)::bigint AS number,
      nullif(split_part(tablename, '_', 3), '')::bigint AS generation
    FROM pg_tables WHERE schemaname = $1::text AND tablename ~ $2::text ORDER BY tablename`,
    ['cosift', `^(records|passages|changes)_${number ?? '[0-9]+'}(_[0-9]+)?$`],
  );
}

/** Tells which of the tables of databases are in use. */
async function usedOf(sql: Sql, group: Group): Promise<(table: ExistingTable) => boolean> {
  const rows = await sql.run<Numbers>(`SELECT number, generation FROM ${group.databases}`);
  const begun = await sql.run<Numbers>(`SELECT database AS number, generation FROM ${group.reembeddings}`);
  const used = new Set([...rows, ...begun].map(({ number, generation }) => `${number} ${generation}`));
  const numbers = new Set(rows.map(({ number }) => number));
  return ({ number, generation }) =>
    generation === null ? numbers.has(number) : used.has(`${number} ${generation}`);
}

/**
 * Removes the tables that no row names: those of databases that were dropped or have another model now, and those that were
 * never in use. Tables that are still being read are left. It never rejects: what is left is tried again after the next
 * drop, and when the store is opened.
 */
export async function removeUnusedTables(servers: Servers, number?: number): Promise<void> {
  try {
    const tables = await servers.database.read((sql) => existing(sql, number));
    const { answers, silent, groups } = await servers.readAll(async (sql, group) => ({
      group,
      isUsed: await usedOf(sql, group),
    }));
    // Citus removes a table only while all workers answer.
    if (silent.size > 0) return;
    for (const { group, isUsed } of answers) {
      const unused = tables.filter((table) => groups.ofNumber(table.number) === group && !isUsed(table));
      for (const table of unused) await removeUnused(servers.database, table, group);
    }
  } catch {
    // The database cannot be reached, or a worker does not answer.
  }
}

async function removeUnused(database: SqlDatabase, table: ExistingTable, group: Group): Promise<void> {
  const remove = async (sql: Sql) => {
    // A drop that waits for a reader keeps later readers waiting, too.
    await sql.run("SET LOCAL lock_timeout = '50ms'");
    await sql.run(`DROP TABLE IF EXISTS cosift.${table.table}`);
    if (table.generation === null) {
      await sql.run('DELETE FROM cosift.names WHERE number = $1::bigint', [table.number]);
    }
    // Who takes the table into use keeps it from being dropped until the row is there.
    if ((await usedOf(sql, group))(table)) throw new CosiftError('busy', 'the table is in use');
  };
  await limitedDatabase(database, LIMIT_MS)
    .write(remove)
    .catch((error) => {
      if (isCode(error, 'timed_out')) throw error;
    });
}
