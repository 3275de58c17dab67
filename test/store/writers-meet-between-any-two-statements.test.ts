import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import type { Sql, SqlDatabase } from '../../src/store/postgres/sql.js';

/** Holds a write before one of its statements, or before its commit. */
class HeldWrites implements SqlDatabase {
  readonly #database: NodePostgres;
  readonly isConcurrent = true;
  #left = Number.POSITIVE_INFINITY;
  #reached = () => {};
  #released = Promise.resolve();

  constructor(url: string) {
    this.#database = new NodePostgres({ url });
  }

  /** Holds the next write before its statement `place`, counted from 0. */
  hold(place: number): { reached: Promise<void>; release: () => void } {
    this.#left = place;
    const reached = new Promise<void>((resolve) => {
      this.#reached = resolve;
    });
    let release = () => {};
    this.#released = new Promise((resolve) => {
      release = resolve;
    });
    return { reached, release };
  }

  read: SqlDatabase['read'] = (work, signal) => this.#database.read(work, signal);

  write<T>(work: (sql: Sql) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#database.write(async (sql) => {
      const run: Sql['run'] = async (text, values) => {
        await this.#pass();
        return await sql.run(text, values);
      };
      const result = await work({ run });
      await this.#pass();
      return result;
    }, signal);
  }

  listen: SqlDatabase['listen'] = (channel, onMessage) => this.#database.listen(channel, onMessage);

  close(): Promise<void> {
    return this.#database.close();
  }

  async #pass(): Promise<void> {
    this.#left -= 1;
    if (this.#left !== -1) return;
    this.#reached();
    await this.#released;
  }
}

describe.skipIf(NO_SERVER !== undefined)(`two services${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  let held: HeldWrites;
  let one: PostgresStore;
  let other: PostgresStore;
  beforeAll(async () => {
    server = await PostgresServer.start();
    const url = await server.createDatabase();
    held = new HeldWrites(url);
    one = new PostgresStore(held, LIMITS);
    other = new PostgresStore(new NodePostgres({ url }), LIMITS);
    await one.load();
    await other.load();
    await one.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
  });
  afterAll(async () => {
    await one?.close();
    await other?.close();
    await server?.stop();
  });

  const EMBEDDED = { vectors: new Float32Array() };
  const upsert = async (store: PostgresStore, key: string): Promise<{ id: number; status: string }> => {
    const body = JSON.stringify({ records: [{ key, data: { a: 0, b: 0 }, vector: [1, 0] }] });
    const prepared = await store.prepareBatch('db', Buffer.from(body));
    const { results } = await store.commit('db', prepared, EMBEDDED);
    return JSON.parse(Buffer.from(results).toString())[0];
  };
  const patch = async (store: PostgresStore, key: string, data: object): Promise<void> => {
    const prepared = await store.preparePatch(
      'db',
      `key:${key}`,
      'both',
      Buffer.from(JSON.stringify({ data })),
    );
    await store.commit('db', prepared, EMBEDDED);
  };
  const waitsForLock = async () => {
    const sql = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while ((await server.run(sql)) === '0') await sleep(10);
  };

  /** Runs `first` up to each of its statements, there `second`, and then the rest. Returns the number of statements. */
  async function meetEverywhere<T>(
    first: (key: string) => Promise<T>,
    second: (key: string) => Promise<T>,
    check: (key: string, results: [T, T]) => Promise<void>,
  ): Promise<number> {
    for (let place = 0; ; place += 1) {
      const key = `${first.name} ${place}`;
      const { reached, release } = held.hold(place);
      const ofFirst = first(key);
      if (await Promise.race([reached.then(() => false), ofFirst.then(() => true)])) return place;
      const ofSecond = second(key);
      await Promise.race([ofSecond, waitsForLock()]);
      release();
      await check(key, await Promise.all([ofFirst, ofSecond]));
    }
  }

  test('no identity is stored twice', async () => {
    const places = await meetEverywhere(
      (key) => upsert(one, key),
      (key) => upsert(other, key),
      async (key, results) => {
        expect(new Set(results.map(({ id }) => id)).size, key).toBe(1);
        expect(results.map(({ status }) => status).sort(), key).toEqual(['created', 'unchanged']);
      },
    );
    expect(places).toBeGreaterThan(3);
  });

  test('no update is lost', async () => {
    const patchA = async (key: string) => {
      await patch(one, key, { a: 1 });
    };
    for (let place = 0; place < 20; place += 1) await upsert(other, `${patchA.name} ${place}`);
    const places = await meetEverywhere(
      patchA,
      (key) => patch(other, key, { b: 1 }),
      async (key) => {
        const record = await other.record('db', `key:${key}`, { form: 'integer' });
        expect(JSON.parse(Buffer.from(record as Uint8Array).toString()).data, key).toEqual({ a: 1, b: 1 });
      },
    );
    expect(places).toBeGreaterThan(3);
    expect(places).toBeLessThan(20);
  });
});
