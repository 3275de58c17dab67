import { CosiftError } from '../../errors.js';
import type { EmbeddedVectors } from '../embedded-vectors.js';
import type { NativeRules, NativeWrites, Prepared } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import type {
  CommitResult,
  LineRules,
  PreparedRecords,
  RecordForm,
  StoreDeleteRequest,
  Unwritten,
} from '../record-store.js';
import { heldTooLong } from '../store-errors.js';
import {
  type Catalog,
  type CatalogEntry,
  type ColumnChange,
  databaseNotFound,
  type LockedEntry,
  listColumnsOf,
} from './catalog.js';
import { restrictionSql } from './filter-sql.js';
import { lastExpired } from './retention.js';
import {
  NOT_READ,
  nativeRow,
  type RecordRow,
  type Reference,
  referencedSql,
  rowsOf,
  type StoredRow,
} from './rows.js';
import type { Servers } from './servers.js';
import { arrayOf, type Sql, type SqlValue, Values } from './sql.js';
import { keysWithPrefix, writeSyncState } from './sync-states.js';
import { changesOf, recordsOf, tablesOf } from './tables.js';
import { deletePassages, replacePassages } from './vectors.js';
import { type SizedRow, sizedRow, wholeRows } from './whole-rows.js';
import type { WriterHold } from './writer-hold.js';

/** Records that one statement deletes. */
const DELETED_AT_ONCE = 5_000;

/** The channel that names the databases that were written to, or dropped. */
export const CHANNEL = 'cosift_written';

/** The kinds of changes in a feed. */
export const CHANGE_KINDS = ['created', 'changed', 'deleted'] as const;

/** Changes of the feed, as arrays of the same length. */
interface Changes {
  count: number;
  kinds: SqlValue;
  ids: SqlValue;
  uuids: SqlValue;
  keys: SqlValue;
  at: SqlValue;
  /** The data before the changes. */
  before: SqlValue;
}

/** Writes records and the changes of the feed. */
export class Writer {
  readonly #servers: Servers;
  readonly #catalog: Catalog;
  readonly #hold: WriterHold;
  readonly #keepChangesMs: number;

  constructor(servers: Servers, catalog: Catalog, hold: WriterHold, keepChangesMs: number) {
    this.#servers = servers;
    this.#catalog = catalog;
    this.#hold = hold;
    this.#keepChangesMs = keepChangesMs;
  }

  prepareBatch(id: string, body: Uint8Array, vectors: Float32Array): Promise<PreparedRecords> {
    return this.#prepare(id, async (rules) => unwrap(await rules.prepareBatch(body, vectors)));
  }

  prepareLines(
    id: string,
    body: Uint8Array,
    firstLine: number,
    { needsIdentity = false, readAt }: LineRules = {},
  ): Promise<PreparedRecords> {
    return this.#prepare(id, async (rules) =>
      unwrap(await rules.prepareLines(body, firstLine, needsIdentity, readAt)),
    );
  }

  preparePatch(id: string, recordId: string, form: RecordForm, patch: Uint8Array): Promise<PreparedRecords> {
    return this.#prepare(id, async (rules) => unwrap(rules.preparePatch(recordId, form, patch)));
  }

  async commit(
    id: string,
    prepared: PreparedRecords,
    embedded: EmbeddedVectors,
    signal?: AbortSignal,
  ): Promise<CommitResult> {
    const deadline = this.#hold.deadline();
    for (;;) {
      const { entry, committed } = await this.#servers.of(id).write(async (sql) => {
        const entry = await this.#catalog.lock(sql, id);
        if (await this.#hold.isHeld(sql, entry)) return { entry, committed: undefined };
        return { entry, committed: await this.#commit(sql, entry, prepared as Prepared, embedded) };
      }, signal);
      if (committed !== undefined) return committed;
      if (performance.now() >= deadline) throw heldTooLong();
      await this.#hold.wait(entry, deadline, signal);
    }
  }

  async delete(id: string, request: StoreDeleteRequest, signal?: AbortSignal): Promise<number> {
    const deletion = JSON.stringify(request);
    return await this.#servers.of(id).write(async (sql) => {
      const entry = await this.#catalog.lock(sql, id);
      if ((request.epoch ?? entry.epoch) !== entry.epoch) throw databaseNotFound(id);
      const rules = this.#catalog.rulesOf(entry);
      const plan: DeletionPlan = JSON.parse(unwrap(rules.deletion(deletion)));
      const { ids: references, start, end } = plan;
      const listColumns = listColumnsOf(entry);
      const chosen = (values: Values) => {
        const conditions = restrictionSql({ ...request, listColumns, start, end }, values);
        if (references !== null) conditions.push(referencedSql(references, values));
        if ('unwritten' in request) conditions.push(unwrittenSql(request.unwritten, values));
        return conditions;
      };
      if (request.max !== undefined) await checkNumber(sql, entry, chosen, request.max);
      let { position } = entry;
      let deleted = 0;
      const { now } = entry;
      for (let last = 0; ; ) {
        signal?.throwIfAborted();
        const values = new Values();
        const conditions = chosen(values);
        conditions.push(`id > ${values.bind(last)}::bigint`);
        const rows = await sql.run<SizedRow>(
          `SELECT ${sizedRow(false)} FROM ${recordsOf(entry)} WHERE ${conditions.join(' AND ')}
          ORDER BY id LIMIT ${DELETED_AT_ONCE}`,
          values.list,
        );
        for await (const part of wholeRows(sql, recordsOf(entry), rows, false)) {
          const ids = arrayOf(part.map(({ id }) => id));
          await sql.run(`DELETE FROM ${recordsOf(entry)} WHERE id = ANY($1::bigint[])`, [ids]);
          if (entry.has_passages) await deletePassages(sql, tablesOf(entry).passages, ids);
          const columns = unwrap(rules.stageDeletion(deletion, part.map(nativeRow)));
          await this.#catalog.countColumns(sql, entry, columns);
          await insertChanges(sql, entry, deletions(part, ids, now), position, now);
          position += part.length;
        }
        deleted += rows.length;
        if (rows.length < DELETED_AT_ONCE) break;
        last = (rows.at(-1) as SizedRow).id;
      }
      if (deleted > 0) {
        await this.#finish(sql, entry, position, { nextId: entry.next_id, records: -deleted });
      }
      if (request.state !== undefined) await writeSyncState(sql, entry, request.state);
      return deleted;
    }, signal);
  }

  async #prepare(id: string, prepare: (rules: NativeRules) => Promise<Prepared>): Promise<PreparedRecords> {
    return await this.#catalog.read(id, async (sql, entry) => {
      const rules = this.#catalog.rulesOf(entry);
      const prepared = await prepare(rules);
      const { identities, whole } = needsOf(rules, prepared);
      const stored = await rowsOf(sql, recordsOf(entry), identities, whole ? 'all' : 'none');
      unwrap(await rules.findTexts(prepared, stored.map(nativeRow)));
      return prepared as PreparedRecords;
    });
  }

  /** Writes prepared records into a database that the transaction has locked. */
  async #commit(
    sql: Sql,
    entry: LockedEntry,
    prepared: Prepared,
    embedded: EmbeddedVectors,
  ): Promise<CommitResult> {
    const rules = this.#catalog.rulesOf(entry);
    const { identities, whole } = needsOf(rules, prepared);
    const stored = whole
      ? await rowsOf(sql, recordsOf(entry), identities, 'all', true)
      : await this.#storedRows(sql, entry, prepared, identities);
    const long = stored.filter(({ data }) => data === NOT_READ).map(({ id }) => id);
    const names = await this.#catalog.columnNames(sql, entry);
    const commit = {
      nextId: entry.next_id,
      now: entry.now,
      names,
      vectorType: await this.#catalog.vectorType(sql),
    };
    const { committed, puts, changes, touches, columns, nextId } = unwrap(
      await rules.stage(prepared, stored.map(nativeRow), embedded, commit),
    );
    if (long.length > 0) await this.#catalog.uncountColumns(sql, entry, arrayOf(long), puts.ids);
    // Changes keep the data that is stored before the records are put.
    await insertChanges(sql, entry, changes, entry.position, entry.now, long.length > 0);
    await putRecords(sql, entry, puts);
    await touchRecords(sql, entry, touches);
    await this.#catalog.countColumns(sql, entry, columns);
    const hasPassages = puts.vectors.scanned.count > 0;
    if (changes.count === 0 && identities.length === 0) return committed as CommitResult;
    const position = entry.position + changes.count;
    const lists = listColumnsAfter(entry, columns);
    await this.#finish(sql, entry, position, { nextId, records: changes.created, hasPassages, lists });
    return committed as CommitResult;
  }

  /** The stored records that records of a request replace, with the vectors of those that keep their content. */
  async #storedRows(
    sql: Sql,
    entry: LockedEntry,
    prepared: Prepared,
    identities: readonly Reference[],
  ): Promise<StoredRow[]> {
    const stored = await rowsOf(sql, recordsOf(entry), identities, 'short');
    const withoutData = stored.map((row) => nativeRow({ ...row, data: NOT_READ }));
    const kept = unwrap(this.#catalog.rulesOf(entry).kept(prepared, withoutData));
    const references = kept.map((id) => ({ id: String(id) }));
    const wholes = await rowsOf(sql, recordsOf(entry), references, 'all', true);
    const byId = new Map(wholes.map((row) => [row.id, row]));
    return stored.map((row) => byId.get(row.id) ?? row);
  }

  /** Writes the new state of a database whose changes up to `position` are written. */
  async #finish(
    sql: Sql,
    entry: LockedEntry,
    position: number,
    {
      nextId,
      records,
      hasPassages = false,
      lists = entry.list_columns,
    }: { nextId: number; records: number; hasPassages?: boolean; lists?: string },
  ): Promise<void> {
    const { now } = entry;
    if (position > entry.position) await announce(sql, entry.id);
    const removedUpTo = await lastExpired(sql, { ...entry, position }, this.#keepChangesMs);
    if (removedUpTo > entry.removed) {
      await sql.run(`DELETE FROM ${changesOf(entry)} WHERE position <= $1::bigint`, [removedUpTo]);
    }
    await sql.run(
      `UPDATE ${entry.group.databases} SET records = records + $2::bigint, next_id = $3::bigint,
        position = $4::bigint, removed = $5::bigint, version = version + 1, last_write_at = $6::bigint,
        has_passages = has_passages OR $7::boolean, list_columns = $8::text
      WHERE id = $1::text`,
      [entry.id, records, nextId, position, removedUpTo, now, hasPassages, lists],
    );
  }
}

/** The columns of the database that have or had a list after a commit that changes the counts of columns, JSON. */
function listColumnsAfter({ list_columns }: LockedEntry, columns: readonly ColumnChange[]): string {
  const known = listColumnsOf({ list_columns });
  const added = columns.filter(({ name, counts }) => (counts[4] as number) > 0 && !known.has(name));
  return added.length === 0 ? list_columns : JSON.stringify([...known, ...added.map(({ name }) => name)]);
}

/** Wakes the readers of the feed of a database at all services when the transaction commits. */
export async function announce(sql: Sql, id: string): Promise<void> {
  await sql.run('SELECT pg_notify($1::text, $2::text)', [CHANNEL, id]);
}

/** The stored records that a write needs. Those of a patch are needed with data and vectors. */
function needsOf(rules: NativeRules, prepared: Prepared): { identities: Reference[]; whole: boolean } {
  return JSON.parse(rules.needs(prepared));
}

interface DeletionPlan {
  ids: Reference[] | null;
  start: number | null;
  end: number | null;
}

async function putRecords(sql: Sql, entry: CatalogEntry, puts: NativeWrites['puts']): Promise<void> {
  if (puts.count === 0) return;
  const { ids, uuids, keys, data, cells, hashes, created, changed, synced, vectors } = puts;
  const { exact, passages, directions, embs, scanned } = vectors;
  const tables = tablesOf(entry);
  await sql.run(
    `INSERT INTO ${tables.records}
      (id, uuid, key, data, cells, hash, created, changed, synced, version, exact, passages, direction, emb)
    SELECT t.id, uuid, key, data, cells, hash, created, changed, synced, d.version + 1, exact, passages, direction, emb
    FROM unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::text[], $5::jsonb[], $6::bytea[], $7::bigint[],
      $8::bigint[], $9::bigint[], $10::bytea[], $11::bytea[], $12::bytea[], $13::vector[])
      AS t (id, uuid, key, data, cells, hash, created, changed, synced, exact, passages, direction, emb)
      CROSS JOIN ${entry.group.databases} AS d WHERE d.id = $14::text
    ON CONFLICT (id) DO UPDATE SET key = excluded.key, data = excluded.data, cells = excluded.cells,
      hash = excluded.hash, created = excluded.created, changed = excluded.changed, synced = excluded.synced,
      version = excluded.version, exact = excluded.exact, passages = excluded.passages,
      direction = excluded.direction, emb = excluded.emb`,
    [
      ...[ids, uuids, keys, data, cells, hashes, created, changed, synced],
      ...[exact, passages, directions, embs],
      entry.id,
    ],
  );
  if (entry.has_passages || scanned.count > 0) {
    await replacePassages(sql, entry, tables.passages, ids, scanned);
  }
}

async function touchRecords(
  sql: Sql,
  entry: CatalogEntry,
  { count, ids, synced }: NativeWrites['touches'],
): Promise<void> {
  if (count === 0) return;
  await sql.run(
    `UPDATE ${recordsOf(entry)} AS r SET synced = t.synced, version = $3::bigint
    FROM unnest($1::bigint[], $2::bigint[]) AS t (id, synced) WHERE r.id = t.id`,
    [ids, synced, entry.version + 1],
  );
}

/** @throws {CosiftError} `deletion_refused` when more than `max` records meet the conditions. */
async function checkNumber(
  sql: Sql,
  entry: CatalogEntry,
  chosen: (values: Values) => string[],
  max: number,
): Promise<void> {
  const values = new Values();
  const [row] = await sql.run<{ missing: number }>(
    `SELECT count(*) AS missing FROM ${recordsOf(entry)} WHERE ${['true', ...chosen(values)].join(' AND ')}`,
    values.list,
  );
  const { missing } = row as { missing: number };
  if (missing <= max) return;
  const detail = `${missing} records would be deleted, and at most ${max} may be`;
  throw new CosiftError('deletion_refused', detail, { fields: { missing, max } });
}

function unwrittenSql({ version, prefix }: Unwritten, values: Values): string {
  const unwritten = `version <= ${values.bind(version)}::bigint`;
  return prefix === undefined ? unwritten : `${unwritten} AND ${keysWithPrefix(prefix, values)}`;
}

/** Writes changes after a position. With `readsData`, the data of a change may be {@link NOT_READ}. */
async function insertChanges(
  sql: Sql,
  entry: CatalogEntry,
  { count, kinds, ids, uuids, keys, at, before }: Changes,
  position: number,
  now: number,
  readsData = false,
): Promise<void> {
  if (count === 0) return;
  const data = `CASE WHEN before = '${NOT_READ}' THEN (SELECT data FROM ${recordsOf(entry)} AS r WHERE r.id = t.id)
    ELSE before END`;
  await sql.run(
    `INSERT INTO ${changesOf(entry)} (position, kind, id, uuid, key, at, written, before)
    SELECT $1::bigint + place, kind, t.id, uuid, key, at, $2::bigint, ${readsData ? data : 'before'}
    FROM unnest($3::smallint[], $4::bigint[], $5::uuid[], $6::bytea[], $7::bigint[], $8::text[])
      WITH ORDINALITY AS t (kind, id, uuid, key, at, before, place)
      CROSS JOIN ${entry.group.databases} AS d WHERE d.id = $9::text`,
    [position, now, kinds, ids, uuids, keys, at, before, entry.id],
  );
}

function deletions(rows: readonly RecordRow[], ids: string, now: number): Changes {
  return {
    count: rows.length,
    kinds: arrayOf(rows.map(() => CHANGE_KINDS.indexOf('deleted'))),
    ids,
    uuids: arrayOf(rows.map(({ uuid }) => uuid)),
    keys: arrayOf(rows.map(({ key }) => key)),
    at: arrayOf(rows.map(() => now)),
    before: arrayOf(rows.map(({ data }) => data)),
  };
}
