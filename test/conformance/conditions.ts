import { describe, expect, test } from 'vitest';
import { isCode } from '../../src/errors.js';
import type { OpenDatabases } from './open-databases.js';
import { uuidOf } from './random-records.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const LONG_AGO = '2001-01-01T00:00:00.000Z';

/** The rejection by the conditions at these pointers, with the times of the stored records; undefined: there is no record. */
const violated = (...problems: [pointer: string, changedAt: string | undefined][]) => ({
  code: 'precondition_failed',
  status: 412,
  problems: problems.map(([pointer, changed_at]) => ({
    pointer,
    code: 'precondition_failed',
    detail: expect.any(String),
    ...(changed_at && { changed_at }),
  })),
});

const recordOf = (id: number, n: number, more: object = {}) => ({ id, data: { n }, vector: [1, 0], ...more });

/** When the content of a record last changed. */
async function changedAt(database: TestDatabase, id: number | string): Promise<string> {
  return (await database.record(id, 'both')).timestamps.changed_at as string;
}

/** Writes that take place only if the stored record was last changed at a time, or if there is none. */
export function describeConditions(open: OpenDatabases): void {
  describe('writes with a condition', () => {
    const shared = SharedDatabases.use(open);

    test('replace the record that was read, and none that was changed since', async () => {
      const database = await shared.create();
      await database.upsert([recordOf(1, 1, { key: 'a' })]);
      const read = await changedAt(database, 1);
      const condition = { if_changed_at: read };
      // Neither the time of the last sync nor other records matter.
      await database.upsert([recordOf(1, 1), recordOf(2, 1)]);
      expect(await database.put({ ...recordOf(1, 2, condition), id: undefined, key: 'a' })).toBe('changed');
      const now = await changedAt(database, 1);
      expect(now > read).toBe(true);
      await expect(database.put(recordOf(1, 3, condition))).rejects.toMatchObject({
        ...violated(['/records/0/if_changed_at', now]),
        detail: `/records/0/if_changed_at: record 1 was changed at ${now}`,
      });
      // The same time in another form.
      const other = { if_changed_at: now.replace('Z', '+00:00') };
      expect(await database.put(recordOf(1, 2, other))).toBe('unchanged');
      await expect(database.put(recordOf(1, 2, condition))).rejects.toMatchObject(
        violated(['/records/0/if_changed_at', now]),
      );
      expect((await database.record(1)).data).toEqual({ n: 2 });
      expect(await database.history()).toEqual(['created 1', 'created 2', 'changed 1']);
      expect((await database.export()).join()).not.toContain('if_changed_at');
    });

    test('create a record only where there is none', async () => {
      const database = await shared.create();
      const absent = { if_changed_at: null };
      expect(await database.put(recordOf(1, 1, { ...absent, uuid: uuidOf(1) }))).toBe('created');
      expect(await database.put({ data: {}, vector: [1, 0], ...absent })).toBe('created');
      const time = await changedAt(database, 1);
      const refused = violated(['/records/0/if_changed_at', time]);
      await expect(database.put(recordOf(1, 1, absent))).rejects.toMatchObject(refused);
      const byUuid = { uuid: uuidOf(1), data: {}, vector: [1, 0], ...absent };
      await expect(database.put(byUuid)).rejects.toMatchObject({
        ...refused,
        detail: '/records/0/if_changed_at: record 1 exists',
      });
      await database.delete({ ids: [1] });
      await expect(database.put(recordOf(1, 1, { if_changed_at: time }))).rejects.toMatchObject({
        ...violated(['/records/0/if_changed_at', undefined]),
        detail: '/records/0/if_changed_at: there is no such record',
      });
      expect(await database.put(recordOf(1, 1, absent))).toBe('created');
    });

    test('in a batch: one that is violated stores none, and records with one identity apply in sequence', async () => {
      const database = await shared.create();
      await database.upsert([recordOf(1, 1), recordOf(2, 1)]);
      const [first, second] = [await changedAt(database, 1), await changedAt(database, 2)];
      const batch = [
        recordOf(1, 2, { if_changed_at: first }),
        recordOf(2, 2, { if_changed_at: LONG_AGO }),
        recordOf(3, 2),
        recordOf(4, 2, { if_changed_at: first }),
      ];
      await expect(database.upsert(batch)).rejects.toMatchObject(
        violated(['/records/1/if_changed_at', second], ['/records/3/if_changed_at', undefined]),
      );
      expect(await database.history()).toEqual(['created 1', 'created 2']);
      const twice = [recordOf(1, 2, { if_changed_at: first }), recordOf(1, 3, { if_changed_at: first })];
      await expect(database.upsert(twice)).rejects.toMatchObject({ code: 'precondition_failed' });
      const { changed, created } = await database.upsert([twice[0] as object, recordOf(3, 2)]);
      expect({ changed, created }).toEqual({ changed: 1, created: 1 });
    });

    test('in a stream are problems of their lines', async () => {
      const database = await shared.create();
      await database.upsert([recordOf(1, 1), recordOf(2, 1)]);
      const time = await changedAt(database, 1);
      const lines = [
        recordOf(1, 2, { if_changed_at: LONG_AGO }),
        recordOf(2, 2, { if_changed_at: await changedAt(database, 2) }),
        recordOf(3, 2, { if_changed_at: null }),
        recordOf(4, 2, { if_changed_at: LONG_AGO }),
        recordOf(3, 3, { if_changed_at: 'yesterday' }),
      ];
      const events = await database.upsertLines(lines.map((line) => JSON.stringify(line)).join('\n'));
      const failed = { type: 'problem', code: 'precondition_failed', pointer: '/if_changed_at' };
      const detail = expect.any(String);
      expect(events.filter(({ type }) => type === 'problem')).toEqual([
        { ...failed, line: 1, changed_at: time, detail: `record 1 was changed at ${time}` },
        { ...failed, line: 4, detail: 'there is no such record' },
        { ...failed, line: 5, code: 'invalid_time', detail },
      ]);
      expect(events.at(-1)).toMatchObject({ created: 1, changed: 1, failed: 3 });
      const query = { filter: { rules: [equals(2)] }, sort: { column: 'none' } };
      expect(await database.ids('query', query)).toEqual([2, 3]);
    });

    test('patch the record that was read', async () => {
      const database = await shared.create();
      await database.put(recordOf(1, 1));
      const read = await changedAt(database, 1);
      const patch = (n: number, if_changed_at: unknown) => JSON.stringify({ data: { n }, if_changed_at });
      await database.patch(1, { other: true });
      const now = await changedAt(database, 1);
      await expect(database.patch(1, patch(2, read))).rejects.toMatchObject(
        violated(['/if_changed_at', now]),
      );
      expect((await database.patch(1, patch(2, now))).data).toEqual({ n: 2, other: true });
      await expect(database.patch(9, patch(2, now))).rejects.toMatchObject({ code: 'record_not_found' });
      const wrong = { problems: [{ pointer: '/if_changed_at', code: 'wrong_type' }] };
      await expect(database.patch(1, patch(3, null))).rejects.toMatchObject(wrong);
      expect((await database.record(1)).data).toEqual({ n: 2, other: true });
    });

    test('delete the records that were read, or none', async () => {
      const database = await shared.create();
      await database.upsert([1, 2, 3, 4].map((id) => recordOf(id, id, { key: `k${id}` })));
      const read = await changedAt(database, 1);
      await database.put(recordOf(3, 30));
      const now = await changedAt(database, 3);
      const of = (id: number | string, if_changed_at = read) => ({ id, if_changed_at });
      await expect(database.delete({ ids: [4, of(1), of('key:k3'), of(3)] })).rejects.toMatchObject(
        violated(['/ids/2/if_changed_at', now], ['/ids/3/if_changed_at', now]),
      );
      expect(await database.count()).toBe(4);
      // What a key does not see is not there for it, and so is what was deleted.
      const forcedFilter = { rules: [equals(1)] };
      expect(await database.delete({ ids: [of(3), of(99)] }, { forcedFilter })).toBe(0);
      expect(await database.delete({ ids: [of(1), 2, of(99), of('key:k3', now)] })).toBe(3);
      await expect(database.delete({ ids: [of(4, 'x')] })).rejects.toMatchObject({ status: 400 });
      expect(await database.ids('query', {})).toEqual([4]);
    });

    test('of eight writers that count in one record lose no count', async () => {
      const database = await shared.create();
      await database.put(recordOf(1, 0));
      const count = async (write: (n: number, if_changed_at: string) => Promise<unknown>) => {
        for (let done = 0; done < 6; ) {
          const { data, timestamps } = await database.record(1, 'both');
          try {
            await write((data.n as number) + 1, timestamps.changed_at as string);
            done += 1;
          } catch (error) {
            if (!isCode(error, 'precondition_failed')) throw error;
          }
        }
      };
      const upsert = (n: number, if_changed_at: string) => database.put(recordOf(1, n, { if_changed_at }));
      const patch = (n: number, if_changed_at: string) =>
        database.patch(1, JSON.stringify({ data: { n }, if_changed_at }));
      await Promise.all([upsert, patch, upsert, patch, upsert, patch, upsert, patch].map(count));
      expect((await database.record(1)).data).toEqual({ n: 48 });
    });

    test('of records that are written back with the times they had lose no change', async () => {
      const database = await shared.create();
      await database.upsert([recordOf(1, 0)]);
      const counted = async (): Promise<void> => {
        const { timestamps, data } = await database.record(1, 'both');
        const n = (data as { n: number }).n + 1;
        const whole = { ...recordOf(1, n), timestamps, if_changed_at: timestamps.changed_at };
        return database.upsert([whole]).then(
          () => undefined,
          (error) => (isCode(error, 'precondition_failed') ? counted() : Promise.reject(error)),
        );
      };
      await Promise.all(Array.from({ length: 8 }, counted));
      expect((await database.record(1)).data).toEqual({ n: 8 });
    });

    test('of eight writers that create one record create it once', async () => {
      const database = await shared.create();
      const create = (n: number) =>
        database.put({ key: 'a', data: { n }, vector: [1, 0], if_changed_at: null });
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => create(n)));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await database.history()).toEqual(['created 1']);
    });

    test('tell apart the contents of writes that are committed together', async () => {
      const database = await shared.create();
      await database.put(recordOf(1, -1));
      const patched = await Promise.all(Array.from({ length: 30 }, (_, n) => database.patch(1, { n })));
      const times = new Set(patched.map(({ timestamps }) => timestamps.last_changed_time));
      expect(times.size).toBe(30);
    });
  });
}

const equals = (value: number) => ({ column: 'n', operator: 'equals' as const, value });
