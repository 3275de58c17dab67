import { sleep } from '../../async/sleep.js';
import { CosiftError } from '../../errors.js';
import type { Sql, SqlDatabase } from './sql.js';

/**
 * The states of PostgreSQL when a lock is not given in time, and when another process has just created the same schema,
 * extension or table.
 */
const IN_USE = ['55P03', '23505', '42P06', '42P07', '42710'];
/** Attempts to migrate tables that are in use: about two minutes. */
const MAX_ATTEMPTS = 80;
const ATTEMPT_PAUSE_MS = 1_000;

/**
 * The statements of each version of the tables. A version that was released never changes. The role of a replica may read
 * the tables that are made after version 2, so a later one must not hold secrets.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE cosift.databases (
      number bigint GENERATED ALWAYS AS IDENTITY,
      id text COLLATE "C" PRIMARY KEY,
      epoch text NOT NULL,
      generation integer NOT NULL,
      settings text NOT NULL,
      created_at bigint NOT NULL,
      last_write_at bigint NOT NULL,
      records bigint NOT NULL,
      next_id bigint NOT NULL,
      position bigint NOT NULL,
      removed bigint NOT NULL,
      version bigint NOT NULL,
      has_passages boolean NOT NULL,
      adopted bigint NOT NULL DEFAULT 0
    )`,
    `CREATE TABLE cosift.columns (
      place bigint GENERATED ALWAYS AS IDENTITY,
      database bigint NOT NULL,
      name text COLLATE "C" NOT NULL,
      strings bigint NOT NULL,
      numbers bigint NOT NULL,
      booleans bigint NOT NULL,
      nulls bigint NOT NULL,
      PRIMARY KEY (database, name)
    )`,
    // Tables of databases that were dropped, or have another model now. A reader may still use them.
    'CREATE TABLE cosift.unused_tables (name text PRIMARY KEY)',
    `CREATE TABLE cosift.reembeddings (
      database bigint PRIMARY KEY,
      generation integer NOT NULL,
      settings text NOT NULL,
      started_at bigint NOT NULL,
      done_version bigint NOT NULL,
      done_id bigint NOT NULL
    )`,
    // What the services that share the database keep as a whole: the issued keys, and the hash of the admin key.
    'CREATE TABLE cosift.service_state (name text PRIMARY KEY, version bigint NOT NULL, content text NOT NULL)',
    `CREATE TABLE cosift.webhooks (
      place bigint GENERATED ALWAYS AS IDENTITY,
      webhook_id text PRIMARY KEY,
      database text NOT NULL,
      stored text NOT NULL,
      owner text,
      leased_until timestamptz
    )`,
    // The last re-embedding of each database, and the process that does it.
    `CREATE TABLE cosift.reembedding_jobs (
      database text PRIMARY KEY,
      state text NOT NULL,
      owner text,
      leased_until timestamptz
    )`,
  ],
  // The process that keeps the writers of others waiting, for the switch to another model.
  ['ALTER TABLE cosift.databases ADD COLUMN held_by text, ADD COLUMN held_until timestamptz'],
];

/**
 * Creates the tables, or migrates those of an earlier version. Several processes may do so at the same time.
 *
 * @throws {CosiftError} `store_failed` for a database that cosift cannot use.
 */
export async function migrate(database: SqlDatabase): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await migrateOnce(database);
      return;
    } catch (error) {
      const isInUse = error instanceof CosiftError && IN_USE.includes(String(error.fields.postgres));
      if (!isInUse || attempt === MAX_ATTEMPTS) throw error;
      await sleep(ATTEMPT_PAUSE_MS);
    }
  }
}

async function migrateOnce(database: SqlDatabase): Promise<void> {
  // Most starts have nothing to do, so they take no lock that another session could hold.
  if ((await database.read(versionOf)) === MIGRATIONS.length) return;
  await database.write(async (sql) => {
    // A change that waits for a long read, such as an export, keeps all later statements waiting, too.
    await sql.run("SET LOCAL lock_timeout = '500ms'");
    await prepareServer(sql);
    await sql.run('CREATE TABLE IF NOT EXISTS cosift.schema_version (version integer NOT NULL)');
    // Only the owner of the tables can take this lock. Any role could take an advisory lock.
    await sql.run('LOCK TABLE cosift.schema_version IN EXCLUSIVE MODE');
    const current = await versionOf(sql);
    const version = current ?? 0;
    for (const statements of MIGRATIONS.slice(version)) {
      for (const statement of statements) await sql.run(statement);
    }
    if (current === undefined) {
      await sql.run('INSERT INTO cosift.schema_version VALUES ($1::integer)', [MIGRATIONS.length]);
    } else if (version < MIGRATIONS.length) {
      await sql.run('UPDATE cosift.schema_version SET version = $1::integer', [MIGRATIONS.length]);
    }
  });
}

/**
 * The version of the tables; undefined where there are none.
 *
 * @throws {CosiftError} `store_failed` for a version that this cosift does not know.
 */
async function versionOf(sql: Sql): Promise<number | undefined> {
  const [tables] = await sql.run<{ exist: boolean }>(
    "SELECT to_regclass('cosift.schema_version') IS NOT NULL AS exist",
  );
  if (!tables?.exist) return undefined;
  const [current] = await sql.run<{ version: number }>('SELECT version FROM cosift.schema_version');
  if (current !== undefined && current.version > MIGRATIONS.length) {
    throw new CosiftError(
      'store_failed',
      `the tables of the store have version ${current.version}, which a later version of cosift made; update this one`,
    );
  }
  return current?.version;
}

/** Checks that the database can have the tables, and adds the type of vectors and the schema of the tables. */
async function prepareServer(sql: Sql): Promise<void> {
  const [server] = await sql.run<{ encoding: string; pgvector: boolean; schema: boolean }>(
    `SELECT current_setting('server_encoding') AS encoding,
      EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector') AS pgvector,
      EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1::text) AS schema`,
    ['cosift'],
  );
  if (server?.encoding !== 'UTF8') {
    throw new CosiftError(
      'store_failed',
      `the database of the store has the encoding ${server?.encoding}; create one with UTF8`,
    );
  }
  if (!server.pgvector) {
    throw new CosiftError(
      'store_failed',
      'the server of the store has no pgvector; install its extension "vector"',
    );
  }
  await sql.run('CREATE EXTENSION IF NOT EXISTS vector');
  // The privilege to create schemas would be needed for one that exists, too.
  if (!server.schema) await sql.run('CREATE SCHEMA cosift');
}

/** A vector of more dimensions does not fit into a row next to the other columns, so it is stored outside of the row. */
const MAX_PLAIN_DIMENSIONS = 1_000;

/** The tables of the records of a database. */
export interface RecordTables {
  records: string;
  /** All vectors of the records that have several, by which searches find them. */
  passages: string;
}

/**
 * The statements that create the records of a database.
 *
 * A search reads the vector of every record. It is behind columns of fixed width that are never null, because
 * PostgreSQL then knows its place in a row: behind the others, a scan took 1.4 times as long.
 */
export function recordTables({ records, passages }: RecordTables, dimensions: number): string[] {
  const storage = dimensions <= MAX_PLAIN_DIMENSIONS ? 'PLAIN' : 'EXTERNAL';
  return [
    `CREATE TABLE ${records} (
      id bigint PRIMARY KEY,
      created bigint NOT NULL,
      changed bigint NOT NULL,
      synced bigint NOT NULL,
      version bigint NOT NULL,
      uuid uuid NOT NULL,
      emb vector(${dimensions}),
      direction bytea,
      exact bytea,
      passages bytea,
      key bytea,
      data text NOT NULL,
      cells jsonb NOT NULL,
      hash bytea NOT NULL
    )`,
    `ALTER TABLE ${records} ALTER emb SET STORAGE ${storage}, ALTER exact SET STORAGE EXTERNAL,
      ALTER passages SET STORAGE EXTERNAL`,
    `CREATE INDEX ON ${records} (uuid)`,
    `CREATE INDEX ON ${records} (direction, id)`,
    `CREATE INDEX ON ${records} (version, id)`,
    // The default order of listings in both variants.
    `CREATE INDEX ON ${records} (synced DESC, id)`,
    `CREATE INDEX ON ${records} (synced DESC, uuid)`,
    // Few records have no vector, and they are counted.
    `CREATE INDEX ON ${records} (id) WHERE exact IS NULL`,
    `CREATE TABLE ${passages} (
      record bigint,
      number bigint,
      passage_emb vector(${dimensions}) NOT NULL,
      passage_direction bytea NOT NULL,
      PRIMARY KEY (record, number)
    )`,
    `ALTER TABLE ${passages} ALTER passage_emb SET STORAGE ${storage}`,
    `CREATE INDEX ON ${passages} (passage_direction, record)`,
  ];
}

/** The statements that create the change feed of a database. */
export function changeTable(table: string): string[] {
  return [
    `CREATE TABLE ${table} (
      position bigint PRIMARY KEY,
      kind smallint NOT NULL,
      id bigint NOT NULL,
      uuid uuid NOT NULL,
      key bytea,
      at bigint NOT NULL,
      written bigint NOT NULL,
      before text
    )`,
  ];
}
