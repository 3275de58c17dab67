import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import pg from 'pg';
import { NO_SERVER, PostgresServer } from '../../../scripts/postgres/server.js';
import { LIMITS } from '../../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../../src/store/postgres/index.js';
import {
  type Dataset,
  type DatasetKey,
  openDataset,
  QUERIES,
  queryOf,
  THRESHOLD,
} from '../../data/dataset.js';
import { BENCH_DIRECTORY, inTemporaryDirectory } from '../../paths.js';
import { latency, median } from '../../report/statistics.js';
import { factsOf, type Session, type Suite } from '../session.js';
import type { Used } from './front.js';

const FRONT = join(BENCH_DIRECTORY, 'suites/postgres/front.ts');
const KEY = 'bench-admin-key-of-a-server-that-lives-for-minutes';
const LIMITS_OF_PAGES = [10, 100];
/** The first rounds, which do not count. */
const WARM_UP = 40;
/** Records of one write. */
const BATCH = 1_000;

/** What a search on PostgreSQL costs more than the same statement of pgvector. */
export const POSTGRES: Suite = {
  name: 'postgres',
  about:
    'searches of a service on PostgreSQL compared with pgvector alone, and the time of the service itself',
  async run(session) {
    if (NO_SERVER !== undefined) {
      session.say(`postgres: skipped, ${NO_SERVER}`);
      return;
    }
    for (const key of session.deep) {
      session.say(`postgres: ${key.records} records`);
      await inTemporaryDirectory((directory) => measure(session, key, directory));
    }
  },
};

async function measure(session: Session, key: DatasetKey, directory: string): Promise<void> {
  const dataset = openDataset(key);
  const server = await PostgresServer.start();
  try {
    const url = await server.createDatabase();
    await load(dataset, url);
    await server.run('VACUUM ANALYZE', new URL(url).pathname.slice(1));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const front = await Front.start(url, directory);
    try {
      for (const limit of LIMITS_OF_PAGES)
        session.measurements.push(...(await compared(dataset, client, front, limit)));
    } finally {
      await front.stop();
      await client.end();
    }
  } finally {
    await server.stop();
  }
}

/** Stores the records as the service does, and again in the plainest table for pgvector. */
async function load(dataset: Dataset, url: string): Promise<void> {
  const store = new PostgresStore(new NodePostgres({ url, maxConnections: 2 }), LIMITS);
  await store.load();
  await store.createDatabase('bench', { model: null, fingerprint: null, dimensions: dataset.dimensions });
  for (let first = 0; first < dataset.records; first += BATCH) {
    const count = Math.min(BATCH, dataset.records - first);
    const records = Array.from({ length: count }, (_, at) => ({
      id: first + at + 1,
      data: { title: `record ${first + at}`, price: at },
    }));
    const vectors = new Float32Array(
      dataset.vectors.subarray(first * dataset.dimensions, (first + count) * dataset.dimensions),
    );
    const prepared = await store.prepareBatch('bench', Buffer.from(JSON.stringify({ records })), vectors);
    await store.commit('bench', prepared, { vectors: new Float32Array() });
  }
  await store.close();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `CREATE TABLE plain (id bigint PRIMARY KEY, data text, emb vector(${dataset.dimensions}))`,
  );
  await client.query('ALTER TABLE plain ALTER emb SET STORAGE PLAIN');
  await client.query('INSERT INTO plain SELECT id, data, emb FROM cosift.records_1_1 ORDER BY id');
  await client.end();
}

/** Searches through the service and by the statement alone, in turns. */
async function compared(dataset: Dataset, client: pg.Client, front: Front, limit: number) {
  const [whole, own, alone, cpu]: number[][] = [[], [], [], []];
  for (let round = 0; round < WARM_UP + QUERIES; round++) {
    const vector = [...queryOf(dataset, round % QUERIES)];
    const before = await front.used();
    const begun = performance.now();
    const ids = await front.search(vector, limit);
    const wall = performance.now() - begun;
    const after = await front.used();
    const started = performance.now();
    const { rows } = await client.query<{ id: string }>({
      name: 'plain',
      text: 'SELECT id, data, emb <#> $1::vector AS d FROM plain ORDER BY d LIMIT $2::integer',
      values: [`[${vector.join(',')}]`, limit],
    });
    const plain = performance.now() - started;
    // Neighbours with nearly equal scores may be in another order.
    const found = new Set(rows.map(({ id }) => Number(id)));
    if (ids.filter((id) => !found.has(id)).length > 1) throw new Error(`query ${round} has another result`);
    if (round < WARM_UP) continue;
    whole?.push(wall * 1_000);
    alone?.push(plain * 1_000);
    own?.push((after.requests - before.requests - (after.statements - before.statements)) * 1_000);
    cpu?.push(after.cpu - before.cpu);
  }
  const facts = { suite: 'postgres', ...factsOf(dataset) };
  const [wholes, owns, alones, cpus] = [whole, own, alone, cpu] as [number[], number[], number[], number[]];
  const times_plain = median(wholes.map((wall, at) => wall / (alones[at] as number)));
  return [
    {
      ...facts,
      cell: `search, ${limit} results`,
      system: 'cosift',
      values: { ...latency(wholes), times_plain, goal_times: 1.5 },
    },
    {
      ...facts,
      cell: `search, ${limit} results, outside of statements`,
      system: 'cosift',
      values: { ...latency(owns), cpu_p50_ms: median(cpus), goal_p50_ms: 2 },
    },
    { ...facts, cell: `search, ${limit} results`, system: 'pgvector', values: latency(alones) },
  ];
}

/** The service. */
class Front {
  readonly #child: ChildProcess;
  readonly #url: string;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
  }

  static async start(store: string, directory: string): Promise<Front> {
    const flags = [
      '--port',
      '0',
      '--data',
      directory,
      '--store',
      store,
      '--log-level',
      'error',
      '--rate-limit',
      '0',
    ];
    const child = fork(FRONT, ['serve', ...flags], {
      env: { ...process.env, COSIFT_ADMIN_KEY: KEY },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    for await (const line of createInterface({ input: child.stdout as Readable })) {
      const [, url] = /listening on (http:\S+)/.exec(line) ?? [];
      if (url === undefined) continue;
      child.stdout?.resume();
      return new Front(child, url);
    }
    throw new Error('the service ended before it listened');
  }

  /** The ids of a page. */
  async search(vector: number[], limit: number): Promise<number[]> {
    const body = JSON.stringify({ search: { vector, threshold: THRESHOLD }, pagination: { limit } });
    const headers = { 'content-type': 'application/json', 'x-api-key': KEY };
    const options = { method: 'POST', agent: this.#agent, headers };
    const call = request(`${this.#url}/v1/databases/bench/search`, options);
    call.end(body);
    const [response] = await once(call, 'response');
    const { results } = (await json(response)) as { results: { id: number }[] };
    return results.map(({ id }) => id);
  }

  async used(): Promise<Used> {
    const told = once(this.#child, 'message');
    this.#child.send('used');
    const [used] = await told;
    return used as Used;
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#child.kill('SIGTERM');
    await once(this.#child, 'exit');
  }
}
