import type { PassageSettings, TextLine } from '../../api/text-line.js';
import { CosiftError } from '../../errors.js';
import type { EmbeddedVectors } from '../embedded-vectors.js';
import { type NativeTexts, native } from '../local/binding.js';
import { unwrap } from '../local/unwrap.js';
import type {
  ReembeddingBatch,
  ReembeddingSettings,
  ReembeddingStore,
  StoredReembedding,
} from '../reembedding-store.js';
import { makesSameVectors } from '../settings.js';
import { StaleError } from '../store-errors.js';
import { type Catalog, type CatalogEntry, settingsOf, settingsText } from './catalog.js';
import type { PostgresReembeddingLeases } from './reembedding-leases.js';
import { nativeRow, type RecordRow, ROW, type RowVectors, VECTORS } from './rows.js';
import type { Servers } from './servers.js';
import { arrayOf, type Sql } from './sql.js';
import { makeAndUse, makeNextTables, recordsOf, removeUnusedTables, replaced, tablesOf } from './tables.js';
import { replacePassages } from './vectors.js';
import type { WriterHold } from './writer-hold.js';

/** Milliseconds after which a hold of the writers is renewed. A hold expires after ten seconds. */
const RENEW_MS = 3_000;

/** Records of a batch. */
const BATCH = 256;
/** Bytes of their data and vectors before a batch ends, because long records have thousands of vectors. */
const BATCH_BYTES = 8 << 20;

/** A re-embedding as its table has it. */
interface ReembeddingEntry {
  /** The generation of the table of the new vectors. */
  generation: number;
  settings: string;
  started_at: number;
  /** The last record with a new vector, in the order of version and id. */
  done_version: number;
  done_id: number;
}

/** A record as a commit wrote it. */
interface Written {
  id: number;
  version: number;
}

/** The records of a batch, in the order of version and id. */
class Batch implements ReembeddingBatch {
  constructor(
    readonly isLast: boolean,
    readonly last: Written | undefined,
    /** The records that get new vectors. */
    readonly records: readonly Written[],
    /** Records that have them, and that later commits found unchanged. */
    readonly touched: readonly Written[],
    /** The texts of `records`; a record without text has no vector. */
    readonly native: NativeTexts,
  ) {}

  texts(): string[] {
    return this.native.texts();
  }

  lines(text: number): TextLine[] {
    return this.native.lines(text);
  }

  passages(): PassageSettings {
    return this.native.passages();
  }
}

/**
 * Embeds databases with another model. A second table gets the records with their new vectors in the order of their last
 * commit, so that records that are written meanwhile follow. The switch makes it the table of the database.
 */
export class Reembedder implements ReembeddingStore {
  readonly #servers: Servers;
  readonly #catalog: Catalog;
  readonly #hold: WriterHold;

  readonly leases: PostgresReembeddingLeases;

  constructor(servers: Servers, catalog: Catalog, hold: WriterHold, leases: PostgresReembeddingLeases) {
    this.leases = leases;
    this.#servers = servers;
    this.#catalog = catalog;
    this.#hold = hold;
  }

  async begin(id: string, settings: ReembeddingSettings): Promise<StoredReembedding> {
    const found = await this.#servers.of(id).write(async (sql) => {
      const entry = await this.#catalog.lock(sql, id);
      const unfinished = await find(sql, entry);
      if (unfinished !== undefined) {
        if (makesSameVectors(settingsOf(unfinished), settings)) return await describe(sql, entry, unfinished);
        await this.#remove(sql, entry);
      }
      return undefined;
    });
    if (found !== undefined) return found;
    return await makeAndUse(
      this.#servers.of(id),
      async (sql) => {
        const { number, group } = await this.#catalog.find(sql, id);
        return await makeNextTables(sql, number, settings.dimensions, group);
      },
      async (sql, { number, generation }) => {
        const entry = await this.#catalog.lock(sql, id);
        // Another process began one meanwhile, or the database was created again.
        if ((await find(sql, entry)) !== undefined || entry.number !== number) throw replaced();
        const text = textOf(entry, settings);
        const begun = { generation, settings: text, started_at: Date.now(), done_version: 0, done_id: 0 };
        await sql.run(
          `INSERT INTO ${entry.group.reembeddings}
            (database, generation, settings, started_at, done_version, done_id)
          VALUES ($1::bigint, $2::integer, $3::text, $4::bigint, 0, 0)`,
          [entry.number, generation, text, begun.started_at],
        );
        return await describe(sql, entry, begun);
      },
    );
  }

  async find(id: string): Promise<StoredReembedding | null> {
    return await this.#catalog.read(id, async (sql, entry) => {
      const unfinished = await find(sql, entry);
      return unfinished === undefined ? null : await describe(sql, entry, unfinished);
    });
  }

  async prepare(id: string): Promise<ReembeddingBatch> {
    return await this.#catalog.read(id, async (sql, found) => {
      const { entry, unfinished } = await this.#unfinished(sql, found);
      // A record whose text stays the same keeps its vectors.
      const isSameModel = settingsOf(entry).fingerprint === settingsOf(unfinished).fingerprint;
      const after = [unfinished.done_version, unfinished.done_id];
      const next = `WHERE version > $1::bigint OR (version = $1::bigint AND id > $2::bigint) ORDER BY version, id`;
      const sizes = await sql.run<{ bytes: number }>(
        `SELECT (octet_length(data) + coalesce(octet_length(exact), 0) + coalesce(octet_length(passages), 0))::bigint AS bytes
        FROM ${recordsOf(entry)} ${next} LIMIT ${BATCH}`,
        after,
      );
      const limit = limitOf(sizes);
      const rows = await sql.run<RecordRow & RowVectors & Written & { copied: boolean }>(
        `SELECT ${isSameModel ? `${ROW}, ${VECTORS}` : ROW}, version, EXISTS (
          SELECT 1 FROM ${recordsOf({ ...entry, ...unfinished })} AS n WHERE n.id = o.id AND n.uuid = o.uuid
            AND n.key IS NOT DISTINCT FROM o.key AND n.created = o.created AND n.changed = o.changed AND n.data = o.data
        ) AS copied FROM ${recordsOf(entry)} AS o ${next} LIMIT ${limit}`,
        after,
      );
      const rules = this.#catalog.rulesFor(entry, unfinished.settings);
      const records = rows.filter(({ copied }) => !copied);
      const touched = rows.filter(({ copied }) => copied);
      const texts = unwrap(
        await rules.textsOf(records.map(nativeRow), isSameModel ? entry.settings : undefined),
      );
      return new Batch(rows.length < limit, rows.at(-1), records, touched, texts);
    });
  }

  async commit(
    id: string,
    batch: ReembeddingBatch,
    embedded: EmbeddedVectors & { fingerprint: string },
  ): Promise<number> {
    const { last, records, touched, native } = batch as Batch;
    return await this.#servers.of(id).write(async (sql) => {
      // The lock keeps commits of two processes in order.
      const { entry, unfinished } = await this.#unfinished(sql, await this.#catalog.lock(sql, id));
      const settings = settingsOf(unfinished);
      if (settings.fingerprint !== embedded.fingerprint) {
        throw new StaleError('another model embedded the texts');
      }
      const tables = tablesOf({ ...entry, ...unfinished });
      if (records.length > 0) {
        const vectors = unwrap(await native.vectors(embedded, await this.#catalog.vectorType(sql)));
        const { exact, passages, directions, embs, scanned } = vectors;
        // A record that was written since is in a later batch.
        const copied = await sql.run<{ id: number }>(
          `INSERT INTO ${tables.records} (id, uuid, key, data, cells, hash, created, changed, synced, version, exact,
            passages, direction, emb)
          SELECT r.id, uuid, key, data, cells, t.hash, created, changed, synced, r.version, t.exact, t.passages,
            t.direction, t.emb
          FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bytea[], $7::vector[])
            AS t (id, version, hash, exact, passages, direction, emb)
            JOIN ${recordsOf(entry)} AS r ON r.id = t.id AND r.version = t.version
          ON CONFLICT (id) DO UPDATE SET uuid = excluded.uuid, key = excluded.key, data = excluded.data,
            cells = excluded.cells, hash = excluded.hash, created = excluded.created, changed = excluded.changed,
            synced = excluded.synced, version = excluded.version, exact = excluded.exact,
            passages = excluded.passages, direction = excluded.direction, emb = excluded.emb
          RETURNING id`,
          [
            ...arraysOf(records),
            // Without a model, the vectors belong to the content.
            native.hashes(),
            exact,
            passages,
            directions,
            embs,
          ],
        );
        const ids = arrayOf(copied.map(({ id }) => id));
        await replacePassages(sql, entry, tables.passages, ids, scanned);
        if (scanned.count > 0) {
          const flag = `UPDATE ${entry.group.databases} SET has_passages = true WHERE id = $1::text`;
          await sql.run(flag, [id]);
        }
      }
      if (touched.length > 0) {
        await sql.run(
          `UPDATE ${tables.records} AS n SET synced = r.synced, version = r.version
          FROM unnest($1::bigint[], $2::bigint[]) AS t (id, version)
            JOIN ${recordsOf(entry)} AS r ON r.id = t.id AND r.version = t.version
          WHERE n.id = t.id`,
          arraysOf(touched),
        );
      }
      if (last !== undefined) {
        await sql.run(
          `UPDATE ${entry.group.reembeddings} SET done_version = $2::bigint, done_id = $3::bigint
          WHERE database = $1::bigint
            AND (done_version < $2::bigint OR (done_version = $2::bigint AND done_id < $3::bigint))`,
          [entry.number, last.version, last.id],
        );
      }
      return await countRecords(sql, tables.records);
    });
  }

  /** Does nothing: PostgreSQL reads no index files before a switch. */
  async warm(): Promise<void> {}

  async holdWriters(id: string): Promise<() => Promise<void>> {
    const locked = (change: (sql: Sql, entry: CatalogEntry) => Promise<void>) =>
      this.#servers.of(id).write(async (sql) => change(sql, await this.#catalog.lock(sql, id)));
    let isReleased = false;
    const hold = () =>
      locked(async (sql, entry) => {
        if (!isReleased) await this.#hold.set(sql, entry);
      });
    await hold();
    // One at a time: a renewal may have to wait for the switch, and takes a connection meanwhile. When it fails, the hold
    // expires, and the switch finds what was written.
    let isRenewing = false;
    const renew = async () => {
      if (isRenewing) return;
      isRenewing = true;
      await hold().catch(() => undefined);
      isRenewing = false;
    };
    const timer = setInterval(() => void renew(), RENEW_MS);
    return async () => {
      isReleased = true;
      clearInterval(timer);
      await locked((sql, entry) => this.#hold.release(sql, entry)).catch(() => undefined);
    };
  }

  /**
   * @throws {StaleError} when records were written after the last batch. The writers of other processes are then held
   * until the caller releases its hold, or until the hold expires.
   */
  async switch(id: string): Promise<void> {
    const switched = await this.#servers.of(id).write(async (sql) => {
      const { entry, unfinished } = await this.#unfinished(sql, await this.#catalog.lock(sql, id));
      const { lexical, flatten, defaults, formats } = settingsOf(entry);
      const settings = { ...settingsOf(unfinished), lexical, flatten, defaults, formats };
      const [source, target] = [recordsOf(entry), recordsOf({ ...entry, ...unfinished })];
      const { passages } = tablesOf({ ...entry, ...unfinished });
      const [later] = await sql.run(
        `SELECT id FROM ${source} WHERE version > $1::bigint OR (version = $1::bigint AND id > $2::bigint) LIMIT 1`,
        [unfinished.done_version, unfinished.done_id],
      );
      if (later !== undefined) {
        await this.#hold.set(sql, entry);
        return undefined;
      }
      await sql.run(
        `DELETE FROM ${target} AS n WHERE NOT EXISTS (SELECT 1 FROM ${source} AS o WHERE o.id = n.id)`,
      );
      await sql.run(
        `DELETE FROM ${passages} AS p WHERE NOT EXISTS (SELECT 1 FROM ${target} AS n WHERE n.id = p.record)`,
      );
      await sql.run(
        `UPDATE ${target} AS n SET synced = o.synced FROM ${source} AS o WHERE o.id = n.id AND o.synced <> n.synced`,
      );
      await sql.run(
        `UPDATE ${entry.group.databases} SET generation = $2::integer, settings = $3::text
        WHERE id = $1::text`,
        [id, unfinished.generation, settingsText(settings)],
      );
      await this.#remove(sql, entry);
      return entry.number;
    });
    if (switched === undefined) throw new StaleError('records were written after the last batch');
    await removeUnusedTables(this.#servers, switched);
  }

  /** @throws {CosiftError} `reembedding_not_found` */
  async cancel(id: string): Promise<void> {
    const number = await this.#servers.of(id).write(async (sql) => {
      const { entry } = await this.#unfinished(sql, await this.#catalog.lock(sql, id));
      await this.#remove(sql, entry);
      return entry.number;
    });
    await removeUnusedTables(this.#servers, number);
  }

  /** Ends a re-embedding, whose tables, or those before them, are then unused. */
  async #remove(sql: Sql, entry: CatalogEntry): Promise<void> {
    await sql.run(`DELETE FROM ${entry.group.reembeddings} WHERE database = $1::bigint`, [entry.number]);
    await this.#hold.clear(sql, entry);
  }

  async #unfinished<Entry extends CatalogEntry>(
    sql: Sql,
    entry: Entry,
  ): Promise<{ entry: Entry; unfinished: ReembeddingEntry }> {
    const unfinished = await find(sql, entry);
    if (unfinished !== undefined) return { entry, unfinished };
    const detail = `database ${JSON.stringify(entry.id)} has no re-embedding`;
    throw new CosiftError('reembedding_not_found', detail);
  }
}

/** The settings of a database with another model. */
function textOf(entry: CatalogEntry, settings: ReembeddingSettings): string {
  return settingsText({ ...settingsOf(entry), ...settings });
}

async function find(sql: Sql, { number, group }: CatalogEntry): Promise<ReembeddingEntry | undefined> {
  const text = `SELECT * FROM ${group.reembeddings} WHERE database = $1::bigint`;
  return (await sql.run<ReembeddingEntry>(text, [number]))[0];
}

async function describe(
  sql: Sql,
  entry: CatalogEntry,
  unfinished: ReembeddingEntry,
): Promise<StoredReembedding> {
  const { embed = {}, model, fingerprint } = settingsOf(unfinished);
  return {
    embed,
    model: model as string,
    fingerprint: fingerprint as string,
    done: await countRecords(sql, recordsOf({ ...entry, ...unfinished })),
    startedAt: native().timeText(unfinished.started_at),
  };
}

/** How many records the next batch has at most. `sizes` are those of the records that follow. */
function limitOf(sizes: readonly { bytes: number }[]): number {
  let sum = 0;
  const last = sizes.findIndex(({ bytes }) => {
    sum += bytes;
    return sum >= BATCH_BYTES;
  });
  return last === -1 ? BATCH : last + 1;
}

function arraysOf(records: readonly Written[]): string[] {
  return [arrayOf(records.map(({ id }) => id)), arrayOf(records.map(({ version }) => version))];
}

async function countRecords(sql: Sql, table: string): Promise<number> {
  const [row] = await sql.run<{ count: number }>(`SELECT count(*) AS count FROM ${table}`);
  return row?.count ?? 0;
}
