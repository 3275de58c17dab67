import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { dataOf } from '../../data/columns.js';
import type { Dataset } from '../../data/dataset.js';
import { conditionOf, STANDARD } from '../dialect.js';
import { requirePeerModule } from '../modules.js';
import {
  cutPage,
  type Hits,
  type PageRequest,
  type Peer,
  type PeerCard,
  type PeerOptions,
  reach,
} from '../peer.js';

interface Collection {
  insertSync(documents: unknown[]): unknown;
  optimizeSync(): void;
  querySync(query: {
    fieldName: string;
    topk: number;
    vector: Float32Array;
    filter?: string;
    outputFields: string[];
    params?: unknown;
  }): { id: string; score: number }[];
  closeSync(): void;
}

interface Module {
  ZVecInitialize(options: { queryThreads: number; optimizeThreads: number; logLevel: number }): void;
  ZVecCollectionSchema: new (schema: unknown) => unknown;
  ZVecCreateAndOpen(path: string, schema: unknown): Collection;
  ZVecOpen(path: string): Collection;
  ZVecDataType: Record<'STRING' | 'BOOL' | 'INT64' | 'DOUBLE' | 'VECTOR_FP32', number>;
  ZVecIndexType: Record<'HNSW' | 'FLAT' | 'INVERT', number>;
  ZVecMetricType: Record<'COSINE', number>;
  ZVecQuantizeType: Record<'INT8', number>;
  ZVecLogLevel: Record<'ERROR', number>;
}

type Kind = 'flat' | 'HNSW f32' | 'HNSW i8';

/** zvec without and with its graph. */
export const ZVEC: readonly PeerCard[] = (['flat', 'HNSW f32', 'HNSW i8'] as const).map((kind) => ({
  name: `zvec ${kind}`,
  exact: kind === 'flat',
  keeps: true,
  maxRecords: kind === 'flat' ? 1_000_000 : 100_000,
  slow: kind !== 'flat',
  settings:
    kind === 'flat'
      ? 'cosine, inverted indexes'
      : 'cosine, M 32, efConstruction 200, ef 200, inverted indexes',
  make: async (options) => new Zvec(kind, options, requirePeerModule<Module>('@zvec/zvec')),
}));

class Zvec implements Peer {
  readonly #kind: Kind;
  readonly #module: Module;
  #collection?: Collection;

  constructor(kind: Kind, { threads }: PeerOptions, module: Module) {
    this.#kind = kind;
    this.#module = module;
    module.ZVecInitialize({ queryThreads: threads, optimizeThreads: 2, logLevel: module.ZVecLogLevel.ERROR });
  }

  load(dataset: Dataset, directory: string): void {
    const path = join(directory, 'collection');
    rmSync(path, { recursive: true, force: true });
    const collection = this.#module.ZVecCreateAndOpen(path, this.#schema(dataset.dimensions));
    const { records, dimensions, vectors, columns } = dataset;
    const step = 500;
    for (let start = 0; start < records; start += step) {
      const documents = Array.from({ length: Math.min(step, records - start) }, (_, at) => {
        const i = start + at;
        return {
          id: String(i + 1),
          vectors: { embedding: vectors.subarray(i * dimensions, (i + 1) * dimensions) },
          fields: { ...dataOf(columns, i), synced: columns.synced[i] },
        };
      });
      collection.insertSync(documents);
    }
    collection.optimizeSync();
    this.#collection = collection;
  }

  reopen(_dataset: Dataset, directory: string): void {
    this.#collection = this.#module.ZVecOpen(join(directory, 'collection'));
  }

  search(query: Float32Array, request: PageRequest): Hits {
    if (this.#collection === undefined) throw new Error('not loaded');
    const filter = conditionOf(request.filter, STANDARD);
    const found = this.#collection.querySync({
      fieldName: 'embedding',
      topk: reach(request),
      vector: query,
      outputFields: [],
      ...(filter === undefined ? {} : { filter }),
      ...(this.#kind === 'flat'
        ? {}
        : { params: { indexType: this.#module.ZVecIndexType.HNSW, ef: Math.max(200, reach(request)) } }),
    });
    return cutPage(
      found.map(({ id }) => Number(id)),
      found.map(({ score }) => 1 - score),
      request,
    );
  }

  close(): void {
    this.#collection?.closeSync();
  }

  #schema(dimension: number): unknown {
    const { ZVecDataType, ZVecIndexType, ZVecMetricType, ZVecQuantizeType, ZVecCollectionSchema } =
      this.#module;
    const inverted = {
      indexType: ZVecIndexType.INVERT,
      enableRangeOptimization: true,
      enableExtendedWildcard: true,
    };
    const field = (name: string, dataType: number) => ({ name, dataType, indexParams: inverted });
    const metricType = ZVecMetricType.COSINE;
    const graph = { indexType: ZVecIndexType.HNSW, metricType, m: 32, efConstruction: 200 };
    const indexParams = {
      flat: { indexType: ZVecIndexType.FLAT, metricType },
      'HNSW f32': graph,
      'HNSW i8': { ...graph, quantizeType: ZVecQuantizeType.INT8 },
    }[this.#kind];
    return new ZVecCollectionSchema({
      name: 'records',
      vectors: { name: 'embedding', dataType: ZVecDataType.VECTOR_FP32, dimension, indexParams },
      fields: [
        field('category', ZVecDataType.STRING),
        field('price', ZVecDataType.DOUBLE),
        field('flag', ZVecDataType.BOOL),
        field('title', ZVecDataType.STRING),
        field('synced', ZVecDataType.INT64),
      ],
    });
  }
}
