import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const put = (database: TestDatabase, id: number, n = 0) => database.put({ id, data: { n }, vector: [1, 0] });

/** The ordered feed of created, changed and deleted records. */
export function describeChanges(open: OpenDatabases): void {
  describe('the change feed', () => {
    const shared = SharedDatabases.use(open);

    test('tells every change in order, and goes on after any position', async () => {
      const database = await shared.create();
      await database.upsert([3, 1, 2].map((id) => ({ id, data: { n: 0 }, vector: [1, 0] })));
      await put(database, 1, 1);
      expect(await put(database, 1, 1)).toBe('unchanged');
      await database.delete({ ids: [2] });
      await put(database, 2, 5);
      const expected = ['created 3', 'created 1', 'created 2', 'changed 1', 'deleted 2', 'created 2'];
      for (const limit of [1, 2, 5, 1_000]) expect(await database.history(0, { limit })).toEqual(expected);
      const { changes } = await database.changes();
      for (const [at, { position }] of changes.entries()) {
        expect(await database.history(position, { limit: 2 })).toEqual(expected.slice(at + 1));
      }
    });

    test('a change has both ids of its record, and the time at which the content changed', async () => {
      const database = await shared.create();
      const isRecent = (time: string) => Math.abs(Date.parse(time) - Date.now()) < 60_000;
      const timestamps = { created_at: '1999-01-01', changed_at: '1999-02-03', synced_at: '1999-04-05' };
      const { results } = await database.upsert([
        { data: {}, vector: [1, 0] },
        { data: {}, timestamps, vector: [1, 0] },
      ]);
      await database.delete({ ids: results.map(({ uuid }) => uuid) });
      const { changes } = await database.changes();
      expect(changes.map(({ kind, id, uuid }) => ({ kind, id, uuid }))).toEqual(
        ['created', 'deleted'].flatMap((kind) => results.map(({ id, uuid }) => ({ kind, id, uuid }))),
      );
      expect(changes.map(({ at }) => isRecent(at))).toEqual([true, false, true, true]);
      expect(changes[1]!.at).toBe('1999-02-03T00:00:00.000Z');
    });

    test('an empty response keeps the position', async () => {
      const database = await shared.create();
      const empty = await database.changes();
      expect(empty).toMatchObject({ changes: [], position: 0, has_more: false });
      await put(database, 1);
      const { changes, ...end } = await database.changes();
      expect(changes).toHaveLength(1);
      expect(end.has_more).toBe(false);
      expect(await database.changes({ after: end.position })).toEqual({ changes: [], ...end });
    });

    test('says whether there is more', async () => {
      const database = await shared.create();
      for (const id of [1, 2, 3]) await put(database, id);
      const first = await database.changes({ limit: 2 });
      expect(first.changes).toHaveLength(2);
      expect(first.has_more).toBe(true);
      const second = await database.changes({ after: first.position, limit: 1 });
      expect(second.changes).toHaveLength(1);
      expect(second.has_more).toBe(false);
    });

    test('changes of one deletion come in the order of ids', async () => {
      const database = await shared.create();
      for (const id of [7, 10, 3, 9, 1]) await put(database, id);
      const { position } = await database.changes();
      await database.delete({ ids: [10, 3, 1] });
      expect(await database.history(position)).toEqual(['deleted 1', 'deleted 3', 'deleted 10']);
      await database.delete({ filter: { rules: [{ column: 'n', operator: 'equals', value: 0 }] } });
      expect((await database.history(position)).slice(3)).toEqual(['deleted 7', 'deleted 9']);
    });

    test('a batch that was refused leaves no change', async () => {
      const database = await shared.create();
      await put(database, 1);
      const bad = [
        { id: 2, data: {}, vector: [1, 0] },
        { id: 3, data: { a: {} }, vector: [1, 0] },
      ];
      await expect(database.upsert(bad)).rejects.toMatchObject({ code: 'invalid_record' });
      expect(await database.history()).toEqual(['created 1']);
    });

    test('wakes who waits for it, by an upsert, a stream or a deletion', async () => {
      const database = await shared.create();
      const writes: [() => Promise<unknown>, string][] = [
        [() => put(database, 1), 'created 1'],
        [() => database.upsertLines('{"id":2,"data":{},"vector":[1,0]}\n'), 'created 2'],
        [() => database.delete({ ids: [1] }), 'deleted 1'],
      ];
      let { position } = await database.changes();
      for (const [write, expected] of writes) {
        const waiting = database.changes({ after: position, waitMs: 60_000 });
        await write();
        const feed = await waiting;
        expect(feed.changes.map(({ kind, id }) => `${kind} ${id}`)).toEqual([expected]);
        position = feed.position;
      }
      // What has happened is not waited for.
      expect((await database.changes({ waitMs: 60_000 })).changes).toHaveLength(3);
    });

    test('a wait ends without a change, by its time or by its signal', async () => {
      const database = await shared.create();
      await put(database, 1);
      const { position } = await database.changes();
      const start = performance.now();
      expect((await database.changes({ after: position, waitMs: 40 })).changes).toEqual([]);
      // A timer may fire a millisecond early.
      expect(performance.now() - start).toBeGreaterThan(38);
      const stop = new AbortController();
      const waiting = database.changes({ after: position, waitMs: 60_000 }, { signal: stop.signal });
      stop.abort();
      await expect(waiting.catch(() => ({ changes: [] }))).resolves.toMatchObject({ changes: [] });
    });

    test('a wait is not ended by an unchanged record, nor by another database', async () => {
      const database = await shared.create();
      const other = await shared.create();
      await put(database, 1);
      const { position } = await database.changes();
      const waiting = database.changes({ after: position, waitMs: 60_000 });
      await put(other, 1);
      expect(await put(database, 1)).toBe('unchanged');
      await put(database, 2);
      expect((await waiting).changes).toMatchObject([{ kind: 'created', id: 2 }]);
    });

    test('a database that is created again has another feed', async () => {
      const database = await shared.create();
      for (const id of [1, 2]) await put(database, id);
      const first = await database.changes();
      expect(await database.changes({ after: 2, epoch: first.epoch })).toMatchObject({ position: 2 });
      const restarted = { code: 'feed_restarted', status: 410 };
      await expect(database.changes({ after: first.position + 1 })).rejects.toMatchObject(restarted);

      await database.databases.catalog.drop(database.id);
      await database.databases.catalog.create(database.id, { dimensions: 2 });
      const second = await database.changes();
      expect(second.epoch).not.toBe(first.epoch);
      await expect(database.changes({ after: first.position })).rejects.toMatchObject(restarted);
      for (const id of [7, 8, 9]) await put(database, id);
      // There is such a position again, but it is one of another feed.
      await expect(database.changes({ after: first.position, epoch: first.epoch })).rejects.toMatchObject(
        restarted,
      );
      expect(await database.history()).toEqual(['created 7', 'created 8', 'created 9']);
    });

    test('a wait ends when its database is dropped', async () => {
      const database = await shared.create();
      const waiting = database.changes({ waitMs: 60_000 });
      const refused = expect(waiting).rejects.toMatchObject({ code: 'database_not_found' });
      await database.databases.catalog.drop(database.id);
      await refused;
    });
  });

  describe('a change feed that keeps changes for a short time', () => {
    const shared = SharedDatabases.use(open, { limits: { ...LIMITS, change_retention_days: 0 } });

    test('says from where on it is complete', async () => {
      const database = await shared.create();
      for (const n of [1, 2, 3]) await put(database, 1, n);
      const { epoch } = await database.changes({ after: 3 });
      const removed = async () => {
        try {
          await database.changes({ after: 0, epoch });
          return undefined;
        } catch (error) {
          return error;
        }
      };
      // The store removes old changes in the background: ask until it has.
      await expect.poll(removed).toBeDefined();
      const refusal = await removed();
      expect(refusal).toMatchObject({
        code: 'changes_removed',
        status: 410,
        fields: { after: expect.any(Number) },
      });
      const { after } = (refusal as { fields: { after: number } }).fields;
      expect(after).toBeGreaterThan(0);
      expect(after).toBeLessThanOrEqual(3);
      expect((await database.query()).results).toMatchObject([{ data: { n: 3 } }]);
    });
  });
}
