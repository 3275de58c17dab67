import { createHash } from 'node:crypto';
import type { NativePut, Prepared } from '../local/binding.js';
import { errorOf, unwrap } from '../local/unwrap.js';
import type { CommitResult, EmbeddedVectors, PreparedRecords, StoreDeleteRequest } from '../record-store.js';
import { type Catalog, type CatalogEntry, changesOf, recordsOf } from './catalog.js';
import { restrictionSql } from './filter-sql.js';
import { nativeRow, type RecordRow, type Reference, ROW, rowsOf } from './rows.js';
import { arrayOf, type Sql, type SqlDatabase, Values } from './sql.js';
import { encodeJson } from './text.js';

/** Records that one statement deletes. */
const DELETED_AT_ONCE = 5_000;

/** The channel that names the databases that were written to. */
export const CHANNEL = 'cosift_written';

/** The kinds of changes in a feed. */
export const KINDS = ['created', 'changed', 'deleted'] as const;

interface Change {
  kind: (typeof KINDS)[number];
  id: number;
  uuid: string;
  key: Uint8Array | string | null | undefined;
  at: number;
  /** The data before the change. */
  before: string | null | undefined;
}

/** Writes records and the changes of the feed. */
export class Writer {
  readonly #database: SqlDatabase;
  readonly #catalog: Catalog;
  readonly #keepChangesMs: number;

  constructor(database: SqlDatabase, catalog: Catalog, keepChangesMs: number) {
    this.#database = database;
    this.#catalog = catalog;
    this.#keepChangesMs = keepChangesMs;
  }

  prepareBatch(id: string, body: Uint8Array, vectors: Float32Array): Promise<PreparedRecords> {
    return this.#prepare(id, (rules) => unwrap(rules.prepareBatch(body, vectors)));
  }

  prepareLines(id: string, body: Uint8Array, firstLine: number): Promise<PreparedRecords> {
    return this.#prepare(id, (rules) => unwrap(rules.prepareLines(body, firstLine)));
  }

  preparePatch(id: string, recordId: string, patch: Uint8Array): Promise<PreparedRecords> {
    return this.#prepare(id, (rules) => unwrap(rules.preparePatch(recordId, patch)));
  }

  async commit(
    id: string,
    prepared: PreparedRecords,
    { vectors, fingerprint }: EmbeddedVectors,
  ): Promise<CommitResult> {
    return await this.#database.write(async (sql) => {
      const entry = await this.#catalog.lock(sql, id);
      const rules = this.#catalog.rulesOf(entry);
      const stored = await this.#storedRows(sql, entry, prepared as Prepared);
      const names = await this.#catalog.columnNames(sql, entry);
      const now = Date.now();
      const commit = { vectors, nextId: entry.next_id, now, names, ...(fingerprint && { fingerprint }) };
      const { committed, puts, touches, columns, nextId } = unwrap(
        rules.stage(prepared as Prepared, stored, commit),
      );
      const version = entry.version + 1;
      await putRecords(sql, recordsOf(entry), puts, version);
      await touchRecords(sql, recordsOf(entry), touches);
      await this.#catalog.countColumns(sql, entry, columns);
      const changes = puts.map(({ created, id, uuid, key, changedAt, before }) => ({
        kind: created ? ('created' as const) : ('changed' as const),
        id,
        uuid,
        key,
        at: changedAt,
        before,
      }));
      const created = changes.filter(({ kind }) => kind === 'created').length;
      await this.#finish(sql, entry, changes, { now, nextId, records: created });
      return committed as CommitResult;
    });
  }

  async delete(id: string, request: StoreDeleteRequest, signal?: AbortSignal): Promise<number> {
    return await this.#database.write(async (sql) => {
      const entry = await this.#catalog.lock(sql, id);
      const rules = this.#catalog.rulesOf(entry);
      const { ids, start, end } = JSON.parse(unwrap(rules.deletion(JSON.stringify(request)))) as DeletionPlan;
      const { filter, forced_filter } = request;
      const changes: Change[] = [];
      const now = Date.now();
      for (let last = 0; ; ) {
        signal?.throwIfAborted();
        const values = new Values();
        const conditions = restrictionSql({ filter, forced_filter, start, end }, values);
        if (ids !== null) conditions.push(namedSql(ids, values));
        conditions.push(`id > ${values.bind(last)}::bigint`);
        const rows = await sql.run<RecordRow>(
          `SELECT ${ROW} FROM ${recordsOf(entry)} WHERE ${conditions.join(' AND ')}
          ORDER BY id LIMIT ${DELETED_AT_ONCE}`,
          values.list,
        );
        await sql.run(`DELETE FROM ${recordsOf(entry)} WHERE id = ANY($1::bigint[])`, [
          arrayOf(rows.map(({ id }) => id)),
        ]);
        await this.#catalog.countColumns(sql, entry, unwrap(rules.columnsOfDeleted(rows.map(nativeRow))));
        for (const { id, uuid, key, data } of rows) {
          changes.push({ kind: 'deleted', id, uuid, key, at: now, before: data });
        }
        if (rows.length < DELETED_AT_ONCE) break;
        last = (rows.at(-1) as RecordRow).id;
      }
      await this.#finish(sql, entry, changes, { now, nextId: entry.next_id, records: -changes.length });
      return changes.length;
    }, signal);
  }

  async #prepare(
    id: string,
    prepare: (rules: ReturnType<Catalog['rulesOf']>) => Prepared,
  ): Promise<PreparedRecords> {
    return await this.#database.read(async (sql) => {
      const entry = await this.#catalog.find(sql, id);
      const rules = this.#catalog.rulesOf(entry);
      const prepared = prepare(rules);
      const failure = rules.findTexts(prepared, await this.#storedRows(sql, entry, prepared));
      if (failure !== null) throw errorOf(failure);
      return prepared as PreparedRecords;
    });
  }

  async #storedRows(sql: Sql, entry: CatalogEntry, prepared: Prepared) {
    const references = JSON.parse(this.#catalog.rulesOf(entry).identities(prepared)) as Reference[];
    return (await rowsOf(sql, recordsOf(entry), references)).map(nativeRow);
  }

  /** Writes the changes of a commit, and the new state of its database. */
  async #finish(
    sql: Sql,
    entry: CatalogEntry,
    changes: readonly Change[],
    { now, nextId, records }: { now: number; nextId: number; records: number },
  ): Promise<void> {
    await insertChanges(sql, entry, changes, now);
    // The message is sent when the transaction commits.
    if (changes.length > 0) await sql.run('SELECT pg_notify($1::text, $2::text)', [CHANNEL, entry.id]);
    const [removed] = await sql.run<{ position: number | null }>(
      `SELECT max(position) AS position FROM ${changesOf(entry)} WHERE written < $1::bigint`,
      [now - this.#keepChangesMs],
    );
    const removedUpTo = Math.max(entry.removed, removed?.position ?? 0);
    if (removedUpTo > entry.removed) {
      await sql.run(`DELETE FROM ${changesOf(entry)} WHERE position <= $1::bigint`, [removedUpTo]);
    }
    await sql.run(
      `UPDATE cosift.databases SET records = records + $2::bigint, next_id = $3::bigint,
        position = position + $4::bigint, removed = $5::bigint, version = version + 1, last_write_at = $6::bigint
      WHERE number = $1::bigint`,
      [entry.number, records, nextId, changes.length, removedUpTo, now],
    );
  }
}

interface DeletionPlan {
  ids: Reference[] | null;
  start: number | null;
  end: number | null;
}

function namedSql(references: readonly Reference[], values: Values): string {
  const ids = references.flatMap((reference) => ('id' in reference ? [reference.id] : []));
  const uuids = references.flatMap((reference) => ('uuid' in reference ? [reference.uuid] : []));
  const [id, uuid] = [values.bind(arrayOf(ids)), values.bind(arrayOf(uuids))];
  return `(id = ANY(${id}::bigint[]) OR uuid = ANY(${uuid}::uuid[]))`;
}

/** Stores records; of several puts of a record the last is stored. */
async function putRecords(
  sql: Sql,
  table: string,
  puts: readonly NativePut[],
  version: number,
): Promise<void> {
  const last = [...new Map(puts.map((put) => [put.id, put])).values()];
  if (last.length === 0) return;
  const vectors = last.map(({ vector }) => storedVector(vector));
  await sql.run(
    `INSERT INTO ${table}
      (id, uuid, key, data, cells, hash, created, changed, synced, version, exact, direction, emb)
    SELECT id, uuid, key, data, cells, hash, created, changed, synced, $13::bigint, exact, direction, emb
    FROM unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::text[], $5::jsonb[], $6::bytea[], $7::bigint[],
      $8::bigint[], $9::bigint[], $10::bytea[], $11::bytea[], $12::vector[])
      AS t (id, uuid, key, data, cells, hash, created, changed, synced, exact, direction, emb)
    ON CONFLICT (id) DO UPDATE SET key = excluded.key, data = excluded.data, cells = excluded.cells,
      hash = excluded.hash, created = excluded.created, changed = excluded.changed, synced = excluded.synced,
      version = excluded.version, exact = excluded.exact, direction = excluded.direction, emb = excluded.emb`,
    [
      arrayOf(last.map(({ id }) => id)),
      arrayOf(last.map(({ uuid }) => uuid)),
      arrayOf(last.map(({ key }) => keyBytes(key))),
      arrayOf(last.map(({ data }) => data)),
      arrayOf(last.map(({ data }) => encodeJson(data))),
      arrayOf(last.map(({ hash }) => hash)),
      arrayOf(last.map(({ createdAt }) => createdAt)),
      arrayOf(last.map(({ changedAt }) => changedAt)),
      arrayOf(last.map(({ syncedAt }) => syncedAt)),
      arrayOf(vectors.map(({ exact }) => exact)),
      arrayOf(vectors.map(({ direction }) => direction)),
      arrayOf(vectors.map(({ emb }) => emb)),
      version,
    ],
  );
}

async function touchRecords(
  sql: Sql,
  table: string,
  touches: readonly { id: number; syncedAt: number }[],
): Promise<void> {
  const last = [...new Map(touches.map((touch) => [touch.id, touch])).values()];
  if (last.length === 0) return;
  await sql.run(
    `UPDATE ${table} AS r SET synced = t.synced
    FROM unnest($1::bigint[], $2::bigint[]) AS t (id, synced) WHERE r.id = t.id`,
    [arrayOf(last.map(({ id }) => id)), arrayOf(last.map(({ syncedAt }) => syncedAt))],
  );
}

async function insertChanges(
  sql: Sql,
  entry: CatalogEntry,
  changes: readonly Change[],
  now: number,
): Promise<void> {
  if (changes.length === 0) return;
  await sql.run(
    `INSERT INTO ${changesOf(entry)} (position, kind, id, uuid, key, at, written, before)
    SELECT position, kind, id, uuid, key, at, $8::bigint, before
    FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::uuid[], $5::bytea[], $6::bigint[], $7::text[])
      AS t (position, kind, id, uuid, key, at, before)`,
    [
      arrayOf(changes.map((_, at) => entry.position + at + 1)),
      arrayOf(changes.map(({ kind }) => KINDS.indexOf(kind))),
      arrayOf(changes.map(({ id }) => id)),
      arrayOf(changes.map(({ uuid }) => uuid)),
      arrayOf(changes.map(({ key }) => keyBytes(key))),
      arrayOf(changes.map(({ at }) => at)),
      arrayOf(changes.map(({ before }) => before)),
      now,
    ],
  );
}

function keyBytes(key: Uint8Array | string | null | undefined): Uint8Array | null {
  return typeof key === 'string' ? Buffer.from(key, 'utf8') : (key ?? null);
}

/** The columns of a vector; NULL for a record without one. */
export function storedVector({ exact, single }: { exact: Uint8Array; single: Float32Array }): {
  exact: Uint8Array | null;
  direction: Uint8Array | null;
  emb: string | null;
} {
  if (single.every((component) => component === 0)) return { exact: null, direction: null, emb: null };
  return { exact, direction: directionOf(exact), emb: vectorText(single) };
}

/** Identifies an exact vector: records with the same direction have the same score for every query. */
export function directionOf(exact: Uint8Array): Uint8Array {
  return createHash('sha256').update(exact).digest().subarray(0, 16);
}

/** A vector in the text form of pgvector. */
export function vectorText(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
