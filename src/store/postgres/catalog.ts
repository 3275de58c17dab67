import { randomBytes } from 'node:crypto';
import { CosiftError, type ErrorCode } from '../../errors.js';
import type { Limits } from '../../schema/index.js';
import { type NativeRules, native } from '../local/binding.js';
import { engineLimits } from '../local/engine-limits.js';
import { unwrap } from '../local/unwrap.js';
import type { StoredDatabase, StoreSettings } from '../record-store.js';
import { CLOCK } from './clock.js';
import { type Distribution, distribute, distributeLike } from './distribution.js';
import { hasHnswIndex } from './hnsw-index.js';
import { changeTable, type RecordTables, recordTables } from './schema.js';
import { arrayOf, type Sql, type SqlDatabase } from './sql.js';
import { decodeText, encodeText } from './text.js';

/** A database as a transaction sees it. */
export interface CatalogEntry {
  number: number;
  id: string;
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
  /** Position of the last change that came from another store, without the data before the change. */
  adopted: number;
  /** The process that keeps the commits of others waiting, also after its time. */
  held_by: string | null;
}

/** A database that a transaction has locked. */
export interface LockedEntry extends CatalogEntry {
  /** The time of a write: that of the clock of PostgreSQL, but later than that of the last write. */
  now: number;
}

/** What the reads of records need to know of a database. Nearly all commits leave it as it is. */
export type ReadEntry = Pick<
  CatalogEntry,
  'number' | 'id' | 'epoch' | 'generation' | 'settings' | 'has_passages'
>;

/** How the counts of a column change. */
export interface ColumnChange {
  name: string;
  /** Strings, numbers, booleans, nulls. */
  counts: number[];
}

const TYPES = ['string', 'number', 'boolean', 'null'] as const;

/** The sizes of a database, whose records are not in the memory of this process. */
const NO_MEMORY = {
  approximate_bytes: 0,
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
  /** The rules of each database with the settings that they were made for. */
  readonly #rules = new Map<string, { key: string; rules: NativeRules }>();
  /** Each database as a transaction saw it last. */
  readonly #seen = new Map<string, ReadEntry>();
  readonly #distribution: Distribution | undefined;
  #vectorType: number | undefined;

  /** `distribution` is that of the tables of new databases; undefined where there is no Citus. */
  constructor(limits: Limits, distribution?: Distribution) {
    this.#limits = limits;
    this.#distribution = distribution;
  }

  /** @throws {CosiftError} `database_not_found` */
  async find(sql: Sql, id: string): Promise<CatalogEntry> {
    const entry = this.#checked(await this.findIfExists(sql, id), id);
    this.#seen.set(id, entry);
    return entry;
  }

  async findIfExists(sql: Sql, id: string): Promise<CatalogEntry | undefined> {
    const [entry] = await sql.run<CatalogEntry>('SELECT * FROM cosift.databases WHERE id = $1::text', [id]);
    return entry;
  }

  /**
   * Finds a database and keeps other writers of it waiting until the end of the transaction. So the commits of a
   * database, and the positions and times of their changes, are in one order.
   *
   * @throws {CosiftError} `database_not_found`
   */
  async lock(sql: Sql, id: string): Promise<LockedEntry> {
    const text = `SELECT *, ${CLOCK} AS clock FROM cosift.databases WHERE id = $1::text FOR UPDATE`;
    const [found] = await sql.run<CatalogEntry & { clock: number }>(text, [id]);
    const { clock, ...entry } = this.#checked(found, id);
    return { ...entry, now: Math.max(clock, entry.last_write_at + 1) };
  }

  async list(sql: Sql): Promise<CatalogEntry[]> {
    return await sql.run<CatalogEntry>('SELECT * FROM cosift.databases ORDER BY id');
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

  /** Creates a database, or returns one that exists with the same settings. */
  async create(
    sql: Sql,
    id: string,
    given: StoreSettings,
  ): Promise<{ created: boolean; entry: CatalogEntry }> {
    const settings = settingsText(given);
    const values = [id, randomBytes(16).toString('hex'), settings];
    const [entry] = await sql.run<CatalogEntry>(
      `INSERT INTO cosift.databases
        (id, epoch, generation, settings, created_at, last_write_at, records, next_id, position, removed, version,
        has_passages)
      VALUES ($1::text, $2::text, 1, $3::text, ${CLOCK}, ${CLOCK}, 0, 1, 0, 0, 0, false)
      ON CONFLICT (id) DO NOTHING RETURNING *`,
      values,
    );
    if (entry === undefined) {
      const existing = await this.lock(sql, id);
      const { lexical } = settingsOf(existing);
      // The words of records can be switched on later. They are not switched off by settings that leave them out.
      const wanted = settingsText({ ...given, lexical: lexical || given.lexical });
      if (wanted === settingsText({ ...settingsOf(existing), lexical: lexical || given.lexical })) {
        if (wanted !== existing.settings) {
          await sql.run('UPDATE cosift.databases SET settings = $2::text WHERE number = $1::bigint', [
            existing.number,
            wanted,
          ]);
        }
        return { created: false, entry: { ...existing, settings: wanted } };
      }
      throw databaseExists(existing);
    }
    await this.createTables(sql, tablesOf(entry), given.dimensions, { changes: changesOf(entry) });
    return { created: true, entry };
  }

  /** Creates the tables of records: with that of the change feed, or where the table of the `current` records is. */
  async createTables(
    sql: Sql,
    tables: RecordTables,
    dimensions: number,
    others: { changes: string } | { current: string },
  ): Promise<void> {
    const changes = 'changes' in others ? others.changes : undefined;
    const ofChanges = changes === undefined ? [] : changeTable(changes);
    for (const statement of [...recordTables(tables, dimensions), ...ofChanges]) await sql.run(statement);
    if ('changes' in others) await distribute(sql, this.#distribution, tables, others.changes);
    else await distributeLike(sql, others.current, tables);
  }

  async drop(sql: Sql, id: string): Promise<void> {
    const entry = await this.lock(sql, id);
    const number = [entry.number];
    const [unfinished] = await sql.run<{ generation: number }>(
      'DELETE FROM cosift.reembeddings WHERE database = $1::bigint RETURNING generation',
      number,
    );
    const tables = [...Object.values(tablesOf(entry)), changesOf(entry)];
    if (unfinished) tables.push(...Object.values(tablesOf({ ...entry, ...unfinished })));
    await discardTables(sql, tables);
    await sql.run('DELETE FROM cosift.columns WHERE database = $1::bigint', number);
    await sql.run('DELETE FROM cosift.databases WHERE number = $1::bigint', number);
    this.#rules.delete(id);
    this.#seen.delete(id);
  }

  /** The members are in the order of the embedded engine. */
  async describe(sql: Sql, entry: CatalogEntry): Promise<StoredDatabase> {
    const columns = await sql.run<{ name: string } & Record<string, number>>(
      `SELECT name, strings, numbers, booleans, nulls FROM cosift.columns
      WHERE database = $1::bigint AND strings + numbers + booleans + nulls > 0 ORDER BY place`,
      [entry.number],
    );
    const { embed, model, fingerprint, dimensions, approximate, lexical } = settingsOf(entry);
    const { passages, without_text } = await vectorCounts(sql, entry);
    const disk_bytes = (await this.diskBytes(sql, [entry])).get(entry.number) ?? 0;
    const indexed = approximate && (await hasHnswIndex(sql, recordsOf(entry)));
    return {
      approximate: approximate ?? false,
      ...(approximate && { approximate_records: indexed ? entry.records : 0 }),
      dimensions,
      embed: embed ?? {},
      fingerprint,
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
      columns: columns.map(({ name, strings, numbers, booleans, nulls }) => {
        const counts = [strings, numbers, booleans, nulls] as number[];
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
  async columnNames(sql: Sql, { number }: CatalogEntry): Promise<string[]> {
    const names = await sql.run<{ name: string }>(
      'SELECT name FROM cosift.columns WHERE database = $1::bigint ORDER BY place',
      [number],
    );
    return names.map(({ name }) => decodeText(name));
  }

  /** Adds to the counts of columns. */
  async countColumns(sql: Sql, { number }: CatalogEntry, changes: readonly ColumnChange[]): Promise<void> {
    if (changes.length === 0) return;
    const counts = [0, 1, 2, 3].map((at) => arrayOf(changes.map((change) => change.counts[at])));
    await sql.run(
      `INSERT INTO cosift.columns AS c (database, name, strings, numbers, booleans, nulls)
      SELECT $1::bigint, name, strings, numbers, booleans, nulls
      FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
        AS t (name, strings, numbers, booleans, nulls)
      ON CONFLICT (database, name) DO UPDATE SET strings = c.strings + excluded.strings,
        numbers = c.numbers + excluded.numbers, booleans = c.booleans + excluded.booleans,
        nulls = c.nulls + excluded.nulls`,
      [number, arrayOf(changes.map(({ name }) => encodeText(name))), ...counts],
    );
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

/** The tables of the records of a database. */
export function tablesOf({ number, generation }: { number: number; generation: number }): RecordTables {
  return { records: recordsOf({ number, generation }), passages: `cosift.passages_${number}_${generation}` };
}

/** The table of the records of a database. */
export function recordsOf({ number, generation }: { number: number; generation: number }): string {
  return `cosift.records_${number}_${generation}`;
}

/** The table of the change feed of a database. */
export function changesOf({ number }: { number: number }): string {
  return `cosift.changes_${number}`;
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
  approximate = false,
  lexical = false,
}: StoreSettings): string {
  return JSON.stringify({ model, fingerprint, dimensions, embed: embed ?? {}, approximate, lexical });
}

/** Marks tables as no longer used. {@link removeUnusedTables} removes them. */
export async function discardTables(sql: Sql, tables: readonly string[]): Promise<void> {
  await sql.run('INSERT INTO cosift.unused_tables SELECT unnest($1::text[])', [arrayOf(tables)]);
}

/** Removes the tables that are no longer used, except those that are still being read. */
export async function removeUnusedTables(database: SqlDatabase): Promise<void> {
  const tables = await database.read((sql) =>
    sql.run<{ name: string }>('SELECT name FROM cosift.unused_tables'),
  );
  for (const { name } of tables) {
    const remove = async (sql: Sql) => {
      // A drop that waits for a reader keeps later readers waiting, too.
      await sql.run("SET LOCAL lock_timeout = '50ms'");
      await sql.run(`DROP TABLE IF EXISTS ${name}`);
      await sql.run('DELETE FROM cosift.unused_tables WHERE name = $1::text', [name]);
    };
    // It is tried again after the next drop, and when the store is opened.
    await database.write(remove).catch(() => undefined);
  }
}

export function databaseNotFound(id: string): CosiftError {
  return engineError('database_not_found', `there is no database ${JSON.stringify(id)}`);
}

/** The settings are in the order of the embedded engine. */
function databaseExists(entry: CatalogEntry): CosiftError {
  const {
    approximate = false,
    dimensions,
    embed = {},
    fingerprint,
    lexical = false,
    model,
  } = settingsOf(entry);
  const existing = JSON.stringify({ approximate, dimensions, embed, fingerprint, lexical, model });
  return engineError(
    'database_exists',
    `database ${JSON.stringify(entry.id)} exists with other settings: ${existing}`,
  );
}

/** An error as the embedded engine reports it. */
export function engineError(code: ErrorCode, detail: string): CosiftError {
  return new CosiftError(code, detail, { fields: { engine: code } });
}
