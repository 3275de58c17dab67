import { existsSync } from 'node:fs';
import { join } from 'node:path';
import usearch, { type Index, type Matches, MetricKind, type ScalarKind } from 'usearch';
import type { Dataset } from '../../data/dataset.js';
import { predicateOf } from '../../data/filters.js';
import {
  cutPage,
  type Hits,
  type PageRequest,
  type Peer,
  type PeerCard,
  type PeerOptions,
  reach,
} from '../peer.js';

/** The exact search of usearch. The binding has no filter, so records that pass are first copied into one array. */
export const USEARCH_EXACT: PeerCard = {
  name: 'usearch exact',
  exact: true,
  maxRecords: 1_000_000,
  settings: 'inner product; passing rows gathered before the scan',
  make: async (options) => new UsearchExact(options),
};

/** HNSW with full vectors. */
export const USEARCH_F32 = hnswCard('f32');
/** HNSW with int8 vectors. */
export const USEARCH_I8 = hnswCard('i8');

/**
 * Expansion of a search by number of records, for a recall of 0.99 with f32: measured 0.990 at 63,666 real vectors (96),
 * 0.993 at 100,000 synthetic ones (192) and 0.992 at a million (1,536).
 */
function expansionFor(records: number): number {
  if (records < 80_000) return 96;
  return records < 500_000 ? 192 : 1_536;
}

function hnswCard(scalar: 'f32' | 'i8'): PeerCard {
  return {
    name: `usearch HNSW ${scalar}`,
    exact: false,
    keeps: true,
    maxRecords: 1_000_000,
    settings:
      'connectivity 16, expansion 128 to add; to search, what a recall of 0.99 takes with f32; filters by over-fetch',
    make: async (options) => new UsearchHnsw(scalar, options),
  };
}

class UsearchExact implements Peer {
  readonly #threads: number;
  #dataset?: Dataset;

  constructor({ threads }: PeerOptions) {
    this.#threads = threads;
  }

  load(dataset: Dataset): void {
    this.#dataset = dataset;
  }

  search(query: Float32Array, request: PageRequest): Hits {
    if (this.#dataset === undefined) throw new Error('not loaded');
    const { records, dimensions, vectors, columns } = this.#dataset;
    const { group, time } = request.filter;
    if (group === undefined && time === undefined) {
      return this.#scan(vectors, undefined, records, dimensions, query, request);
    }
    const passes = predicateOf(request.filter, columns);
    const rows: number[] = [];
    for (let i = 0; i < records; i++) if (passes(i)) rows.push(i);
    const gathered = new Float32Array(rows.length * dimensions);
    for (const [at, row] of rows.entries()) {
      gathered.set(vectors.subarray(row * dimensions, (row + 1) * dimensions), at * dimensions);
    }
    return this.#scan(gathered, rows, rows.length, dimensions, query, request);
  }

  close(): void {
    this.#dataset = undefined;
  }

  #scan(
    vectors: Float32Array,
    rows: number[] | undefined,
    count: number,
    dimensions: number,
    query: Float32Array,
    request: PageRequest,
  ): Hits {
    const k = Math.min(count, reach(request));
    if (k === 0) return { ids: [], scores: [] };
    // A copy, because the exact search reads a view from the start of its underlying buffer.
    const found = usearch.exactSearch(
      vectors,
      query.slice(),
      dimensions,
      k,
      MetricKind.IP,
      this.#threads,
    ) as Matches;
    const ids = Array.from(
      found.keys,
      (key) => (rows === undefined ? Number(key) : (rows[Number(key)] as number)) + 1,
    );
    return cutPage(
      ids,
      Array.from(found.distances, (distance) => 1 - distance),
      request,
    );
  }
}

class UsearchHnsw implements Peer {
  readonly #scalar: 'f32' | 'i8';
  readonly #threads: number;
  #index?: Index;
  #dataset?: Dataset;

  constructor(scalar: 'f32' | 'i8', { threads }: PeerOptions) {
    this.#scalar = scalar;
    this.#threads = threads;
  }

  load(dataset: Dataset, directory: string): void {
    const index = this.#make(dataset);
    const step = 10_000;
    for (let start = 0; start < dataset.records; start += step) {
      const end = Math.min(dataset.records, start + step);
      const keys = BigUint64Array.from({ length: end - start }, (_, i) => BigInt(start + i));
      // Building may use all cores. Only searching is measured on one.
      index.add(keys, dataset.vectors.slice(start * dataset.dimensions, end * dataset.dimensions), 0);
    }
    index.save(join(directory, 'index.usearch'));
    this.#index = index;
    this.#dataset = dataset;
  }

  reopen(dataset: Dataset, directory: string): void {
    const path = join(directory, 'index.usearch');
    if (!existsSync(path)) throw new Error(`no index at ${path}`);
    const index = this.#make(dataset);
    index.load(path);
    this.#index = index;
    this.#dataset = dataset;
  }

  search(query: Float32Array, request: PageRequest): Hits {
    if (this.#index === undefined || this.#dataset === undefined) throw new Error('not loaded');
    const { records, columns } = this.#dataset;
    const passes = predicateOf(request.filter, columns);
    const unfiltered = request.filter.group === undefined && request.filter.time === undefined;
    // Requests four times as many records in each turn, until the page is full or all records were requested.
    for (let k = Math.min(records, reach(request) * (unfiltered ? 1 : 4)); ; k = Math.min(records, k * 4)) {
      const found = this.#index.search(query, k, 1);
      const ids: number[] = [];
      const scores: number[] = [];
      for (let i = 0; i < found.keys.length; i++) {
        const row = Number(found.keys[i]);
        if (!passes(row)) continue;
        ids.push(row + 1);
        scores.push(1 - (found.distances[i] as number));
      }
      const worst = 1 - (found.distances.at(-1) ?? 2);
      if (unfiltered || ids.length >= reach(request) || k === records || worst < request.threshold) {
        return cutPage(ids, scores, request);
      }
    }
  }

  searchMany(queries: readonly Float32Array[], request: PageRequest): Hits[] {
    if (this.#index === undefined) throw new Error('not loaded');
    const found = this.#index.search([...queries], request.limit, this.#threads);
    return queries.map((_, q) => {
      const { keys, distances } = found.get(q);
      const ids = Array.from(keys, (row) => Number(row) + 1);
      return cutPage(
        ids,
        Array.from(distances, (distance) => 1 - distance),
        request,
      );
    });
  }

  close(): void {
    this.#index = undefined;
  }

  #make({ dimensions, records }: Dataset): Index {
    return new usearch.Index({
      dimensions,
      metric: MetricKind.Cos,
      quantization: this.#scalar as ScalarKind,
      connectivity: 16,
      expansion_add: 128,
      expansion_search: expansionFor(records),
      multi: false,
    });
  }
}
