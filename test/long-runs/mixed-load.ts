import { isDeepStrictEqual } from 'node:util';
import type { PostgresServer } from '../../scripts/postgres/server.js';
import type { Data } from '../../src/schema/index.js';
import { type KnownRecord, Oracle } from '../conformance/oracle.js';
import { DIMENSIONS, randomData, randomFilter, randomVector } from '../conformance/random-records.js';
import { Random } from '../helpers/random.js';
import { Front } from './front.js';

/** What a run found. */
export interface LoadReport {
  writes: number;
  /** Searches and listings that were compared. */
  compared: number;
  differences: string[];
}

const FRONTS = 2;
const WORKERS = 4;
/** Ids of one worker. */
const IDS = 200;
const PAGE = 20;

interface LoadOptions {
  /** How long the workers run at least. */
  seconds: number;
  /** How many writes, and how many comparisons, each worker makes at least. */
  operations: number;
  seed: number;
}

/**
 * Runs writes, patches, deletions, searches and listings at two fronts. Each worker has records of its own, sends each
 * request to any front, and compares every response with an oracle. A difference ends its worker.
 */
export async function runMixedLoad(
  server: PostgresServer,
  { seconds, operations, seed }: LoadOptions,
): Promise<LoadReport> {
  const store = await server.createDatabase();
  const fronts: Front[] = [];
  try {
    for (let n = 0; n < FRONTS; n++) fronts.push(await Front.start(store));
    await fronts[0]?.call('PUT', 'load', { dimensions: DIMENSIONS });
    const until = performance.now() + seconds * 1_000;
    const workers = Array.from({ length: WORKERS }, (_, n) => new Worker(fronts, n, seed));
    await Promise.all(workers.map((worker) => worker.run(until, operations)));
    return {
      writes: workers.reduce((sum, { writes }) => sum + writes, 0),
      compared: workers.reduce((sum, { compared }) => sum + compared, 0),
      differences: workers.flatMap(({ differences }) => differences),
    };
  } finally {
    await Promise.all(fronts.map((front) => front.kill()));
  }
}

class Worker {
  readonly #fronts: readonly Front[];
  readonly #number: number;
  readonly #random: Random;
  readonly #oracle = new Oracle();
  readonly #vectors: number[][];
  readonly differences: string[] = [];
  writes = 0;
  compared = 0;

  constructor(fronts: readonly Front[], number: number, seed: number) {
    this.#fronts = fronts;
    this.#number = number;
    this.#random = new Random(seed + number);
    this.#vectors = Array.from({ length: 20 }, () => randomVector(this.#random));
  }

  async run(until: number, operations: number): Promise<void> {
    const isDone = () =>
      performance.now() >= until && this.writes >= operations && this.compared >= operations;
    while (!isDone() && this.differences.length === 0) {
      const kind = this.#random.below(10);
      if (kind < 4) await this.#upsert();
      else if (kind === 4) await this.#patch();
      else if (kind === 5) await this.#delete();
      else await this.#compare(kind < 9);
    }
  }

  async #call(method: string, target: string, body?: object) {
    const response = await this.#random.pick(this.#fronts).call(method, `load/${target}`, body);
    if (response.status >= 300) this.differences.push(`${method} ${target}: ${JSON.stringify(response)}`);
    return response.body;
  }

  async #upsert(): Promise<void> {
    const ids = new Set(Array.from({ length: 1 + this.#random.below(20) }, () => this.#id()));
    const records = [...ids].map((id) => ({
      id,
      data: { ...randomData(this.#random), worker: this.#number },
      vector: this.#random.pick(this.#vectors),
    }));
    await this.#call('POST', 'records', { records });
    for (const { id, data, vector } of records) this.#oracle.records.set(id, known(id, data, vector));
    this.writes += records.length;
  }

  async #patch(): Promise<void> {
    const [record] = [...this.#oracle.records.values()].slice(this.#random.below(IDS));
    if (record === undefined) return;
    const size = this.#random.below(100);
    await this.#call('PATCH', `records/${record.id}`, { data: { size } });
    this.#oracle.records.set(record.id, { ...record, data: { ...record.data, size } });
    this.writes += 1;
  }

  async #delete(): Promise<void> {
    const ids = [this.#id(), this.#id()];
    const { deleted } = await this.#call('POST', 'records/delete', { ids });
    const found = new Set(ids.filter((id) => this.#oracle.records.has(id)));
    if (deleted !== found.size) this.differences.push(`deleted ${deleted} instead of ${found.size}`);
    for (const id of ids) this.#oracle.records.delete(id);
    this.writes += 1;
  }

  /** Reads all pages of a random request, each from any front. */
  async #compare(isSearch: boolean): Promise<void> {
    const own = { column: 'worker', operator: 'equals' as const, value: this.#number };
    const filter = { condition: 'AND' as const, rules: [own, randomFilter(this.#random, 2)] };
    const search = { vector: this.#random.pick(this.#vectors), threshold: this.#random.below(5) / 10 };
    const request = isSearch ? { search, filter } : { filter, sort: { column: 'size' } };
    const expected = this.#oracle.matches(request, 'integer').map(({ id }) => id);
    const ids: number[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const pagination = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const page = await this.#call('POST', isSearch ? 'search' : 'query', { ...request, pagination });
      if (this.differences.length > 0) return;
      ids.push(...page.results.map(({ id }: { id: number }) => id));
      cursor = page.pagination.next_cursor;
      more = cursor !== undefined;
    }
    this.compared += 1;
    if (isDeepStrictEqual(ids, expected)) return;
    this.differences.push(`${JSON.stringify(request)}: ${ids.join(' ')} instead of ${expected.join(' ')}`);
  }

  #id(): number {
    return 1 + this.#number * IDS + this.#random.below(IDS);
  }
}

function known(id: number, data: Data, vector: number[]): KnownRecord {
  return { id, uuid: '', data, vector, created: 0, changed: 0, synced: 0 };
}
