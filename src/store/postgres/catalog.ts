import { randomBytes } from 'node:crypto';
import { CosiftError } from '../../errors.js';
import type { Limits } from '../../schema/index.js';
import { type NativeRules, native } from '../local/binding.js';
import { engineLimits } from '../local/engine-limits.js';
import { unwrap } from '../local/unwrap.js';
import type { StoredDatabase, StoreSettings } from '../record-store.js';
import { aliasOfOther } from '../store-errors.js';
import { findAlias, refuseIfNamed, refuseName } from './aliases.js';
import { lockThroughMoves } from './distribution.js';
import type { Group } from './groups.js';
import type { Servers } from './servers.js';
import { arrayOf, CLOCK, type Sql, type SqlValue } from './sql.js';
import {
  changesOf,
  makeAndUse,
  makeTables,
  recordsOf,
  removeUnusedTables,
  replaced,
  tablesOf,
} from './tables.js';
import { decodeText, encodeText } from './text.js';

/** A database as a transaction sees it. */
export interface CatalogEntry {
  number: number;
  id: string;
  /** The tables that describe it. */
  group: Group;
  /** Identifies the database among all that had its id, in 32 hexadecimal digits. */
  epoch: string;
  /** Counts the switches to another model, each of which makes a new table of records. */
  generation: number;
  /** JSON. */
  settings: string;
  created_at: number;
  last_write_at: number;
  records: number;
  next_id: number;
  /** Position of the last change. */
  position: number;
  /** Position of the last change that was removed. */
  removed: number;
  /** Number of the last commit. */
  version: number;
  /** Whether a record has or had several vectors. */
  has_passages: boolean;
  /** The names of the columns that have or had a list, JSON. */
  list_columns: string;
  /** Position of the last change that came from another store, without the data before the change. */
  adopted: number;
  /** The process that keeps the commits of others waiting, and until when by the clock of PostgreSQL. */
  held_by: string | null;
  held_until: number | null;
}

type Row = Omit<CatalogEntry, 'group'>;

/** A database that a transaction has locked. */
export interface LockedEntry extends CatalogEntry {
  /** The time of a write: that of the clock of PostgreSQL, but later than that of the last write. */
  now: number;
  clock: number;
}

/** What the reads of records need to know of a database. Nearly all commits leave it as it is. */
export type ReadEntry = Pick<
  CatalogEntry,
  'number' | 'id' | 'group' | 'epoch' | 'generation' | 'settings' | 'has_passages' | 'list_columns'
>;

/** The columns of a database that have or had a list. */
export function listColumnsOf({ list_columns }: Pick<ReadEntry, 'list_columns'>): ReadonlySet<string> {
  return new Set(JSON.parse(list_columns));
}

/** How the counts of a column change. */
export interface ColumnChange {
  name: string;
  /** Strings, numbers, booleans, nulls, lists. */
  counts: number[];
}

const TYPES = ['string', 'number', 'boolean', 'null', 'list'] as const;
/** The types as PostgreSQL calls them. */
const JSON_TYPES = { string: 'string', number: 'number', boolean: 'boolean', null: 'null', list: 'array' };

/** The sizes of a database, whose records are not in the memory of this process. */
const NO_MEMORY = {
  codes_bytes: 0,
  columns_bytes: 0,
  disk_bytes: 0,
  identities_bytes: 0,
  lexical_bytes: 0,
  memory_bytes: 0,
};

/** The databases of a store. */
export class Catalog {
  readonly #limits: Limits;
  readonly #servers: Servers;
  /** The rules of each database with the settings that they were made for. */
  readonly #rules = new Map<string, { key: string; rules: NativeRules }>();
  /** Each database as a transaction saw it last. */
  readonly #seen = new Map<string, ReadEntry>();
  #vectorType: number | undefined;

  constructor(limits: Limits, servers: Servers) {
    this.#limits = limits;
    this.#servers = servers;
  }

  /**
   * Runs reads of one database.
   *
   * @throws {CosiftError} `database_not_found`
   */
  async read<T>(
    id: string,
    work: (sql: Sql, entry: CatalogEntry) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return await this.#servers.of(id).read(async (sql) => work(sql, await this.find(sql, id)), signal);
  }

  /** @throws {CosiftError} `database_not_found` */
  async find(sql: Sql, id: string): Promise<CatalogEntry> {
    const entry = this.#checked(await this.findIfExists(sql, id), id);
    this.#seen.set(id, entry);
    return entry;
  }

  async findIfExists(sql: Sql, id: string): Promise<CatalogEntry | undefined> {
    const groups = this.#servers.groups(sql);
    // Once the groups are known, the statement is sent with the begin of the transaction.
    const group = (groups instanceof Promise ? await groups : groups).of(id);
    const [row] = await sql.run<Row>(`SELECT * FROM ${group.databases} WHERE id = $1::text`, [id]);
    return row && { ...row, group };
  }

  /**
   * Finds a database and keeps other writers of it waiting until the end of the transaction. So the commits of a
   * database, and the positions and times of their changes, are in one order.
   *
   * @throws {CosiftError} `database_not_found`
   */
  async lock(sql: Sql, id: string): Promise<LockedEntry> {
    const groups = await this.#servers.groups(sql);
    const group = groups.of(id);
    if (groups.all.length > 1) await lockThroughMoves(sql, group, id);
    const text = `SELECT *, ${CLOCK} AS clock FROM ${group.databases} WHERE id = $1::text FOR UPDATE`;
    const [row] = await sql.run<Row & { clock: number }>(text, [id]);
    const entry = this.#checked(row && { ...row, group }, id);
    return { ...entry, now: Math.max(entry.clock, entry.last_write_at + 1) };
  }

  /** The ids of all databases, also of those that do not answer, and maybe of some that were dropped. */
  async names(sql: Sql): Promise<string[]> {
    const rows = await sql.run<{ id: string }>('SELECT DISTINCT id FROM cosift.names');
    return rows.map(({ id }) => id);
  }

  async list(sql: Sql, group: Group): Promise<CatalogEntry[]> {
    const rows = await sql.run<Row>(`SELECT * FROM ${group.databases} ORDER BY id`);
    return rows.map((row) => ({ ...row, group }));
  }

  /** A database as a transaction saw it some time ago; undefined if none has. */
  seen(id: string): ReadEntry | undefined {
    return this.#seen.get(id);
  }

  /** The rules of the engine for the records of a database. */
  rulesOf({ id, epoch, settings }: ReadEntry): NativeRules {
    const key = `${epoch} ${settings}`;
    const known = this.#rules.get(id);
    if (known?.key === key) return known.rules;
    const rules = this.rulesFor({ id, epoch }, settings);
    this.#rules.set(id, { key, rules });
    return rules;
  }

  /** The rules for the records of a database that has other settings. */
  rulesFor({ id, epoch }: { id: string; epoch: string }, settings: string): NativeRules {
    return unwrap(native().makeRules(id, epoch, settings, engineLimits(this.#limits)));
  }

  async create(id: string, given: StoreSettings): Promise<{ created: boolean; database: StoredDatabase }> {
    const database = this.#servers.of(id);
    const found = await database.write(async (sql) => {
      if ((await findAlias(sql, id)) !== undefined) throw aliasOfOther(id);
      return await this.#existing(sql, id);
    });
    if (found !== undefined) return { created: false, database: found };
    const { created, described } = await makeAndUse(
      database,
      async (sql) => {
        const groups = await this.#servers.groups(sql);
        return await makeTables(sql, { id, groups, dimensions: given.dimensions });
      },
      async (sql, { number }) => {
        await refuseName(sql, id);
        const group = (await this.#servers.groups(sql)).of(id);
        const [row] = await sql.run<Row>(
          `INSERT INTO ${group.databases} (number, id, epoch, generation, settings, created_at, last_write_at,
            records, next_id, position, removed, version, has_passages)
          VALUES ($1::bigint, $2::text, $3::text, 1, $4::text, ${CLOCK}, ${CLOCK}, 0, 1, 0, 0, 0, false)
          ON CONFLICT (id) DO NOTHING RETURNING *`,
          [number, id, randomBytes(16).toString('hex'), settingsText(given)],
        );
        if (row !== undefined)
          return { created: true, described: await this.describe(sql, { ...row, group }) };
        const described = await this.#existing(sql, id);
        // Created by others meanwhile, and dropped.
        if (described === undefined) throw replaced();
        return { created: false, described };
      },
    );
    if (!created) await removeUnusedTables(this.#servers);
    return { created, database: described };
  }

  /** Describes a database; undefined where there is none. */
  async #existing(sql: Sql, id: string): Promise<StoredDatabase | undefined> {
    const existing = await this.findIfExists(sql, id);
    return existing && (await this.describe(sql, existing));
  }

  async changeSettings(
    sql: Sql,
    id: string,
    change: (current: StoreSettings) => StoreSettings,
  ): Promise<StoredDatabase> {
    const entry = await this.lock(sql, id);
    const settings = settingsText(change(settingsOf(entry)));
    const update = `UPDATE ${entry.group.databases} SET settings = $2::text WHERE id = $1::text`;
    await sql.run(update, [id, settings]);
    return await this.describe(sql, { ...entry, settings });
  }

  /** Returns the number of the database, whose tables are then unused. */
  async drop(sql: Sql, id: string): Promise<number> {
    await refuseIfNamed(sql, id);
    const { number, group } = await this.lock(sql, id);
    for (const table of [group.reembeddings, group.columns, group.syncs]) {
      await sql.run(`DELETE FROM ${table} WHERE database = $1::bigint`, [number]);
    }
    await sql.run(`DELETE FROM ${group.databases} WHERE id = $1::text`, [id]);
    this.#rules.delete(id);
    this.#seen.delete(id);
    return number;
  }

  /** The members are in the order of the embedded engine. */
  async describe(sql: Sql, entry: CatalogEntry): Promise<StoredDatabase> {
    const columns = await sql.run<{ name: string } & Record<string, number>>(
      `SELECT name, strings, numbers, booleans, nulls, lists FROM ${entry.group.columns}
      WHERE database = $1::bigint AND strings + numbers + booleans + nulls + lists > 0 ORDER BY version, place`,
      [entry.number],
    );
    const { embed, model, fingerprint, dimensions, lexical, flatten, defaults, formats } = settingsOf(entry);
    const { passages, without_text } = await vectorCounts(sql, entry);
    const disk_bytes = (await this.diskBytes(sql, [entry])).get(entry.number) ?? 0;
    return {
      ...(defaults && { defaults }),
      dimensions,
      embed: embed as StoredDatabase['embed'],
      fingerprint,
      ...(flatten && { flatten }),
      ...(formats && { formats }),
      id: entry.id,
      lexical: lexical ?? false,
      // Searches read the words of the records themselves.
      ...(lexical && { lexical_records: entry.records }),
      model,
      passages,
      records: entry.records,
      sizes: { ...NO_MEMORY, disk_bytes },
      times: {
        created_at: native().timeText(entry.created_at),
        last_write_at: native().timeText(entry.last_write_at),
      },
      without_text,
      columns: columns.map(({ name, strings, numbers, booleans, nulls, lists }) => {
        const counts = [strings, numbers, booleans, nulls, lists] as number[];
        return {
          name: decodeText(name),
          types: TYPES.filter((_, at) => (counts[at] as number) > 0),
          records: counts.reduce((sum, count) => sum + count, 0),
        };
      }),
    };
  }

  /** Bytes of the tables of databases with their indexes, by the numbers of the databases. */
  async diskBytes(sql: Sql, entries: readonly CatalogEntry[]): Promise<ReadonlyMap<number, number>> {
    const tables = entries.flatMap((entry) =>
      [...Object.values(tablesOf(entry)), changesOf(entry)].map((name) => ({ number: entry.number, name })),
    );
    // A table that was removed meanwhile has no size.
    const rows = await sql.run<{ number: number; bytes: number | null }>(
      `SELECT number, pg_total_relation_size(to_regclass(name)) AS bytes
      FROM unnest($1::bigint[], $2::text[]) AS t (number, name)`,
      [arrayOf(tables.map(({ number }) => number)), arrayOf(tables.map(({ name }) => name))],
    );
    const bytes = new Map<number, number>();
    for (const row of rows) bytes.set(row.number, (bytes.get(row.number) ?? 0) + (row.bytes ?? 0));
    return bytes;
  }

  /** The columns that the records of a database have or had. */
  async columnNames(sql: Sql, { number, group }: CatalogEntry): Promise<string[]> {
    const names = await sql.run<{ name: string }>(
      `SELECT name FROM ${group.columns} WHERE database = $1::bigint ORDER BY version, place`,
      [number],
    );
    return names.map(({ name }) => decodeText(name));
  }

  async countColumns(sql: Sql, { id, group }: CatalogEntry, changes: readonly ColumnChange[]): Promise<void> {
    if (changes.length === 0) return;
    const counts = TYPES.map((_, at) => arrayOf(changes.map((change) => change.counts[at])));
    await sql.run(
      `INSERT INTO ${group.columns} AS c (database, name, version, place, strings, numbers, booleans, nulls, lists)
      SELECT d.number, t.name, d.version, t.place, t.strings, t.numbers, t.booleans, t.nulls, t.lists
      FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[])
        WITH ORDINALITY AS t (name, strings, numbers, booleans, nulls, lists, place)
        CROSS JOIN ${group.databases} AS d WHERE d.id = $1::text
      ON CONFLICT (database, name) DO UPDATE SET strings = c.strings + excluded.strings,
        numbers = c.numbers + excluded.numbers, booleans = c.booleans + excluded.booleans,
        nulls = c.nulls + excluded.nulls, lists = c.lists + excluded.lists`,
      [id, arrayOf(changes.map(({ name }) => encodeText(name))), ...counts],
    );
  }

  /** Subtracts the values of stored records that are in both arrays of ids. */
  async uncountColumns(sql: Sql, entry: CatalogEntry, some: SqlValue, others: SqlValue): Promise<void> {
    const counts = TYPES.map(
      (type) => `count(*) FILTER (WHERE jsonb_typeof(value) = '${JSON_TYPES[type]}') AS ${type}`,
    );
    const columns = await sql.run<{ name: string } & Record<(typeof TYPES)[number], number>>(
      `SELECT name, ${counts.join(', ')} FROM ${recordsOf(entry)} CROSS JOIN jsonb_each(cells) AS t (name, value)
      WHERE id = ANY($1::bigint[]) AND id = ANY($2::bigint[]) GROUP BY name`,
      [some, others],
    );
    const changes = columns.map(({ name, ...column }) => ({
      name: decodeText(name),
      counts: TYPES.map((type) => -column[type]),
    }));
    await this.countColumns(sql, entry, changes);
  }

  /** The number of the type `vector`. */
  async vectorType(sql: Sql): Promise<number> {
    if (this.#vectorType === undefined) {
      const [row] = await sql.run<{ type: number }>("SELECT 'vector'::regtype::oid::bigint AS type");
      this.#vectorType = row?.type as number;
    }
    return this.#vectorType;
  }

  #checked<Entry extends CatalogEntry>(entry: Entry | undefined, id: string): Entry {
    if (entry !== undefined) return entry;
    this.#rules.delete(id);
    this.#seen.delete(id);
    throw databaseNotFound(id);
  }
}

/** How many vectors the records of a database have, and how many records have none. */
async function vectorCounts(
  sql: Sql,
  entry: CatalogEntry,
): Promise<{ passages: number; without_text: number }> {
  const { records, passages } = tablesOf(entry);
  const [without] = await sql.run<{ count: number }>(
    `SELECT count(*) AS count FROM ${records} WHERE exact IS NULL`,
  );
  const without_text = without?.count ?? 0;
  const ofOne = entry.records - without_text;
  if (!entry.has_passages) return { passages: ofOne, without_text };
  const [several] = await sql.run<{ vectors: number; records: number }>(
    `SELECT count(*) AS vectors, count(*) FILTER (WHERE number = 0) AS records FROM ${passages}`,
  );
  return { passages: ofOne + (several?.vectors ?? 0) - (several?.records ?? 0), without_text };
}

export function settingsOf({ settings }: { settings: string }): StoreSettings {
  return JSON.parse(settings);
}

/** Settings as they are stored: equal settings have equal texts. */
export function settingsText({
  model,
  fingerprint,
  dimensions,
  embed,
  lexical = false,
  flatten = false,
  defaults,
  formats,
}: StoreSettings): string {
  const kept = Object.entries({ defaults, formats }).flatMap(([name, value = {}]) => {
    // The names are in the order of the embedded engine.
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return members.length === 0 ? [] : [[name, Object.fromEntries(members)]];
  });
  const others = { ...(flatten && { flatten }), ...Object.fromEntries(kept) };
  return JSON.stringify({ model, fingerprint, dimensions, embed: embed ?? {}, lexical, ...others });
}

export function databaseNotFound(id: string): CosiftError {
  return new CosiftError('database_not_found', `there is no database ${JSON.stringify(id)}`);
}
