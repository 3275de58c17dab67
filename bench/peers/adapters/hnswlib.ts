import { join } from 'node:path';
import type { Dataset } from '../../data/dataset.js';
import { predicateOf } from '../../data/filters.js';
import { requirePeerModule } from '../modules.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';

interface Index {
  initIndex(options: { maxElements: number; m: number; efConstruction: number; randomSeed: number }): void;
  addPoint(point: number[], label: number): void;
  setEf(ef: number): void;
  searchKnn(
    query: number[],
    neighbors: number,
    filter?: (label: number) => boolean,
  ): { neighbors: number[]; distances: number[] };
  writeIndexSync(path: string): void;
  readIndexSync(path: string): void;
}

interface Module {
  HierarchicalNSW: new (space: 'ip', dimensions: number) => Index;
}

const EF = 400;

/** hnswlib, with its filter called for every candidate. */
export const HNSWLIB: PeerCard = {
  name: 'hnswlib-node',
  exact: false,
  keeps: true,
  maxRecords: 100_000,
  slow: true,
  settings: `M 16, efConstruction 200, ef ${EF}`,
  make: async () => new Hnswlib(),
};

class Hnswlib implements Peer {
  #index?: Index;
  #dataset?: Dataset;

  load(dataset: Dataset, directory: string): void {
    const { records, dimensions, vectors } = dataset;
    const index = this.#make(dimensions);
    index.initIndex({ maxElements: records, m: 16, efConstruction: 200, randomSeed: 100 });
    for (let i = 0; i < records; i++) {
      index.addPoint(Array.from(vectors.subarray(i * dimensions, (i + 1) * dimensions)), i);
    }
    index.writeIndexSync(join(directory, 'index.hnsw'));
    this.#index = index;
    this.#dataset = dataset;
  }

  reopen(dataset: Dataset, directory: string): void {
    const index = this.#make(dataset.dimensions);
    index.readIndexSync(join(directory, 'index.hnsw'));
    this.#index = index;
    this.#dataset = dataset;
  }

  search(query: Float32Array, request: PageRequest): Hits {
    if (this.#index === undefined || this.#dataset === undefined) throw new Error('not loaded');
    const { filter } = request;
    const passes =
      filter.group === undefined && filter.time === undefined
        ? undefined
        : predicateOf(filter, this.#dataset.columns);
    const k = Math.min(this.#dataset.records, reach(request));
    this.#index.setEf(Math.max(EF, k));
    const found = this.#index.searchKnn(Array.from(query), k, passes);
    const ids = found.neighbors.map((label) => label + 1);
    return cutPage(
      ids,
      found.distances.map((distance) => 1 - distance),
      request,
    );
  }

  close(): void {
    this.#index = undefined;
  }

  #make(dimensions: number): Index {
    const { HierarchicalNSW } = requirePeerModule<Module>('hnswlib-node');
    return new HierarchicalNSW('ip', dimensions);
  }
}
