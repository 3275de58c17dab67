import { CosiftError } from '../../errors.js';
import { unwrap } from '../local/unwrap.js';
import type { StoreExportRequest } from '../record-store.js';
import { type Catalog, databaseNotFound, listColumnsOf } from './catalog.js';
import { restrictionSql } from './filter-sql.js';
import { nativeRow, type RecordRow, ROW, type RowVectors, VECTORS } from './rows.js';
import type { Servers } from './servers.js';
import { arrayOf, type Sql, Values } from './sql.js';
import { recordsOf } from './tables.js';
import { type SizedRow, sizedRow, wholeRows } from './whole-rows.js';

/** Records that are read at a time. */
const BATCH = 500;
/** Chunks that are read ahead of the caller. */
const AHEAD = 4;

/** Exports the records of a database as they are at one moment, which is that of a transaction. */
export class Exporter {
  readonly #servers: Servers;
  readonly #catalog: Catalog;

  constructor(servers: Servers, catalog: Catalog) {
    this.#servers = servers;
    this.#catalog = catalog;
  }

  async *lines(
    id: string,
    request: StoreExportRequest,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    signal?.throwIfAborted();
    const { epoch } = await this.#catalog.read(id, async (_, entry) => entry);
    const stop = new AbortController();
    const queue = new ChunkQueue(this.#servers.of(id).isConcurrent ? AHEAD : Number.POSITIVE_INFINITY);
    const end = () => {
      stop.abort(signal?.reason);
      queue.end(signal?.reason);
    };
    signal?.addEventListener('abort', end, { once: true });
    const reading = this.#servers
      .of(id)
      .read((sql) => this.#read(sql, id, request, queue, stop.signal))
      .then(
        () => queue.end(),
        (error) => queue.end(error),
      );
    try {
      for (;;) {
        const chunk = await queue.next();
        signal?.throwIfAborted();
        if (chunk === undefined) return;
        // The transaction still sees a database that was dropped meanwhile.
        const current = await this.#catalog.read(id, async (_, entry) => entry);
        if (current.epoch !== epoch) throw databaseNotFound(id);
        yield chunk;
      }
    } finally {
      signal?.removeEventListener('abort', end);
      end();
      await reading;
    }
  }

  /** See `MigrationSupport.linesOf`. */
  async linesOf(id: string, ids: readonly number[]): Promise<Uint8Array> {
    return await this.#catalog.read(id, async (sql, entry) => {
      const rows = await sql.run<RecordRow & RowVectors>(
        `SELECT ${ROW}, ${VECTORS} FROM ${recordsOf(entry)} WHERE id = ANY($1::bigint[]) ORDER BY id`,
        [arrayOf(ids)],
      );
      return unwrap(await this.#catalog.rulesOf(entry).lines(rows.map(nativeRow), true));
    });
  }

  async #read(
    sql: Sql,
    id: string,
    { filter, forced_filter, vectors }: StoreExportRequest,
    queue: ChunkQueue,
    stop: AbortSignal,
  ): Promise<void> {
    // A transaction that is repeated sees another moment, and would read again what the caller has.
    if (queue.hasBegun) throw new CosiftError('store_failed', 'the connection to the database was lost');
    const entry = await this.#catalog.find(sql, id);
    const rules = this.#catalog.rulesOf(entry);
    const listColumns = listColumnsOf(entry);
    // The engine checks the filters.
    unwrap(rules.passes([], JSON.stringify({ filter, forced_filter })));
    for (let last = 0; !stop.aborted; ) {
      const values = new Values();
      const conditions = [
        ...restrictionSql({ listColumns, filter, forced_filter }, values),
        `id > ${values.bind(last)}::bigint`,
      ];
      const rows = await sql.run<SizedRow>(
        `SELECT ${sizedRow(vectors === true)} FROM ${recordsOf(entry)} WHERE ${conditions.join(' AND ')} ORDER BY id LIMIT ${BATCH}`,
        values.list,
      );
      for await (const part of wholeRows(sql, recordsOf(entry), rows, vectors === true)) {
        if (stop.aborted) return;
        await queue.push(unwrap(await rules.lines(part.map(nativeRow), vectors)));
      }
      if (rows.length < BATCH) return;
      last = (rows.at(-1) as SizedRow).id;
    }
  }
}

/** Chunks between their reader in the database and the caller. */
class ChunkQueue {
  readonly #max: number;
  readonly #chunks: Uint8Array[] = [];
  #hasBegun = false;
  #isEnded = false;
  #error: unknown;
  #wake: () => void = () => undefined;
  #changed = this.#nextChange();

  constructor(max: number) {
    this.#max = max;
  }

  /** Whether a chunk was added. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Adds a chunk once there is room for it. */
  async push(chunk: Uint8Array): Promise<void> {
    while (this.#chunks.length >= this.#max && !this.#isEnded) await this.#changed;
    this.#hasBegun = true;
    this.#chunks.push(chunk);
    this.#notify();
  }

  end(error?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#error = error;
    this.#notify();
  }

  /** The next chunk; undefined after the last. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#chunks.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#isEnded) return undefined;
      await this.#changed;
    }
    const chunk = this.#chunks.shift();
    this.#notify();
    return chunk;
  }

  #notify(): void {
    this.#wake();
    this.#changed = this.#nextChange();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
