import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PGlite, types } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import type { Sql, SqlDatabase } from '../../../src/store/postgres/sql.js';

/** Binds bytes as they are, and everything else as text. */
const AS_THEY_ARE = new Proxy<Record<number, (value: unknown) => never>>(
  {},
  { get: () => (value: unknown) => (value instanceof Uint8Array ? value : String(value)) },
);

/** The PostgreSQL of this process: it takes a second to start. */
let started: Promise<PGlite> | undefined;
let schemas = 0;

const MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

async function start(): Promise<PGlite> {
  const options = { extensions: { vector }, parsers: { [types.INT8]: Number, [types.NUMERIC]: Number } };
  // It takes several seconds to make the files of a PostgreSQL: they are kept for later processes.
  const { version } = JSON.parse(
    readFileSync(path.join(MODULES, '@electric-sql/pglite/package.json'), 'utf8'),
  );
  const kept = path.join(MODULES, '.cache/cosift', `pglite-${version}.tar`);
  if (existsSync(kept)) return PGlite.create({ ...options, loadDataDir: new Blob([readFileSync(kept)]) });
  const pglite = await PGlite.create(options);
  const made = `${kept}-${process.pid}`;
  const tar = await pglite.dumpDataDir('none');
  mkdirSync(path.dirname(kept), { recursive: true });
  writeFileSync(made, Buffer.from(await tar.arrayBuffer()));
  renameSync(made, kept);
  return pglite;
}

/**
 * PostgreSQL in this process, in memory. It has one connection, so transactions take turns. The tables of each database
 * are in a schema of their own.
 */
export class PGliteDatabase implements SqlDatabase {
  readonly isConcurrent = false;
  readonly #pglite: PGlite;
  readonly #schema: string;
  readonly #listening: Promise<() => Promise<void>>[] = [];

  private constructor(pglite: PGlite, schema: string) {
    this.#pglite = pglite;
    this.#schema = schema;
  }

  static async open(): Promise<PGliteDatabase> {
    schemas += 1;
    started ??= start();
    return new PGliteDatabase(await started, `cosift_${schemas}`);
  }

  /** Another client of the same database. */
  again(): PGliteDatabase {
    return new PGliteDatabase(this.#pglite, this.#schema);
  }

  read<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#transaction('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', work, signal);
  }

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#transaction(undefined, work, signal);
  }

  listen(channel: string, onMessage: (message: string | undefined) => void): void {
    this.#listening.push(this.#pglite.listen(channel, onMessage));
  }

  /** The tables are removed by {@link destroy}. */
  async close(): Promise<void> {
    for (const listening of this.#listening.splice(0)) await (await listening)();
  }

  async destroy(): Promise<void> {
    await this.#pglite.exec(`DROP SCHEMA IF EXISTS ${this.#schema} CASCADE`);
  }

  async #transaction<T>(
    begin: string | undefined,
    work: (sql: Sql) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    // A statement runs in this thread. Without a pause, calls in a loop keep timers and messages waiting for ever.
    await new Promise((resolve) => setImmediate(resolve));
    // Statements and the names of tables.
    const renamed = (text: string) => text.replaceAll(/\bcosift(?=\.|$)/gm, this.#schema);
    return await this.#pglite.transaction(async (transaction) => {
      signal?.throwIfAborted();
      if (begin !== undefined) await transaction.exec(begin);
      const result = await work({
        async run<Row>(text: string, values: readonly unknown[] = []) {
          signal?.throwIfAborted();
          const own = [text, ...values].map((part) => (typeof part === 'string' ? renamed(part) : part));
          const [query, ...bound] = own as [string, ...unknown[]];
          return (await transaction.query<Row>(query, bound, { serializers: AS_THEY_ARE })).rows;
        },
      });
      signal?.throwIfAborted();
      return result;
    });
  }
}
