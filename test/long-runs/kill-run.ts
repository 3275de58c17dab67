import { isDeepStrictEqual } from 'node:util';
import type { PostgresServer } from '../../scripts/postgres/server.js';
import { Front } from './front.js';

export interface Kills {
  fronts: number;
  servers: number;
}

/** What a run found. */
export interface KillReport {
  kills: Kills;
  acknowledged: number;
  drains: number;
  /** Acknowledged records that are not stored, or lack a change in the feed. */
  lost: number[];
  /** Drains that lost or repeated a record. */
  wrongDrains: string[];
  /** Positions of the feed that are missing or occur twice. */
  wrongPositions: number;
}

const FRONTS = 2;
const WRITERS = 2;
const DRAINERS = 2;
/** Records that are not written during the run, so that every drain must find exactly these. */
const STEADY = 600;
const PAGE = 50;
/** Writes and pages between two kills. */
const PROGRESS = 5;
/** Milliseconds in which there must be as many. */
const PROGRESS_MS = 120_000;

/** Kills fronts and the server in the middle of writes and drains, and counts what was lost. */
export class KillRun {
  readonly #server: PostgresServer;
  readonly #store: string;
  readonly #fronts: Front[] = [];
  readonly #acknowledged = new Set<number>();
  readonly #wrongDrains: string[] = [];
  #drains = 0;
  #pages = 0;
  #isRunning = true;
  /** Why a writer or a drainer has ended early. */
  #failure: unknown;
  #next = 0;

  private constructor(server: PostgresServer, store: string) {
    this.#server = server;
    this.#store = store;
  }

  static async run(
    server: PostgresServer,
    kills: Kills,
    onKill: (done: number) => void = () => undefined,
  ): Promise<KillReport> {
    const run = new KillRun(server, await server.createDatabase());
    try {
      return await run.#run(kills, onKill);
    } finally {
      run.#isRunning = false;
      await Promise.all(run.#fronts.map((front) => front.kill()));
    }
  }

  async #run(kills: Kills, onKill: (done: number) => void): Promise<KillReport> {
    for (let n = 0; n < FRONTS; n++) this.#fronts.push(await Front.start(this.#store));
    await this.#fill();
    const work = Promise.all([
      ...Array.from({ length: WRITERS }, (_, writer) => this.#write(writer)),
      ...Array.from({ length: DRAINERS }, () => this.#drain()),
    ]);
    work.catch((error) => {
      this.#failure = error;
    });
    const total = kills.fronts + kills.servers;
    for (let n = 0; n < total; n++) {
      await this.#waitForProgress();
      // The kills of the server are spread evenly over those of the fronts.
      const isServer =
        Math.floor(((n + 1) * kills.servers) / total) > Math.floor((n * kills.servers) / total);
      if (isServer) {
        await this.#server.kill();
        await this.#server.restart();
      } else {
        const at = n % FRONTS;
        await (this.#fronts[at] as Front).kill();
        this.#fronts[at] = await Front.start(this.#store);
      }
      onKill(n + 1);
    }
    await this.#waitForProgress();
    this.#isRunning = false;
    await work;
    return { kills, ...(await this.#check()) };
  }

  async #fill(): Promise<void> {
    const [front] = this.#fronts as [Front];
    await expectOk(front.call('PUT', 'run', { dimensions: 2 }));
    const records = Array.from({ length: STEADY }, (_, n) => ({
      id: n + 1,
      data: { steady: true },
      // Every tenth score occurs ten times.
      vector: [1, Math.floor(n / 10) / 100],
    }));
    await expectOk(front.call('POST', 'run/records', { records }));
  }

  /** Writes records, each once; a write whose outcome is not known may be stored or not. */
  async #write(writer: number): Promise<void> {
    for (let n = 0; this.#isRunning; n++) {
      const id = 1_000_000 + n * WRITERS + writer;
      const records = [{ id, data: { steady: false, n }, vector: [1, n % 7] }];
      const status = await this.#call('POST', 'run/records', { records }).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 200) this.#acknowledged.add(id);
    }
  }

  async #drain(): Promise<void> {
    const expected = Array.from({ length: STEADY }, (_, n) => n + 1);
    while (this.#isRunning) {
      const ids: number[] = [];
      for (let cursor: string | undefined, more = true; more && this.#isRunning; ) {
        const page = await this.#page(cursor);
        if (page === undefined) continue;
        this.#pages += 1;
        ids.push(...page.results.map(({ id }) => id));
        cursor = page.pagination.next_cursor;
        more = cursor !== undefined;
      }
      if (!this.#isRunning) return;
      this.#drains += 1;
      if (!isDeepStrictEqual(ids, expected)) this.#wrongDrains.push(ids.join(' '));
    }
  }

  /** A page from any front; undefined when the front or the server was killed meanwhile. */
  async #page(cursor: string | undefined): Promise<Page | undefined> {
    const request = {
      search: { vector: [1, 0], threshold: 0 },
      filter: { rules: [{ column: 'steady', operator: 'equals', value: true }] },
      pagination: { limit: PAGE, ...(cursor !== undefined && { cursor }) },
    };
    const response = await this.#call('POST', 'run/search', request).catch(() => undefined);
    if (response === undefined || response.status === 503) return undefined;
    if (response.status !== 200) throw new Error(`a search got ${JSON.stringify(response)}`);
    return response.body;
  }

  #call(method: string, target: string, body?: object) {
    this.#next += 1;
    return (this.#fronts[this.#next % FRONTS] as Front).call(method, target, body);
  }

  /** Resolves once writes were acknowledged and pages answered. */
  async #waitForProgress(): Promise<void> {
    const [writes, pages] = [this.#acknowledged.size, this.#pages];
    const deadline = performance.now() + PROGRESS_MS;
    while (this.#acknowledged.size < writes + PROGRESS || this.#pages < pages + PROGRESS) {
      if (this.#failure !== undefined) throw this.#failure;
      if (performance.now() > deadline) throw new Error(`fewer writes and pages in ${PROGRESS_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #check(): Promise<Omit<KillReport, 'kills'>> {
    const front = await Front.start(this.#store);
    this.#fronts.push(front);
    const created = new Set<number>();
    let wrongPositions = 0;
    for (let after = 0, more = true; more; ) {
      const { body } = await expectOk(front.call('GET', `run/changes?after=${after}&limit=1000`));
      for (const change of body.changes) {
        if (change.position !== after + 1) wrongPositions += 1;
        after = change.position;
        if (created.has(change.id)) wrongPositions += 1;
        created.add(change.id);
      }
      more = body.has_more;
    }
    const stored = new Set<number>();
    for (let cursor: string | undefined, more = true; more; ) {
      const pagination = { limit: 100, ...(cursor !== undefined && { cursor }) };
      const { body } = await expectOk(front.call('POST', 'run/query', { pagination }));
      for (const { id } of body.results) stored.add(id);
      cursor = body.pagination.next_cursor;
      more = cursor !== undefined;
    }
    return {
      acknowledged: this.#acknowledged.size,
      drains: this.#drains,
      lost: [...this.#acknowledged].filter((id) => !stored.has(id) || !created.has(id)),
      wrongDrains: this.#wrongDrains,
      wrongPositions,
    };
  }
}

interface Page {
  results: { id: number }[];
  pagination: { next_cursor?: string };
}

async function expectOk(call: ReturnType<Front['call']>): ReturnType<Front['call']> {
  const response = await call;
  if (response.status >= 300) throw new Error(`unexpected response: ${JSON.stringify(response)}`);
  return response;
}
