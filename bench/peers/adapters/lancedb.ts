import { dataOf } from '../../data/columns.js';
import type { Dataset } from '../../data/dataset.js';
import { conditionOf, STANDARD } from '../dialect.js';
import { loadPeerModule } from '../modules.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';

interface Query {
  distanceType(type: 'dot'): Query;
  where(condition: string): Query;
  select(columns: string[]): Query;
  limit(limit: number): Query;
  nprobes(probes: number): Query;
  refineFactor(factor: number): Query;
  ef(ef: number): Query;
  bypassVectorIndex(): Query;
  toArrow(): Promise<{ getChild(name: string): Iterable<number | bigint> }>;
}

interface Table {
  add(rows: unknown): Promise<unknown>;
  createIndex(column: string, options?: { config: unknown }): Promise<void>;
  optimize(): Promise<unknown>;
  vectorSearch(vector: Float32Array): Query;
}

interface Module {
  connect(path: string): Promise<{
    createTable(name: string, rows: unknown): Promise<Table>;
    openTable(name: string): Promise<Table>;
    close(): void;
  }>;
  Index: {
    ivfPq(options: { distanceType: 'dot'; numPartitions: number; numSubVectors: number }): unknown;
    hnswSq(options: {
      distanceType: 'dot';
      numPartitions: number;
      m: number;
      efConstruction: number;
    }): unknown;
    btree(): unknown;
    bitmap(): unknown;
  };
}

type Kind = 'flat' | 'IVF_PQ' | 'HNSW_SQ';

// Dot product, because the distances of an indexed cosine column are doubled.
const SETTINGS: Record<Kind, string> = {
  flat: 'dot, scalar indexes',
  IVF_PQ: 'dot, 96 sub-vectors, 20 probes, refine factor 10, scalar indexes',
  HNSW_SQ: 'dot, 1 partition, M 20, ef 300, refine factor 2, scalar indexes',
};

/** LanceDB without and with its indexes. */
export const LANCEDB: readonly PeerCard[] = (['flat', 'IVF_PQ', 'HNSW_SQ'] as const).map((kind) => ({
  name: `LanceDB ${kind}`,
  exact: kind === 'flat',
  keeps: true,
  maxRecords: kind === 'flat' ? 1_000_000 : 100_000,
  slow: kind !== 'flat',
  settings: SETTINGS[kind],
  make: async () => new Lance(kind),
}));

class Lance implements Peer {
  readonly #kind: Kind;
  #table?: Table;
  #close: () => void = () => {};

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  async load(dataset: Dataset, directory: string): Promise<void> {
    const { connect, Index } = await loadPeerModule<Module>('@lancedb/lancedb');
    const connection = await connect(directory);
    this.#close = () => connection.close();
    const step = 20_000;
    let table: Table | undefined;
    for (let start = 0; start < dataset.records; start += step) {
      const rows = rowsOf(dataset, start, Math.min(dataset.records, start + step));
      if (table === undefined) table = await connection.createTable('records', rows);
      else await table.add(rows);
    }
    if (table === undefined) throw new Error('no records');
    await table.createIndex('category', { config: Index.bitmap() });
    await table.createIndex('price', { config: Index.btree() });
    await table.createIndex('synced', { config: Index.btree() });
    if (this.#kind === 'IVF_PQ') {
      const numPartitions = Math.round(Math.sqrt(dataset.records));
      const config = Index.ivfPq({ distanceType: 'dot', numPartitions, numSubVectors: 96 });
      await table.createIndex('vector', { config });
    } else if (this.#kind === 'HNSW_SQ') {
      const config = Index.hnswSq({ distanceType: 'dot', numPartitions: 1, m: 20, efConstruction: 300 });
      await table.createIndex('vector', { config });
    }
    await table.optimize();
    this.#table = table;
  }

  async reopen(_dataset: Dataset, directory: string): Promise<void> {
    const { connect } = await loadPeerModule<Module>('@lancedb/lancedb');
    const connection = await connect(directory);
    this.#close = () => connection.close();
    this.#table = await connection.openTable('records');
  }

  async search(query: Float32Array, request: PageRequest): Promise<Hits> {
    if (this.#table === undefined) throw new Error('not loaded');
    let search = this.#table.vectorSearch(query).select(['id', '_distance']).limit(reach(request));
    if (this.#kind === 'flat') search = search.distanceType('dot').bypassVectorIndex();
    else if (this.#kind === 'IVF_PQ') search = search.nprobes(20).refineFactor(10);
    else search = search.ef(Math.max(300, 2 * reach(request))).refineFactor(2);
    const condition = conditionOf(request.filter, STANDARD);
    if (condition !== undefined) search = search.where(condition);
    const found = await search.toArrow();
    const ids = Array.from(found.getChild('id'), Number);
    return cutPage(
      ids,
      Array.from(found.getChild('_distance'), (distance) => 1 - Number(distance)),
      request,
    );
  }

  close(): void {
    this.#close();
  }
}

function rowsOf({ dimensions, vectors, columns }: Dataset, start: number, end: number): unknown[] {
  return Array.from({ length: end - start }, (_, at) => {
    const i = start + at;
    const vector = Array.from(vectors.subarray(i * dimensions, (i + 1) * dimensions));
    return { id: i + 1, ...dataOf(columns, i), synced: columns.synced[i], vector };
  });
}
