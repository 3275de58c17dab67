import { sleep } from '../../async/sleep.js';
import { CosiftError } from '../../errors.js';
import { groupCount, placeGroup, placeTables } from './distribution.js';
import { type Group, Groups } from './groups.js';
import type { Sql, SqlDatabase } from './sql.js';

/** The state of PostgreSQL when a lock is not given in time. */
const LOCKED = '55P03';
/** The states when another process has just created the same schema, extension or table, which are there now. */
const CREATED = ['23505', '42P06', '42P07', '42710'];
/** Attempts to migrate tables that are in use: about two minutes. */
const MAX_ATTEMPTS = 80;
const ATTEMPT_PAUSE_MS = 1_000;

/** The statements of a version: for what the services of a store share, and for each group of databases. */
interface Migration {
  shared: readonly string[];
  ofGroup: (group: Group) => readonly string[];
  /** The tables that a group gets which exists already. */
  tables?: (group: Group) => readonly string[];
}

/** The version of the tables that the first of {@link MIGRATIONS} makes. Earlier versions were not released. */
const FIRST_VERSION = 3;

/**
 * The statements of each version of the tables. A version that was released never changes. The role of a replica may read
 * the tables that are made after the first version, so a later one must not hold secrets.
 */
const MIGRATIONS: readonly Migration[] = [
  {
    shared: [
      // The databases whose tables were made. Whether a database exists is told by the table of its group.
      'CREATE TABLE cosift.names (number bigint PRIMARY KEY, id text COLLATE "C" NOT NULL)',
      'CREATE SEQUENCE cosift.numbers',
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
    ofGroup: ({ databases, columns, reembeddings }) => [
      `CREATE TABLE ${databases} (
        number bigint NOT NULL,
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
      // In the order of the commits that added them, and of the columns of each.
      `CREATE TABLE ${columns} (
        database bigint NOT NULL,
        name text COLLATE "C" NOT NULL,
        version bigint NOT NULL,
        place bigint NOT NULL,
        strings bigint NOT NULL,
        numbers bigint NOT NULL,
        booleans bigint NOT NULL,
        nulls bigint NOT NULL,
        PRIMARY KEY (database, name)
      )`,
      `CREATE TABLE ${reembeddings} (
        database bigint PRIMARY KEY,
        generation integer NOT NULL,
        settings text NOT NULL,
        started_at bigint NOT NULL,
        done_version bigint NOT NULL,
        done_id bigint NOT NULL
      )`,
    ],
  },
  {
    shared: [],
    ofGroup: ({ databases }) => [
      // The process that keeps the writers of others waiting, for the switch to another model.
      `ALTER TABLE ${databases} ADD COLUMN held_by text, ADD COLUMN held_until bigint`,
    ],
  },
  {
    shared: [
      // Further names of databases.
      'CREATE TABLE cosift.aliases (name text COLLATE "C" PRIMARY KEY, database text COLLATE "C" NOT NULL)',
    ],
    ofGroup: () => [],
  },
  {
    shared: [],
    ofGroup: ({ databases, columns }) => [
      // The names of the columns that have or had a list, JSON.
      `ALTER TABLE ${databases} ADD COLUMN list_columns text NOT NULL DEFAULT '[]'`,
      `ALTER TABLE ${columns} ADD COLUMN lists bigint NOT NULL DEFAULT 0`,
    ],
  },
  {
    shared: [],
    ofGroup: ({ syncs }) => [
      // What the syncs of databases keep between their rounds.
      `CREATE TABLE ${syncs} (
        database bigint NOT NULL,
        name text COLLATE "C" NOT NULL,
        state text NOT NULL,
        PRIMARY KEY (database, name)
      )`,
    ],
    tables: ({ syncs }) => [syncs],
  },
];

/** The version of the tables that this program uses. */
const VERSION = FIRST_VERSION + MIGRATIONS.length - 1;

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
      const state = error instanceof CosiftError ? String(error.fields.postgres) : '';
      if (![LOCKED, ...CREATED].includes(state) || attempt === MAX_ATTEMPTS) throw error;
      if (state === LOCKED) await sleep(ATTEMPT_PAUSE_MS);
    }
  }
}

async function migrateOnce(database: SqlDatabase): Promise<void> {
  // Most starts have nothing to do, so they take no lock that another session could hold.
  if ((await database.read(stateOf))?.version === VERSION) return;
  await database.write(async (sql) => {
    // A change that waits for a long read, such as an export, keeps all later statements waiting, too.
    await sql.run("SET LOCAL lock_timeout = '500ms'");
    await prepareServer(sql);
    await sql.run(
      'CREATE TABLE IF NOT EXISTS cosift.schema_version (version integer NOT NULL, groups integer NOT NULL)',
    );
    // Only the owner of the tables can take this lock. Any role could take an advisory lock.
    await sql.run('LOCK TABLE cosift.schema_version IN EXCLUSIVE MODE');
    const current = await stateOf(sql);
    const count = current?.groups ?? (await groupCount(sql));
    const groups = new Groups(count);
    const due = MIGRATIONS.slice(current ? current.version + 1 - FIRST_VERSION : 0);
    for (const { shared, ofGroup } of due) {
      for (const statement of [...shared, ...groups.all.flatMap(ofGroup)]) await sql.run(statement);
    }
    if (current === undefined) {
      for (const group of groups.all) await placeGroup(sql, group);
      await sql.run('INSERT INTO cosift.schema_version VALUES ($1::integer, $2::integer)', [VERSION, count]);
    } else if (current.version < VERSION) {
      for (const group of groups.all) {
        for (const { tables } of due) await placeTables(sql, tables?.(group) ?? [], group);
      }
      await sql.run('UPDATE cosift.schema_version SET version = $1::integer', [VERSION]);
    }
  });
}

/** The groups of the databases of a store whose tables exist. */
export async function groupsOf(sql: Sql): Promise<Groups> {
  const [row] = await sql.run<{ groups: number }>('SELECT groups FROM cosift.schema_version');
  return new Groups(row?.groups ?? 1);
}

/**
 * The version of the tables, and the number of groups; undefined where there are none.
 *
 * @throws {CosiftError} `store_failed` for a version that this cosift does not know.
 */
async function stateOf(sql: Sql): Promise<{ version: number; groups: number } | undefined> {
  const [tables] = await sql.run<{ exist: boolean }>(
    "SELECT to_regclass('cosift.schema_version') IS NOT NULL AS exist",
  );
  if (!tables?.exist) return undefined;
  const [current] = await sql.run<{ version: number; groups: number }>('SELECT * FROM cosift.schema_version');
  if (current === undefined) return undefined;
  const { version } = current;
  if (version >= FIRST_VERSION && version <= VERSION) return current;
  throw new CosiftError(
    'store_failed',
    version > VERSION
      ? `the tables of the store have version ${version}, which a later version of cosift made; update this one`
      : `the tables of the store have version ${version}, which a version of cosift made that was not released; use an empty database`,
  );
}

/** Checks that the database can have the tables, and adds the type of vectors and the schema of the tables. */
async function prepareServer(sql: Sql): Promise<void> {
  const [server] = await sql.run<{
    encoding: string;
    pgvector: boolean;
    extension: boolean;
    schema: boolean;
  }>(
    `SELECT current_setting('server_encoding') AS encoding,
      EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector') AS pgvector,
      EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector') AS extension,
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
  // The privilege to create them would be needed for those that exist, too.
  if (!server.extension) await sql.run('CREATE EXTENSION IF NOT EXISTS vector');
  if (!server.schema) await sql.run('CREATE SCHEMA cosift');
}

/** A vector of more dimensions does not fit into a row next to the other columns, so it is stored outside of the row. */
const MAX_PLAIN_DIMENSIONS = 1_000;

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
    // The default order of listings, by either identity.
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
