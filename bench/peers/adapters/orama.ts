import { dataOf } from '../../data/columns.js';
import type { Dataset } from '../../data/dataset.js';
import { type Filter, predicateOf } from '../../data/filters.js';
import { loadPeerModule } from '../modules.js';
import { cutPage, type Hits, type PageRequest, type Peer, type PeerCard, reach } from '../peer.js';

interface Module {
  create(options: { schema: Record<string, string> }): unknown;
  insertMultiple(database: unknown, documents: unknown[], batch: number): Promise<string[]>;
  search(
    database: unknown,
    query: {
      mode: 'vector';
      vector: { value: number[]; property: 'embedding' };
      similarity: number;
      limit: number;
      where?: Record<string, unknown>;
      includeVectors: false;
    },
  ): Promise<{ hits: { id: string; score: number }[] }>;
}

/** Orama. It has no substring or prefix test, so these rules are applied to its results. */
export const ORAMA: PeerCard = {
  name: 'Orama',
  exact: true,
  maxRecords: 100_000,
  slow: true,
  settings: 'vector mode; substrings, prefixes and ORs tested on what it returns',
  make: async () => new Orama(await loadPeerModule<Module>('@orama/orama')),
};

class Orama implements Peer {
  readonly #module: Module;
  #database: unknown;
  #dataset?: Dataset;

  constructor(module: Module) {
    this.#module = module;
  }

  async load(dataset: Dataset): Promise<void> {
    const { records, dimensions, vectors, columns } = dataset;
    this.#dataset = dataset;
    this.#database = this.#module.create({
      schema: {
        embedding: `vector[${dimensions}]`,
        category: 'enum',
        price: 'number',
        flag: 'boolean',
        synced: 'number',
      },
    });
    for (let start = 0; start < records; start += 10_000) {
      const documents = Array.from({ length: Math.min(10_000, records - start) }, (_, at) => {
        const i = start + at;
        const { category, price, flag } = dataOf(columns, i);
        const embedding = Array.from(vectors.subarray(i * dimensions, (i + 1) * dimensions));
        return { id: String(i + 1), category, price, flag, synced: columns.synced[i], embedding };
      });
      await this.#module.insertMultiple(this.#database, documents, 10_000);
    }
  }

  async search(query: Float32Array, request: PageRequest): Promise<Hits> {
    if (this.#dataset === undefined) throw new Error('not loaded');
    const { where, whole } = whereOf(request.filter);
    const { hits } = await this.#module.search(this.#database, {
      mode: 'vector',
      vector: { value: Array.from(query), property: 'embedding' },
      similarity: request.threshold,
      limit: whole ? reach(request) : this.#dataset.records,
      includeVectors: false,
      ...(where === undefined ? {} : { where }),
    });
    const passes = whole ? () => true : predicateOf(request.filter, this.#dataset.columns);
    const kept = hits.filter(({ id }) => passes(Number(id) - 1));
    return cutPage(
      kept.map(({ id }) => Number(id)),
      kept.map(({ score }) => score),
      request,
    );
  }

  close(): void {
    this.#database = undefined;
  }
}

/** The part of a filter that Orama can evaluate, and whether this is the whole filter. */
function whereOf({ group, time }: Filter): { where?: Record<string, unknown>; whole: boolean } {
  const where: Record<string, unknown> = {};
  let whole = true;
  for (const rule of group?.rules ?? []) {
    if ('rules' in rule || group?.condition === 'OR' || where[rule.column] !== undefined) {
      whole = false;
    } else if (rule.operator === 'equals') {
      where[rule.column] = typeof rule.value === 'boolean' ? rule.value : { eq: rule.value };
    } else if (rule.operator === 'less_than') {
      where[rule.column] = { lt: rule.value };
    } else if (rule.operator === 'greater_than_or_equals') {
      where[rule.column] = { gte: rule.value };
    } else {
      whole = false;
    }
  }
  if (time !== undefined) where.synced = { between: [time.startMs, time.endMs] };
  return Object.keys(where).length === 0 ? { whole } : { where, whole };
}
