import { describe, expect, test } from 'vitest';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import { chunksOf, TestDatabase } from './test-database.js';

const search = { search: { vector: [1, 0], threshold: 0 } };
const records = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, data: { n: at }, vector: [1, at] }));

/** What a close and an aborted signal do to calls. */
export function describeClosing(open: OpenDatabases): void {
  describe('a close', () => {
    const created = async () => {
      const opened = await open();
      await opened.databases.catalog.create('db', { dimensions: 2 });
      return { opened, database: new TestDatabase(opened, 'db') };
    };

    test('finishes the calls that were begun, and ends waits', async () => {
      const { opened, database } = await created();
      try {
        await database.upsert(records(50));
        await opened.databases.catalog.create('quiet', { dimensions: 2 });
        const quiet = new TestDatabase(opened, 'quiet');
        const begun = {
          written: database.upsert([{ id: 1_000, data: {}, vector: [1, 0] }]),
          found: database.search(search),
          listed: database.query({ total: true }),
          described: database.describe(),
          deleted: database.delete({ ids: [7] }),
          // Far longer than the test may take.
          waited: quiet.changes({ waitMs: 3_600_000 }),
        };
        const { databases } = opened;
        const closing = databases.close();
        expect(databases.close(), 'a second close is the same one').toBe(closing);
        expect((await begun.written).created).toBe(1);
        expect((await begun.found).results.length).toBeGreaterThan(0);
        expect((await begun.listed).total!.value).toBeGreaterThan(0);
        expect((await begun.described).id).toBe('db');
        expect(await begun.deleted).toBe(1);
        expect((await begun.waited).changes).toEqual([]);
        await closing;
        await opened.reopen();
        expect(await database.count()).toBe(50);
        expect((await database.record(1_000)).id).toBe(1_000);
      } finally {
        await opened.close();
      }
    });

    test('refuses every call that comes later', async () => {
      const { opened, database } = await created();
      const { databases } = opened;
      await database.upsert(records(1));
      await databases.close();
      const calls = {
        upsert: () => database.upsert(records(2)),
        'upsert of lines': () => database.upsertLines(JSON.stringify(records(1)[0])),
        search: () => database.search(search),
        query: () => database.query(),
        record: () => database.record(1),
        delete: () => database.delete({ ids: [1] }),
        changes: () => database.changes(),
        describe: () => database.describe(),
        list: () => databases.catalog.list(),
        create: () => databases.catalog.create('late', { dimensions: 2 }),
        drop: () => databases.catalog.drop('db'),
        reembed: () => databases.reembeddings.start('db', 'all-MiniLM-L6-v2'),
      };
      for (const [name, call] of Object.entries(calls)) {
        await expect(call(), name).rejects.toMatchObject({ code: 'not_ready', status: 503 });
      }
      expect(await databases.readiness()).toMatchObject({ ready: false, reasons: [expect.any(String)] });
      await opened.reopen();
      expect(await database.count()).toBe(1);
      await opened.close();
    });

    test('finishes an upsert of many batches, and reads an asynchronous source no further', async () => {
      const { opened, database } = await created();
      try {
        const { databases } = opened;
        const upsertAll = (source: Iterable<object> | AsyncIterable<object>) =>
          databases.writer.runUpsert(source, async (records, upsertBatch) => {
            for await (const record of records) {
              await upsertBatch('db', Buffer.from(JSON.stringify({ records: [record] })));
            }
          });
        let reached!: () => void;
        const reading = new Promise<void>((resolve) => {
          reached = resolve;
        });
        async function* endless() {
          yield { id: 100, data: {}, vector: [1, 0] };
          reached();
          await new Promise(() => undefined);
        }
        const refused = expect(upsertAll(endless())).rejects.toMatchObject({ code: 'not_ready' });
        await reading;
        const finished = upsertAll(records(8));
        await databases.close();
        await finished;
        await refused;
        await opened.reopen();
        expect(await database.count()).toBe(9);
      } finally {
        await opened.close();
      }
    });

    test('commits the lines that were read, and ends their stream', async () => {
      const { opened, database } = await created();
      try {
        async function* endless() {
          yield Buffer.from(
            `${records(20)
              .map((record) => JSON.stringify(record))
              .join('\n')}\n`,
          );
          await new Promise(() => undefined);
        }
        const events = opened.databases.writer.upsertLines('db', endless())[Symbol.asyncIterator]();
        expect((await events.next()).value).toMatchObject({ type: 'progress', committed: 20 });
        const rest = events.next();
        const refused = expect(rest).rejects.toMatchObject({ code: 'not_ready' });
        await opened.databases.close();
        await refused;
        await opened.reopen();
        expect(await database.count()).toBe(20);
      } finally {
        await opened.close();
      }
    });
  });

  describe('an aborted signal', () => {
    const shared = SharedDatabases.use(open);
    const reason = new Error('the caller is gone');
    const aborted = () => AbortSignal.abort(reason);

    test('ends reads with its reason', async () => {
      const database = await shared.create();
      await database.upsert(records(10));
      const signal = aborted();
      await expect(database.search(search, { signal })).rejects.toBe(reason);
      await expect(database.query({}, { signal })).rejects.toBe(reason);
      // A signal that is aborted meanwhile ends the call, or comes too late for it.
      const stop = new AbortController();
      const outcome = database.search(search, { signal: stop.signal }).then(
        ({ results }) => results.length,
        (error) => error,
      );
      stop.abort(reason);
      expect([10, reason]).toContain(await outcome);
      expect((await database.search(search)).results).toHaveLength(10);
    });

    test('stops a write before its commit, and leaves nothing of it', async () => {
      const database = await shared.create();
      await database.upsert(records(3));
      const signal = aborted();
      await expect(database.upsert([{ id: 9, data: {}, vector: [1, 0] }], { signal })).rejects.toBe(reason);
      await expect(database.delete({ ids: [1] }, { signal })).rejects.toBe(reason);
      const all = { filter: { rules: [{ column: 'n', operator: 'is_not_empty' }] } };
      await expect(database.delete(all, { signal })).rejects.toBe(reason);
      await expect(
        database.upsertLines(chunksOf(['{"id":9,"data":{},"vector":[1,0]}']), { signal }),
      ).rejects.toBe(reason);
      expect(await database.ids('search', search)).toEqual([1, 2, 3]);
      expect(await database.history()).toEqual(['created 1', 'created 2', 'created 3']);
    });

    test('what `check` throws ends a page', async () => {
      const database = await shared.create();
      const refusal = new Error('no room');
      const check = () => {
        throw refusal;
      };
      await expect(database.search(search, { check })).rejects.toBe(refusal);
      await expect(database.query({}, { check })).rejects.toBe(refusal);
    });
  });
}
