import type { DoctorCheck } from '../../schema/index.js';
import type { NativeRules, Prepared } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import type { Examination, ExamineCall } from '../record-store.js';
import { type Catalog, type CatalogEntry, settingsOf } from './catalog.js';
import { nativeRow, type RecordRow, ROW, type RowVectors, VECTORS } from './rows.js';
import { arrayOf, type Sql, type SqlValue } from './sql.js';
import { changesOf, tablesOf } from './tables.js';

/** Records that are read at a time. */
const BATCH = 500;
/** Damaged records that a check names. */
const MAX_NAMED = 10;
/** Texts whose vectors are compared with those that the model makes now. */
const MAX_SAMPLE = 32;

const ADVICE = 'restore a backup, or import these records again';

/**
 * Checks databases completely. Each record is read, and everything that is stored besides its data, identities, times
 * and exact vector is made again from these by the rules of the engine: the content hash, the columns for filters, and the
 * vectors in single precision.
 *
 * One transaction reads everything, so that the number of records and the change feed fit the records while others write.
 */
export class Examiner {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  async examine(id: string, { signal, onProgress }: ExamineCall): Promise<Examination> {
    return await this.#catalog.read(
      id,
      async (sql, entry) => {
        const reader = new RecordsCheck(sql, entry, this.#catalog.rulesOf(entry));
        const vectorType = await this.#catalog.vectorType(sql);
        // First, so that the transaction has locked every table that it reads: a drop waits until the end.
        const feed = await feedCheck(sql, entry);
        for (let last: number | undefined = 0; last !== undefined; ) {
          signal?.throwIfAborted();
          last = await reader.next(last, vectorType);
          onProgress?.(reader.read, entry.records);
        }
        const checks = [reader.result(), countCheck(entry, reader.read, reader.last), feed];
        const identityAdvice = `give the copy another epoch, while no service runs: UPDATE ${entry.group.databases} SET epoch = md5(random()::text) WHERE id = '${id}'`;
        const { sample } = reader;
        return { checks, settings: settingsOf(entry), identity: entry.epoch, identityAdvice, sample };
      },
      signal,
    );
  }
}

/** Reads the records of a database in batches and makes again what is derived from them. */
class RecordsCheck {
  /** Records that were read. */
  read = 0;
  /** The largest id. */
  last = 0;
  readonly sample: Examination['sample'] = [];
  readonly #sql: Sql;
  readonly #entry: CatalogEntry;
  readonly #rules: NativeRules;
  readonly #damaged: number[] = [];

  constructor(sql: Sql, entry: CatalogEntry, rules: NativeRules) {
    this.#sql = sql;
    this.#entry = entry;
    this.#rules = rules;
  }

  /** Checks the next records; returns the id to go on after, undefined after the last record. */
  async next(after: number, vectorType: number): Promise<number | undefined> {
    const { records } = tablesOf(this.#entry);
    const rows = await this.#sql.run<RecordRow & RowVectors>(
      `SELECT ${ROW}, ${VECTORS} FROM ${records} WHERE id > $1::bigint ORDER BY id LIMIT ${BATCH}`,
      [after],
    );
    this.read += rows.length;
    this.last = rows.at(-1)?.id ?? this.last;
    this.#damaged.push(...(await this.#damagedOf(rows, vectorType)));
    if (this.sample.length < MAX_SAMPLE) await this.#addToSample(rows);
    return rows.length < BATCH ? undefined : this.last;
  }

  result(): DoctorCheck {
    const check = { check: 'records', database: this.#entry.id };
    const damaged = this.#damaged;
    if (damaged.length === 0) {
      const detail = `${this.read} records match their hashes, columns and vectors`;
      return { ...check, status: 'ok', detail };
    }
    const detail = `${damaged.length} of ${this.read} records differ from what was stored with them`;
    const problems = [{ detail, records: damaged.length, ids: damaged.slice(0, MAX_NAMED) }];
    return { ...check, status: 'problem', detail, problems, advice: ADVICE };
  }

  async #damagedOf(rows: readonly (RecordRow & RowVectors)[], vectorType: number): Promise<number[]> {
    if (rows.length === 0) return [];
    try {
      return await this.#different(rows, vectorType);
    } catch (error) {
      // The engine cannot read a record: which one is found one by one.
      if (!isDamage(error)) throw error;
      const [only] = rows;
      if (rows.length === 1) return [(only as RecordRow).id];
      const damaged: number[] = [];
      for (const row of rows) damaged.push(...(await this.#damagedOf([row], vectorType)));
      return damaged;
    }
  }

  /** The ids of records that are stored otherwise than a new store of the same records would. */
  async #different(rows: readonly (RecordRow & RowVectors)[], vectorType: number): Promise<number[]> {
    const rules = this.#rules;
    const lines = unwrap(await rules.lines(rows.map(nativeRow), true));
    const prepared: Prepared = unwrap(await rules.prepareLines(lines, 1, false));
    if (prepared.problems().length > 0 || prepared.texts().length > 0) throw new DamagedRecords();
    unwrap(await rules.findTexts(prepared, []));
    const commit = { nextId: this.#entry.next_id, now: Date.now(), names: [], vectorType };
    const { puts } = unwrap(await rules.stage(prepared, [], { vectors: new Float32Array() }, commit));
    const { ids, uuids, keys, data, cells, hashes, created, changed, synced, vectors } = puts;
    const { exact, passages, directions, embs, scanned } = vectors;
    const tables = tablesOf(this.#entry);
    const equal = await this.#sql.run<{ id: number }>(
      `SELECT r.id FROM unnest($1::bigint[], $2::uuid[], $3::bytea[], $4::text[], $5::jsonb[], $6::bytea[], $7::bigint[],
        $8::bigint[], $9::bigint[], $10::bytea[], $11::bytea[], $12::bytea[], $13::vector[])
        AS t (id, uuid, key, data, cells, hash, created, changed, synced, exact, passages, direction, emb)
        JOIN ${tables.records} AS r ON r.id = t.id AND r.uuid = t.uuid AND r.data = t.data AND r.cells = t.cells
          AND r.hash = t.hash AND r.created = t.created AND r.changed = t.changed AND r.synced = t.synced
          AND r.key IS NOT DISTINCT FROM t.key AND r.exact IS NOT DISTINCT FROM t.exact
          AND r.passages IS NOT DISTINCT FROM t.passages AND r.direction IS NOT DISTINCT FROM t.direction
          AND r.emb IS NOT DISTINCT FROM t.emb`,
      [ids, uuids, keys, data, cells, hashes, created, changed, synced, exact, passages, directions, embs],
    );
    const found = new Set(equal.map(({ id }) => id));
    const different = rows.map(({ id }) => id).filter((id) => !found.has(id));
    if (!this.#entry.has_passages && scanned.count === 0) return different;
    const own = arrayOf(rows.map(({ id }) => id));
    // Flat statements, which Citus sends to a worker.
    const wanted = await this.#counts('unnest($1::bigint[]) AS t (record) GROUP BY record', [scanned.ids]);
    const stored = await this.#counts(`${tables.passages} WHERE record = ANY($1::bigint[]) GROUP BY record`, [
      own,
    ]);
    const equalOnes = await this.#counts(
      `unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::vector[]) AS t (record, number, direction, emb)
        JOIN ${tables.passages} AS p ON p.record = t.record AND p.number = t.number
          AND p.passage_direction = t.direction AND p.passage_emb = t.emb
      GROUP BY p.record`,
      [scanned.ids, scanned.numbers, scanned.directions, scanned.embs],
      'p.record',
    );
    const ofPassages = rows.flatMap(({ id }) => {
      const count = wanted.get(id);
      return stored.get(id) === count && equalOnes.get(id) === count ? [] : [id];
    });
    return [...new Set([...different, ...ofPassages])];
  }

  /** How often each record is in the rows of a statement. */
  async #counts(from: string, values: readonly SqlValue[], record = 'record'): Promise<Map<number, number>> {
    const rows = await this.#sql.run<{ record: number; count: number }>(
      `SELECT ${record} AS record, count(*) AS count FROM ${from}`,
      values,
    );
    return new Map(rows.map(({ record, count }) => [record, count]));
  }

  async #addToSample(rows: readonly (RecordRow & RowVectors)[]): Promise<void> {
    if (settingsOf(this.#entry).model === null) return;
    const embedded = rows.filter(({ id, exact }) => exact && !this.#damaged.includes(id));
    const chosen = embedded.slice(0, MAX_SAMPLE - this.sample.length);
    const texts = unwrap(await this.#rules.textsOf(chosen.map(nativeRow))).texts();
    for (const [at, text] of texts.entries()) {
      const { id, exact } = chosen[at] as RecordRow & RowVectors;
      this.sample.push({ id, text, vector: componentsOf(exact as Uint8Array) });
    }
  }
}

/** Records that the rules of the engine refuse. */
class DamagedRecords extends Error {}

function isDamage(error: unknown): boolean {
  return (
    error instanceof DamagedRecords ||
    (error as { code?: string }).code === 'internal' ||
    (error as { code?: string }).code === 'damaged'
  );
}

/** The components of an exact vector, whose length is one. */
function componentsOf(exact: Uint8Array): number[] {
  const view = new DataView(exact.buffer, exact.byteOffset, exact.byteLength);
  return Array.from({ length: exact.byteLength / 4 }, (_, at) => view.getInt32(at * 4, true) / 2 ** 30);
}

function countCheck({ id, records, next_id }: CatalogEntry, read: number, last: number): DoctorCheck {
  const check = { check: 'count', database: id };
  if (read === records && last < next_id) {
    return { ...check, status: 'ok', detail: `${records} records are counted, and later ids are free` };
  }
  const detail =
    read === records
      ? `the next new record would get the id ${next_id}, but there is a record ${last}`
      : `${read} records are stored, and ${records} are counted`;
  return { ...check, status: 'problem', detail, problems: [{ detail }], advice: 'restore a backup' };
}

/** Checks that the change feed has every position that it must have. */
async function feedCheck(sql: Sql, entry: CatalogEntry): Promise<DoctorCheck> {
  const check = { check: 'changes', database: entry.id };
  const [kept] = await sql.run<{ count: number; first: number | null; last: number | null }>(
    `SELECT count(*) AS count, min(position) AS first, max(position) AS last FROM ${changesOf(entry)}
    WHERE position > $1::bigint`,
    [entry.removed],
  );
  const count = entry.position - entry.removed;
  const isComplete =
    kept?.count === count &&
    (count === 0 || (kept.first === entry.removed + 1 && kept.last === entry.position));
  if (isComplete) {
    return {
      ...check,
      status: 'ok',
      detail: `${count} changes up to position ${entry.position} have no gap`,
    };
  }
  const detail = `the change feed has ${kept?.count} of ${count} changes after position ${entry.removed}`;
  const advice = 'followers must read the records again; restore a backup';
  return { ...check, status: 'problem', detail, problems: [{ detail }], advice };
}
