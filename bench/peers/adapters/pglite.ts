import { dataOf } from '../../data/columns.js';
import type { Dataset } from '../../data/dataset.js';
import { conditionOf, STANDARD } from '../dialect.js';
import { loadPeerModule } from '../modules.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';

interface Postgres {
  exec(sql: string): Promise<unknown>;
  query(
    sql: string,
    values: unknown[],
    options?: { rowMode: 'array' },
  ): Promise<{ rows: [number, number][] }>;
  close(): Promise<void>;
}

interface Module {
  PGlite: { create(options: { extensions: Record<string, unknown> }): Promise<Postgres> };
}

type Kind = 'exact' | 'HNSW' | 'HNSW iterative';

/** pgvector in PGlite, in memory, without and with its graph. */
export const PGLITE: readonly PeerCard[] = (['exact', 'HNSW', 'HNSW iterative'] as const).map((kind) => ({
  name: `PGlite pgvector ${kind}`,
  exact: kind === 'exact',
  maxRecords: 100_000,
  slow: true,
  settings: {
    exact: 'indexed columns',
    HNSW: 'm 16, ef_construction 64, ef_search 200, indexed columns',
    'HNSW iterative': 'the same, iterative_scan strict_order',
  }[kind],
  make: async () => new Pglite(kind),
}));

class Pglite implements Peer {
  readonly #kind: Kind;
  #postgres?: Postgres;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  async load(dataset: Dataset): Promise<void> {
    const { PGlite } = await loadPeerModule<Module>('@electric-sql/pglite');
    const { vector } = await loadPeerModule<{ vector: unknown }>('@electric-sql/pglite-pgvector');
    const postgres = await PGlite.create({ extensions: { vector } });
    this.#postgres = postgres;
    await postgres.exec(`
      CREATE EXTENSION vector;
      CREATE TABLE records (id int PRIMARY KEY, category text, price float8, flag boolean, title text, synced int8,
        embedding vector(${dataset.dimensions}));
      ALTER TABLE records ALTER embedding SET STORAGE PLAIN`);
    await this.#insert(dataset, postgres);
    await postgres.exec(`
      CREATE INDEX ON records (category); CREATE INDEX ON records (price); CREATE INDEX ON records (synced);
      SET maintenance_work_mem = '512MB'; SET max_parallel_maintenance_workers = 0`);
    if (this.#kind !== 'exact') {
      await postgres.exec(`
        CREATE INDEX ON records USING hnsw (embedding vector_ip_ops) WITH (m = 16, ef_construction = 64);
        SET hnsw.ef_search = 200`);
    }
    if (this.#kind === 'HNSW iterative') await postgres.exec('SET hnsw.iterative_scan = strict_order');
    await postgres.exec('VACUUM ANALYZE records');
  }

  async search(query: Float32Array, request: PageRequest): Promise<Hits> {
    if (this.#postgres === undefined) throw new Error('not loaded');
    const condition = conditionOf(request.filter, STANDARD);
    const { rows } = await this.#postgres.query(
      `SELECT id, embedding <#> $1 FROM records ${condition === undefined ? '' : `WHERE ${condition}`}
       ORDER BY embedding <#> $1 LIMIT ${reach(request)}`,
      [literal(query)],
      { rowMode: 'array' },
    );
    return cutPage(
      rows.map((row) => row[0]),
      rows.map((row) => -row[1]),
      request,
    );
  }

  async close(): Promise<void> {
    await this.#postgres?.close();
  }

  async #insert({ records, dimensions, vectors, columns }: Dataset, postgres: Postgres): Promise<void> {
    const step = 200;
    for (let start = 0; start < records; start += step) {
      const rows: string[] = [];
      for (let i = start; i < Math.min(records, start + step); i++) {
        const { category, price, flag, title } = dataOf(columns, i);
        const vector = literal(vectors.subarray(i * dimensions, (i + 1) * dimensions));
        rows.push(
          `(${i + 1}, '${category}', ${price}, ${flag}, '${title}', ${columns.synced[i]}, '${vector}')`,
        );
      }
      await postgres.exec(`INSERT INTO records VALUES ${rows.join(',')}`);
    }
  }
}

function literal(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
