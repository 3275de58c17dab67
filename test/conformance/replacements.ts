import { setImmediate as otherWork } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { OpenDatabases } from './open-databases.js';
import type { TestDatabase } from './test-database.js';
import { withTwoModels } from './two-models.js';

const line = (id: number, more: object = {}) => ({ id, data: { n: id }, vector: [1, id], ...more });
const textOf = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
const range = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => line(first + at));

/** Yields `first`, runs `between`, and yields `rest`. */
async function* withPause(first: string, between: () => Promise<unknown>, rest = '') {
  yield Buffer.from(first);
  await between();
  yield Buffer.from(rest);
}

/** Replacements of all records by the lines of a source. */
export function describeReplacements(open: OpenDatabases): void {
  describe('a replacement of all records', () => {
    const shared = withTwoModels(open);
    const ids = async (database: TestDatabase) =>
      (await database.ids('query', { sort: { column: 'none' } })).map(Number);

    test('writes what the source has and deletes what it lacks', async () => {
      const database = await shared.create();
      await database.upsert(range(1, 8));
      const { position } = await database.changes();
      const source = [...range(1, 5), line(6, { data: { n: 'changed' } }), line(20)];
      const events = await database.replaceLines(textOf(source));
      expect(events.at(-1)).toEqual({
        type: 'summary',
        lines: 7,
        created: 1,
        changed: 1,
        unchanged: 5,
        failed: 0,
        deleted: 2,
        started_at: expect.any(String),
      });
      expect(await ids(database)).toEqual([1, 2, 3, 4, 5, 6, 20]);
      expect(await database.history(position)).toEqual(['changed 6', 'created 20', 'deleted 7', 'deleted 8']);
      expect((await database.replaceLines(textOf(source))).at(-1)).toMatchObject({
        unchanged: 7,
        deleted: 0,
      });
      await shared.opened.reopen();
      expect((await database.replaceLines(textOf(range(1, 5)))).at(-1)).toMatchObject({ deleted: 2 });
      expect(await database.count()).toBe(5);
    });

    test('asks no clock: records keep the times that they come with', async () => {
      const database = await shared.create();
      const at = (synced_at: string) => ({ timestamps: { synced_at } });
      const [past, future] = [at('1999-01-01T00:00:00Z'), at('2999-01-01T00:00:00Z')];
      const records = [
        line(1, past),
        line(2, future),
        line(3),
        line(4, past),
        line(5, future),
        line(6, past),
        line(7, future),
      ];
      await database.upsert(records);
      // The first three come with other times, and the next two with those that they have.
      const source = [line(1, future), line(2, past), line(3, past), line(4, past), line(5, future)];
      const events = await database.replaceLines(textOf(source));
      expect(events.at(-1)).toMatchObject({ unchanged: 5, deleted: 2 });
      expect(await ids(database)).toEqual([1, 2, 3, 4, 5]);
    });

    test('deletes nothing after a line with a problem, and stores the others', async () => {
      const database = await shared.create();
      await database.upsert(range(1, 5));
      const refused = { code: 'deletion_refused', status: 409, fields: { missing: 3 } };
      const bad = [line(1), { id: 2, data: { n: {} }, vector: [1, 2] }, line(9), line(10, { vector: [1] })];
      await expect(database.replaceLines(textOf(bad), { maxDeletes: 100 })).rejects.toMatchObject({
        ...refused,
        detail: 'nothing was deleted: 2 of 4 lines have problems; the others lack 4 of 5 records',
        fields: { missing: 4 },
      });
      expect(await ids(database)).toEqual([1, 2, 3, 4, 5, 9]);
      await expect(database.replaceLines(`${textOf([...range(1, 3)])}{"id":`)).rejects.toMatchObject(refused);
      // Also if nothing is missing.
      await expect(database.replaceLines(`null\n${textOf([...range(1, 5), line(9)])}`)).rejects.toMatchObject(
        { code: 'deletion_refused', fields: { missing: 0 } },
      );
      expect(await ids(database)).toEqual([1, 2, 3, 4, 5, 9]);
    });

    test('deletes nothing when the source ends early', async () => {
      const database = await shared.create();
      await database.upsert(range(1, 5));
      const failure = new Error('the source failed');
      const fails = withPause(textOf([line(1)]), () => Promise.reject(failure));
      await expect(database.replaceLines(fails)).rejects.toBe(failure);
      const caller = new AbortController();
      const left = withPause(textOf([line(1)]), async () => caller.abort(failure));
      await expect(database.replaceLines(left, { signal: caller.signal })).rejects.toBe(failure);
      let checks = 0;
      const check = () => {
        checks += 1;
        // Before the batch is embedded, before its commit, and before the deletion.
        if (checks === 3) throw failure;
      };
      await expect(database.replaceLines(textOf([line(1)]), { check })).rejects.toBe(failure);
      expect(await ids(database)).toEqual([1, 2, 3, 4, 5]);
    });

    test('deletes no more than a tenth or ten records, unless more are allowed', async () => {
      const database = await shared.create();
      await database.upsert(range(1, 119));
      await expect(database.replaceLines(textOf(range(1, 107)))).rejects.toMatchObject({
        code: 'deletion_refused',
        detail:
          'nothing was deleted: the source lacks 12 of 119 records, and at most 11 may be deleted; ' +
          'max_deletes 12 allows it',
        fields: { missing: 12, max: 11 },
      });
      expect(await database.count()).toBe(119);
      expect((await database.replaceLines(textOf(range(1, 108)))).at(-1)).toMatchObject({ deleted: 11 });
      expect((await database.replaceLines(textOf(range(1, 98)))).at(-1)).toMatchObject({ deleted: 10 });
      await expect(database.replaceLines(textOf(range(1, 97)), { maxDeletes: 0 })).rejects.toMatchObject({
        fields: { missing: 1, max: 0 },
      });
      // New records raise no limit.
      await expect(database.replaceLines(textOf(range(100, 300)))).rejects.toMatchObject({
        fields: { missing: 98, max: 10 },
      });
      expect((await database.replaceLines(textOf(range(1, 5)), { maxDeletes: 294 })).at(-1)).toMatchObject({
        deleted: 294,
      });
      await expect(database.replaceLines('')).rejects.toMatchObject({ fields: { missing: 5, max: 0 } });
      expect((await database.replaceLines('', { maxDeletes: 5 })).at(-1)).toMatchObject({ deleted: 5 });
      expect((await database.replaceLines('')).at(-1)).toMatchObject({ deleted: 0 });
    });

    test('leaves what others write while it runs', async () => {
      const database = await shared.create();
      const old = { timestamps: { synced_at: '1999-01-01T00:00:00Z' } };
      await database.upsert([...range(1, 6), line(7, old), line(8), line(9, old)]);
      const others = async () => {
        await database.upsert([line(3, { data: { n: 'changed' } })]);
        await database.upsert([line(4), line(7, old)]);
        await database.patch(5, { n: 'patched' });
        await database.upsert([line(50)]);
        await database.delete({ ids: [6] });
        await database.put(line(6));
      };
      const events = await database.replaceLines(withPause(textOf([line(1)]), others, textOf([line(2)])));
      expect(events.at(-1)).toMatchObject({ deleted: 2 });
      expect(await ids(database)).toEqual([1, 2, 3, 4, 5, 6, 7, 50]);
    });

    test('two at a time delete nothing that either of them has', async () => {
      const database = await shared.create();
      await database.upsert(range(1, 6));
      const second = () => database.replaceLines(textOf(range(2, 4)));
      await database.replaceLines(withPause(textOf([line(1)]), second, textOf([line(2)])));
      expect(await ids(database)).toEqual([1, 2, 3, 4]);
    });

    test('deletes nothing of a database that was created again meanwhile', async () => {
      const database = await shared.create();
      await database.upsert(range(1, 3));
      const again = async () => {
        const { catalog } = database.databases;
        await catalog.drop(database.id);
        await catalog.create(database.id, { dimensions: 2 });
        await database.upsert(range(1, 2));
      };
      const gone = { code: 'database_not_found' };
      await expect(database.replaceLines(withPause('', again))).rejects.toMatchObject(gone);
      const afterFirst = async () => {
        while ((await database.count()) < 3) await otherWork();
        await again();
      };
      const source = withPause(textOf([line(9)]), afterFirst, textOf([line(1)]));
      await expect(database.replaceLines(source)).rejects.toMatchObject(gone);
      expect(await ids(database)).toEqual([1, 2]);
    });

    test('goes on while the database is embedded with another model', async () => {
      const database = await shared.create({});
      const text = (id: number) => ({ id, data: { text: `record ${id}` } });
      await database.upsert([1, 2, 3, 4, 5, 6].map(text));
      const { databases, id } = database;
      const reembed = async () => {
        await databases.reembeddings.start(id, 'other');
        // Unchanged records are written while others get their vectors.
        await database.put(text(3));
        await expect.poll(async () => (await databases.reembeddings.find(id)).state).toBe('done');
      };
      const source = withPause(textOf([text(1)]), reembed, textOf([text(2)]));
      expect((await database.replaceLines(source)).at(-1)).toMatchObject({ unchanged: 2, deleted: 3 });
      expect(await ids(database)).toEqual([1, 2, 3]);
      expect(await database.describe()).toMatchObject({ model: 'other', records: 3 });
    });
  });
}
