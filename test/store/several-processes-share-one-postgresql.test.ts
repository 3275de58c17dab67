import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { Models } from '../../src/databases/models.js';
import { DatabaseService } from '../../src/databases/service.js';
import type { CosiftError } from '../../src/errors.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { TestDatabase } from '../conformance/test-database.js';

const search = { search: { vector: [1, 0], threshold: 0 } };

describe.skipIf(NO_SERVER !== undefined)(
  `two fronts of one server${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let fronts: DatabaseService[];
    let url: string;

    const openFront = async (url: string) => {
      const store = new PostgresStore(new NodePostgres({ url, maxConnections: 4 }), LIMITS);
      const front = new DatabaseService(store, new Models({}, 1), { limits: LIMITS, resume: true });
      await front.ready;
      return front;
    };
    const numberOf = (id: string) =>
      server.run(`SELECT number FROM cosift.databases WHERE id = '${id}'`, new URL(url).pathname.slice(1));
    const noReopen = async () => undefined;
    const on = (front: DatabaseService, id: string) =>
      new TestDatabase({ databases: front, reopen: noReopen, close: noReopen }, id);

    beforeAll(async () => {
      server = await PostgresServer.start();
      url = await server.createDatabase();
      // Both create the tables at the same time.
      fronts = await Promise.all([openFront(url), openFront(url)]);
    });

    afterAll(async () => {
      await Promise.all((fronts ?? []).map((front) => front.close()));
      await server?.stop();
    });

    test('a write of one front wakes a reader of the feed at the other', async () => {
      await fronts[0]!.catalog.create('woken', { dimensions: 2 });
      const [one, other] = fronts.map((front) => on(front, 'woken')) as [TestDatabase, TestDatabase];
      const waiting = other.changes({ waitMs: 60_000 });
      await one.put({ id: 1, data: {}, vector: [1, 0] });
      expect((await waiting).changes).toMatchObject([{ kind: 'created', id: 1 }]);
    });

    test('a drop at one front wakes a reader of the feed at the other', async () => {
      await fronts[0]!.catalog.create('dropped', { dimensions: 2 });
      const other = on(fronts[1]!, 'dropped');
      await other.put({ id: 1, data: {}, vector: [1, 0] });
      const waiting = expect(other.changes({ after: 1, waitMs: 600_000 })).rejects.toMatchObject({
        code: 'database_not_found',
      });
      await fronts[0]!.catalog.drop('dropped');
      await waiting;
    });

    test('a search fits the database that another front created again, with other settings', async () => {
      const by = (vector: number[]) => on(fronts[1]!, 'again').search({ search: { vector, threshold: 0 } });
      await fronts[0]!.catalog.create('again', { dimensions: 2 });
      expect((await by([1, 0])).results).toEqual([]);
      await fronts[0]!.catalog.drop('again');
      await fronts[0]!.catalog.create('again', { dimensions: 3 });
      expect((await by([1, 0, 0])).results).toEqual([]);
      await expect(by([1, 0])).rejects.toMatchObject({ code: 'invalid_dimensions', fields: { expected: 3 } });
      await fronts[0]!.catalog.drop('again');
      const text = { search: { text: 'a tower' } };
      await expect(on(fronts[1]!, 'again').search(text)).rejects.toMatchObject({
        code: 'database_not_found',
      });
    });

    test('defaults that one front changes count at the other at once', async () => {
      await fronts[0]!.catalog.create('defaults', { dimensions: 2 });
      const [one, other] = fronts.map((front) => on(front, 'defaults')) as [TestDatabase, TestDatabase];
      await one.upsert([1, 2, 3].map((id) => ({ id, data: {}, vector: [1, id] })));
      const vector = { search: { vector: [1, 1] } };
      for (const limit of [1, 2, null, 3]) {
        await fronts[0]!.catalog.configure('defaults', { defaults: { limit, threshold: limit && 1 } });
        for (const front of [other, one]) {
          expect((await front.query()).pagination.limit).toBe(limit ?? 50);
          expect((await front.search(vector)).results).toHaveLength(limit === null ? 3 : 1);
        }
      }
    });

    test('the clock of a front neither shortens the feed nor goes back', async () => {
      await fronts[0]!.catalog.create('clocks', { dimensions: 2 });
      const [one, other] = fronts.map((front) => on(front, 'clocks')) as [TestDatabase, TestDatabase];
      await one.put({ id: 1, data: {}, vector: [1, 0] });
      const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 31 * 86_400_000);
      await other.put({ id: 2, data: {}, vector: [1, 0] });
      clock.mockReturnValue(Date.now() + 400 * 86_400_000);
      await other.put({ id: 3, data: {}, vector: [1, 0] });
      clock.mockRestore();
      await one.put({ id: 4, data: {}, vector: [1, 0] });
      // Changes of a former version, whose times were those of the fronts.
      const name = new URL(url).pathname.slice(1);
      const age = 31 * 86_400_000;
      await server.run(
        `UPDATE cosift.changes_${await numberOf('clocks')} SET written = written - ${age} WHERE position = 2`,
        name,
      );
      await one.put({ id: 5, data: {}, vector: [1, 0] });
      const { changes } = await other.changes({});
      expect(changes.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5]);
      const times = changes.map(({ at }) => Date.parse(at));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(Math.abs(Date.now() - times[4]!)).toBeLessThan(60_000);
      // The clock of PostgreSQL went back.
      const ahead = Date.now() + 3_600_000;
      await server.run(`UPDATE cosift.databases SET last_write_at = ${ahead} WHERE id = 'clocks'`, name);
      await one.put({ id: 1, data: { n: 1 }, vector: [1, 0] });
      await other.put({ id: 1, data: { n: 1 }, vector: [1, 0] });
      await one.put({ id: 6, data: {}, vector: [1, 0] });
      // Each commit has a later time than the one before it.
      const [changed, touched, created] = [1, 2, 3].map((ms) => new Date(ahead + ms).toISOString());
      const first = (await one.record(1, 'uuid')).timestamps;
      expect(first).toMatchObject({ changed_at: changed, synced_at: touched });
      const last = (await one.record(6, 'uuid')).timestamps;
      expect(last).toEqual({ created_at: created, changed_at: created, synced_at: created });
    });

    test('what one front acknowledged, the other finds; ids and positions have no gap and no repetition', async () => {
      await fronts[0]!.catalog.create('shared', { dimensions: 2 });
      const databases = fronts.map((front) => on(front, 'shared'));
      const given: number[] = [];
      await Promise.all(
        databases.flatMap((database, at) =>
          [0, 1, 2].map(async (writer) => {
            for (let n = 0; n < 15; n++) {
              const { results } = await database.upsert([{ data: { at, writer, n }, vector: [1, n] }]);
              const { id } = results[0]!;
              given.push(Number(id));
              expect((await databases[1 - at]!.record(Number(id))).data).toEqual({ at, writer, n });
            }
          }),
        ),
      );
      expect(given.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 90 }, (_, at) => at + 1));
      for (const database of databases) {
        const { changes } = await database.changes({ limit: 1_000 });
        expect(changes.map(({ position }) => position)).toEqual(
          Array.from({ length: 90 }, (_, at) => at + 1),
        );
        expect(await database.ids('search', search)).toHaveLength(90);
      }
    });

    test('databases are created and dropped at either front', async () => {
      const outcomes = await Promise.all(
        fronts.map((front) => front.catalog.create('once', { dimensions: 2 })),
      );
      expect(outcomes.map(({ created }) => created).toSorted()).toEqual([false, true]);
      await fronts[0]!.catalog.drop('once');
      await expect(on(fronts[1]!, 'once').search(search)).rejects.toMatchObject({
        code: 'database_not_found',
      });
    });

    test('nothing acknowledged is lost when the server is killed during writes', async () => {
      await fronts[0]!.catalog.create('killed', { dimensions: 2 });
      const databases = fronts.map((front) => on(front, 'killed'));
      const acknowledged = new Set<number>();
      for (let round = 0; round < 3; round++) {
        let running = true;
        const writing = databases.map(async (database, at) => {
          for (let n = 0; running; n++) {
            const id = 1 + at + 2 * (n + round * 100_000);
            try {
              await database.put({ id, data: { n }, vector: [1, n % 7] });
              acknowledged.add(id);
            } catch (error) {
              const { code, fields } = error as CosiftError;
              expect(code, JSON.stringify(fields)).toBe('store_failed');
            }
          }
        });
        const before = acknowledged.size;
        try {
          await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 20);
          await server.kill();
          await server.restart();
          await expect.poll(async () => databases[0]!.count().catch(() => 0)).toBeGreaterThan(0);
        } finally {
          running = false;
          await Promise.all(writing);
        }
        const stored = new Set((await databases[1]!.ids('query', {})).map(Number));
        expect([...acknowledged].filter((id) => !stored.has(id))).toEqual([]);
        const found = await databases[0]!.ids('search', search);
        expect(new Set(found).size).toBe(found.length);
        expect(found).toHaveLength(stored.size);
      }
    });
  },
);
