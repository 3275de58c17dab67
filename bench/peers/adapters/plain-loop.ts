import type { Dataset } from '../../data/dataset.js';
import { type Filter, predicateOf } from '../../data/filters.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';
import { Top } from '../top.js';

/** The simplest solution: one Float32Array, filter first, then a heap. */
export const PLAIN_LOOP: PeerCard = {
  name: 'plain Float32Array loop',
  exact: true,
  maxRecords: 1_000_000,
  settings: 'filter first, 4 sums, heap',
  make: async () => new PlainLoop(),
};

class PlainLoop implements Peer {
  #dataset?: Dataset;

  load(dataset: Dataset): void {
    this.#dataset = dataset;
  }

  search(query: Float32Array, request: PageRequest): Hits {
    if (this.#dataset === undefined) throw new Error('not loaded');
    const { records, dimensions, vectors, columns } = this.#dataset;
    const passes = testOf(request.filter, columns);
    const top = new Top(reach(request), request.threshold);
    for (let i = 0; i < records; i++) {
      if (!passes(i)) continue;
      const start = i * dimensions;
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let j = 0; j < dimensions; j += 4) {
        const at = start + j;
        a += (vectors[at] as number) * (query[j] as number);
        b += (vectors[at + 1] as number) * (query[j + 1] as number);
        c += (vectors[at + 2] as number) * (query[j + 2] as number);
        d += (vectors[at + 3] as number) * (query[j + 3] as number);
      }
      const score = a + b + (c + d);
      if (score >= top.floor) top.offer(i + 1, score);
    }
    const { ids, scores } = top.sorted();
    return cutPage(ids, scores, request);
  }

  close(): void {
    this.#dataset = undefined;
  }
}

function testOf(filter: Filter, columns: Dataset['columns']): (i: number) => boolean {
  return filter.group === undefined && filter.time === undefined ? () => true : predicateOf(filter, columns);
}
