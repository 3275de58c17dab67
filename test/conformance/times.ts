import { beforeAll, describe, expect, test } from 'vitest';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { iso } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { randomVector, START } from './random-records.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const MINUTE = 60_000;

const RECORD = { data: {}, vector: [1, 0] };

/** The three times of a record, and time ranges over the last of them. */
export function describeTimes(open: OpenDatabases): void {
  describe('times', () => {
    const shared = SharedDatabases.use(open);

    describe('a time range', () => {
      /** The time of the last sync of each record; the other times are far from it. */
      const SYNCED = [
        '0000-01-01T00:00:00.000Z',
        '1969-12-31T23:59:59.999Z',
        '2026-01-31T22:59:59.999Z',
        '2026-01-31T23:00:00.000Z',
        '2026-01-31T23:59:59.999Z',
        '2026-02-01T00:00:00.000Z',
        '2026-02-01T00:00:00.001Z',
        '9999-12-31T23:59:59.999Z',
      ];
      const FAR = '2010-01-01';
      let database: TestDatabase;
      beforeAll(async () => {
        database = await shared.create();
        const record = (synced_at: string, at: number) => ({
          id: at,
          data: {},
          timestamps: { created_at: FAR, changed_at: FAR, synced_at },
          vector: [1, 0],
        });
        await database.upsert(SYNCED.map((synced, at) => record(synced, at + 1)));
      });

      test.each([
        [{}, [1, 2, 3, 4, 5, 6, 7, 8]],
        [{ start_time: '2026-02-01' }, [6, 7, 8]],
        [{ start_time: '2026-02-01T00:00:00Z' }, [6, 7, 8]],
        [{ start_time: '2026-02-01T00:00:00.001Z' }, [7, 8]],
        [{ end_time: '2026-02-01' }, [1, 2, 3, 4, 5, 6]],
        [{ end_time: '2026-01-31T23:59:59.999Z' }, [1, 2, 3, 4, 5]],
        [{ start_time: '2026-02-01', end_time: '2026-02-01' }, [6]],
        [{ start_time: '2026-02-01T01:00:00+01:00', end_time: '2026-01-31T19:00:00.000-05:00' }, [6]],
        [{ start_time: '2026-02-01T00:00+01:00', end_time: '2026-02-01' }, [4, 5, 6]],
        // Digits below a millisecond count.
        [{ start_time: '2026-02-01T00:00:00.000000001Z' }, [7, 8]],
        [{ start_time: '2026-01-31T23:59:59.999Z', end_time: '2026-02-01T00:00:00.0009Z' }, [5, 6]],
        [{ start_time: '1969-12-31T23:59:59.9989Z', end_time: '1969-12-31T23:59:59.9991Z' }, [2]],
        [{ start_time: '2026-02-01T00:00:00.0011Z', end_time: '2026-02-01T00:00:00.001999999Z' }, []],
        [{ start_time: '9999-12-31T23:59:59.9991Z' }, []],
        [{ end_time: '1970-01-01' }, [1, 2]],
        [{ start_time: '2026-02-02' }, [8]],
        [{ start_time: '2012-01-01', end_time: '2013-01-01' }, []],
      ])('%j', async (time_range, expected) => {
        for (const form of RECORD_FORMS) {
          const uuids = new Map(
            await Promise.all(
              expected.map(async (id) => [id, (await database.record(id, 'uuid')).id] as const),
            ),
          );
          const ids = form === 'uuid' ? expected.map((id) => uuids.get(id)).sort() : expected;
          const search = { search: { vector: [1, 0] }, time_range, total: true };
          const searched = await database.search(search, { form });
          expect(searched.results.map(({ id }) => id)).toEqual(ids);
          expect(searched.total).toEqual({ value: expected.length });
          const queried = await database.query(
            { time_range, total: true, sort: { column: 'none' } },
            { form },
          );
          expect(queried.results.map(({ id }) => id)).toEqual(ids);
          expect(queried.total).toEqual({ value: expected.length });
        }
      });

      test('a deletion has the bounds of a search, and a range that ends before it starts is refused', async () => {
        const other = await shared.create();
        for (const [at, synced_at] of SYNCED.entries()) {
          await other.put({ id: at + 1, data: {}, timestamps: { synced_at }, vector: [1, 0] });
        }
        const [before, after] = ['2026-02-01T00:00:00.0001Z', '2026-02-01T00:00:00.0009Z'];
        expect(await other.delete({ time_range: { start_time: before, end_time: after } })).toBe(0);
        const reversed = { start_time: after, end_time: before };
        await expect(other.delete({ time_range: reversed })).rejects.toMatchObject({ code: 'invalid_time' });
        expect(await other.delete({ time_range: { start_time: before } })).toBe(2);
        expect(await other.delete({ time_range: { end_time: '1970-01-01' } })).toBe(2);
      });
    });

    test('random ranges find what the oracle finds (seed 21)', async () => {
      const random = new Random(21);
      const { database, oracle } = await randomDatabase(shared, random, 150);
      for (let round = 0; round < timesOn(open, 20, 6); round++) {
        const [first, second] = [random.below(62), random.below(62)].sort((a, b) => a - b) as [
          number,
          number,
        ];
        const time_range = {
          ...(random.chance(80) && { start_time: iso(START + first * 1_000) }),
          ...(random.chance(80) && { end_time: iso(START + second * 1_000) }),
        };
        const request = { time_range, search: { vector: randomVector(random), threshold: 0 } };
        expect(await database.drain('search', request)).toEqual(oracle.results(request, 'integer'));
        expect(await database.drain('query', { time_range })).toEqual(
          oracle.results({ time_range }, 'integer'),
        );
      }
    });

    test('a record without times gets the present one', async () => {
      const database = await shared.create();
      const before = Date.now() - MINUTE;
      await database.put({ id: 1, data: {}, vector: [1, 0] });
      const after = Date.now() + MINUTE;
      const { timestamps } = await database.record(1, 'uuid');
      const times = Object.values(timestamps).map((time) => Date.parse(time));
      expect(times).toHaveLength(3);
      expect(new Set(times).size).toBe(1);
      expect(times[0]).toBeGreaterThanOrEqual(before);
      expect(times[0]).toBeLessThanOrEqual(after);
    });

    test.each([
      [{ created_at: '2020-01-01' }, ['2020-01-01', '2020-01-01', undefined]],
      [
        { first_seen_time: '2020-01-01', last_seen_time: '2020-03-01' },
        ['2020-01-01', '2020-01-01', '2020-03-01'],
      ],
      [{ changed_at: '2020-02-01' }, [undefined, '2020-02-01', undefined]],
      [
        { created_at: '1900-01-01', changed_at: '1901-02-03T04:05:06.789Z', synced_at: '1902-01-01' },
        ['1900-01-01', '1901-02-03', '1902-01-01'],
      ],
      [{}, [undefined, undefined, undefined]],
    ])('a new record takes the times %j', async (timestamps, expected) => {
      const database = await shared.create();
      await database.put({ id: 1, data: {}, timestamps, vector: [1, 0] });
      const now = iso(Date.now()).slice(0, 4);
      const shown = Object.values((await database.record(1)).timestamps);
      for (const [at, time] of expected.entries()) {
        if (time === undefined) expect(shown[at]!.slice(0, 4)).toBe(now);
        else expect(shown[at]!.slice(0, 10)).toBe(time);
      }
    });

    test('an unchanged record takes the time of its sync only, a changed one all', async () => {
      const database = await shared.create();
      const put = async (n: number, year: number) => {
        const timestamps = {
          created_at: `${year}-01-01`,
          changed_at: `${year}-01-02`,
          synced_at: `${year}-01-03`,
        };
        const status = await database.put({ id: 1, data: { n }, timestamps, vector: [1, 0] });
        const { created_at, changed_at, synced_at } = (await database.record(1, 'uuid')).timestamps;
        return [status, created_at?.slice(0, 10), changed_at?.slice(0, 10), synced_at?.slice(0, 10)];
      };
      expect(await put(1, 2020)).toEqual(['created', '2020-01-01', '2020-01-02', '2020-01-03']);
      expect(await put(1, 2021)).toEqual(['unchanged', '2020-01-01', '2020-01-02', '2021-01-03']);
      // A time that is earlier counts all the same.
      expect(await put(1, 2019)).toEqual(['unchanged', '2020-01-01', '2020-01-02', '2019-01-03']);
      expect(await put(2, 2022)).toEqual(['changed', '2022-01-01', '2022-01-02', '2022-01-03']);
    });

    test('a changed record without times keeps when it was created', async () => {
      const database = await shared.create();
      const put = (record: object) => database.put({ id: 1, vector: [1, 0], ...record });
      await put({
        data: { n: 1 },
        timestamps: { created_at: '2020-01-01', changed_at: '2020-01-02', synced_at: '2020-01-03' },
      });
      const before = Date.now() - MINUTE;
      expect(await put({ data: { n: 1 } })).toBe('unchanged');
      const touched = (await database.record(1, 'uuid')).timestamps;
      expect(touched).toMatchObject({
        created_at: '2020-01-01T00:00:00.000Z',
        changed_at: '2020-01-02T00:00:00.000Z',
      });
      expect(Date.parse(touched.synced_at!)).toBeGreaterThan(before);
      expect(await put({ data: { n: 2 } })).toBe('changed');
      const changed = (await database.record(1, 'uuid')).timestamps;
      expect(changed.created_at).toBe('2020-01-01T00:00:00.000Z');
      expect(Date.parse(changed.changed_at!)).toBeGreaterThan(before);
      expect(Date.parse(changed.synced_at!)).toBeGreaterThan(before);
    });

    test('the beginning of an upsert is after all that was written before it', async () => {
      const database = await shared.create();
      const records = (count: number) =>
        Array.from({ length: count }, (_, at) => ({ id: at + 1, ...RECORD }));
      const linesOf = (count: number) =>
        records(count)
          .map((record) => JSON.stringify(record))
          .join('\n');
      const startOf = async (count: number) => {
        const summary = (await database.upsertLines(linesOf(count))).at(-1);
        return summary?.type === 'summary' ? summary.started_at : '';
      };
      const deleteBefore = (startedAt: string) =>
        database.delete({ time_range: { end_time: iso(Date.parse(startedAt) - 1) } });
      for (let round = 0; round < timesOn(open, 20, 5); round += 1) {
        await database.upsert(records(3));
        expect(await deleteBefore((await database.upsert(records(2))).started_at)).toBe(1);
        await database.upsert(records(3));
        expect(await deleteBefore(await startOf(2))).toBe(1);
      }
      // Records of several batches of a stream, which all belong to one call.
      await database.upsert(records(900));
      expect(await deleteBefore(await startOf(800))).toBe(100);
      expect(await deleteBefore(await startOf(0))).toBe(800);
      await database.upsert(records(1));
      expect(await deleteBefore((await database.upsert([])).started_at)).toBe(1);
    });

    test('the time of a sync that moves moves the record in time ranges and in the default order', async () => {
      const database = await shared.create();
      const put = (id: number, synced_at: string) =>
        database.put({ id, data: {}, timestamps: { synced_at }, vector: [1, 0] });
      for (const id of [1, 2, 3]) await put(id, `2026-01-0${id}`);
      expect(await database.ids('query', {})).toEqual([3, 2, 1]);
      expect(await put(1, '2026-01-09')).toBe('unchanged');
      expect(await database.ids('query', {})).toEqual([1, 3, 2]);
      const time_range = { end_time: '2026-01-02' };
      expect(await database.ids('query', { time_range })).toEqual([2]);
      expect(await database.ids('search', { search: { vector: [1, 0] }, time_range })).toEqual([2]);
    });
  });
}
