import { describe, expect, test } from 'vitest';
import {
  describeSync,
  type IterableSource,
  Sync,
  type SyncSettings,
  type SyncStatus,
} from '../../src/sync/index.js';
import { storedStatus } from '../../src/sync/sync.js';
import { RowSource } from '../helpers/row-source.js';
import type { OpenDatabases } from './open-databases.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';
import { withTwoModels } from './two-models.js';

/** The records of a database, each as its key and its data. */
async function contentOf(database: TestDatabase): Promise<Record<string, unknown>> {
  const lines = (await database.export()).map((line) => JSON.parse(line));
  return Object.fromEntries(lines.map(({ key, id, data }) => [key ?? id, data]));
}

const row = (key: string, text = `the text of ${key}`) => ({ key, data: { text } });

/** Syncs of a database with a source. */
export function describeSyncs(open: OpenDatabases): void {
  describe('a sync', () => {
    const shared = withTwoModels(open);
    const openSync = (database: TestDatabase, source: RowSource | IterableSource, settings?: SyncSettings) =>
      new Sync(source, database.databases.writer.openSync(database.id, 'shop'), {
        name: 'shop',
        ...settings,
      });

    test('writes what is new or changed, deletes what is gone, and touches no other record', async () => {
      const database = await shared.create({});
      await database.upsert([
        { id: 900, data: { text: 'of others' } },
        { key: 'shop', data: { text: 'a key that begins alike' } },
        { key: 'shop-2/a', data: { text: 'another source' } },
      ]);
      const source = new RowSource([row('a'), row('b'), row('c')]);
      const sync = openSync(database, source);
      expect(await sync.once()).toEqual({
        read: 3,
        written: 3,
        unchanged: 0,
        deleted: 0,
        refused: 0,
        withheld: 0,
      });
      source.rows = [row('a'), row('b', 'another text'), row('d')];
      expect(await sync.once()).toMatchObject({ written: 2, unchanged: 1, deleted: 1 });
      const others = {
        900: { text: 'of others' },
        shop: { text: 'a key that begins alike' },
        'shop-2/a': { text: 'another source' },
      };
      const content = {
        ...others,
        'shop/a': row('a').data,
        'shop/b': { text: 'another text' },
        'shop/d': row('d').data,
      };
      expect(await contentOf(database)).toEqual(content);
      expect(await sync.status()).toMatchObject({ state: 'in_step', records: 3, refused: 0, withheld: 0 });
      await sync.close();
    });

    test('continues at the bookmark that was stored with the records, after the database is opened again', async () => {
      const database = await shared.create({});
      const source = new RowSource([row('a'), row('b')], 'changes');
      let sync = openSync(database, source);
      await sync.once();
      await sync.close();
      await shared.opened.reopen();
      sync = openSync(database, source);
      expect(await sync.status()).toMatchObject({ state: 'in_step', records: 2 });
      source.rows = [row('a', 'changed'), row('c')];
      expect(await sync.once()).toMatchObject({ read: 2, written: 2, deleted: 1 });
      expect(source.asked).toEqual(['complete', 'changes']);
      expect(await sync.once()).toMatchObject({ read: 0, written: 0, deleted: 0 });
      expect(await contentOf(database)).toEqual({ 'shop/a': { text: 'changed' }, 'shop/c': row('c').data });
      await sync.close();
    });

    test('tells how far a pass is', async () => {
      const database = await shared.create({});
      const statuses: Promise<SyncStatus>[] = [];
      const sync = openSync(database, new RowSource([row('a'), row('b')]), {
        name: 'shop',
        onProgress: () => void statuses.push(sync.status()),
      });
      await sync.once();
      const [during] = await Promise.all(statuses);
      expect(during).toMatchObject({ state: 'reading', progress: { rows: 2, total: 2 } });
      expect(describeSync('shop', database.id, during as SyncStatus).progress).toEqual({
        rows: 2,
        total: 2,
        rows_per_second: during?.progress?.rowsPerSecond,
        seconds_left: 0,
      });
      expect(during?.progress?.rowsPerSecond).toBeGreaterThan(0);
      expect((await sync.status()).progress).toBe(undefined);
      await sync.close();
    });

    test('shows no moment from the first record of a pass until it is complete', async () => {
      const database = await shared.create({});
      const target = database.databases.writer.openSync(database.id, 'shop');
      const source = new RowSource([row('a')], 'changes');
      const sync = new Sync(source, target, { name: 'shop' });
      await sync.once();
      const { inStepAsOf } = await sync.status();
      source.rows = [row('a'), row('b')];
      source.afterRows = async () => {
        for (const { state, inStepAsOf } of [await sync.status(), storedStatus(await target.state())])
          expect([state, inStepAsOf]).toEqual(['reading', undefined]);
        throw new Error('interrupted');
      };
      await expect(sync.once()).rejects.toThrow('interrupted');
      const failed = await sync.status();
      expect([failed.state, failed.inStepAsOf]).toEqual(['failed', undefined]);
      source.afterRows = undefined;
      await sync.once();
      const status = await sync.status();
      expect(status.state).toBe('in_step');
      expect(status.inStepAsOf?.getTime()).toBeGreaterThanOrEqual(inStepAsOf?.getTime() as number);
      await sync.close();
    });

    test('finds what is gone in the keys of all rows, and asks for all rows when one has no record', async () => {
      const database = await shared.create({});
      // In the order of UTF-16, the last two are the other way round.
      const keys = ['A', 'a', 'ab', 'b/1', 'é', '\uffee', '😀'];
      const source = new RowSource(
        keys.map((key) => row(key)),
        'keys',
      );
      const sync = openSync(database, source);
      await sync.once();
      source.rows = source.rows.filter(({ key }) => key !== 'ab' && key !== '\uffee');
      expect(await sync.once()).toMatchObject({ read: 0, deleted: 2 });
      expect(Object.keys(await contentOf(database)).sort()).toEqual(
        source.rows.map(({ key }) => `shop/${key}`).sort(),
      );
      // As a method that misses a change does.
      source.rows.push(row('z'));
      source.forgetChanges();
      expect(await sync.once()).toMatchObject({ written: 1, unchanged: 5 });
      expect(source.asked).toEqual(['complete', 'keys', 'keys', 'complete']);
      await sync.close();
    });

    test.each(timesOn(open, ['changes', 'keys'], ['changes']))(
      'mends records that others have deleted or added, also those of the time in which it was closed: %s',
      async (kind) => {
        const database = await shared.create({});
        const source = new RowSource([row('a'), row('b'), row('c')], kind);
        const content = { 'shop/a': row('a').data, 'shop/b': row('b').data, 'shop/c': row('c').data };
        const pass = async () => {
          const sync = openSync(database, source);
          const counts = await sync.once();
          await sync.close();
          return counts;
        };
        await pass();
        await database.databases.writer.deleteRecords(database.id, { ids: ['key:shop/b'] });
        expect(await pass()).toMatchObject({ written: 1 });
        expect(await contentOf(database)).toEqual(content);
        await database.upsert([{ key: 'shop/of-others', data: { text: 'x' } }]);
        expect(await pass()).toMatchObject({ written: 0, deleted: 1 });
        expect(await contentOf(database)).toEqual(content);
        // While rows are read, so that the first attempt cannot be complete.
        source.rows = [row('a', 'new'), row('b'), row('c')];
        source.duringRound = async () => {
          source.duringRound = undefined;
          await database.databases.writer.deleteRecords(database.id, { ids: ['key:shop/c'] });
        };
        await pass();
        expect(await contentOf(database)).toEqual({ ...content, 'shop/a': { text: 'new' } });
        // Nothing is read without a reason.
        const before = source.asked.length;
        await pass();
        expect(source.asked.length).toBe(before);
      },
    );

    test.each(timesOn(open, ['complete', 'changes', 'keys'], ['changes']))(
      'counts more refused rows than it lists: %s',
      async (kind) => {
        const database = await shared.create({});
        const source = new RowSource([row('a')], kind);
        source.refused = Array.from({ length: 1_500 }, (_, at) => ({ key: `r${at}`, reason: 'first' }));
        const sync = openSync(database, source);
        expect(await sync.once()).toMatchObject({ refused: 1_500 });
        source.refused = source.refused.filter(({ key }) => key !== 'r1400');
        source.rows.push(row('r1400'));
        expect(await sync.once()).toMatchObject({ written: 1, refused: 1_499 });
        source.refused = source.refused.map((refused) =>
          refused.key === 'r1401' ? { ...refused, reason: 'second' } : refused,
        );
        expect(await sync.once()).toMatchObject({ refused: 1_499 });
        source.refused = source.refused.slice(0, 300);
        expect(await sync.once()).toMatchObject({ refused: 300 });
        await sync.close();
      },
    );

    test.each(timesOn(open, ['complete', 'changes', 'keys'], ['changes']))(
      'deletes the record of a row that is refused now, and lists the row: %s',
      async (kind) => {
        const database = await shared.create({});
        const source = new RowSource([row('a'), row('b'), row('c'), row('d')], kind);
        const sync = openSync(database, source);
        await sync.once();
        source.rows = [
          { key: 'a', data: { text: { nested: true } as never } },
          row('b'),
          row('c'),
          row('x'.repeat(600)),
        ];
        source.refused = [{ key: 'd', reason: 'a number that is not exact' }];
        expect(await sync.once()).toMatchObject({ refused: 3, deleted: 2 });
        expect(Object.keys(await contentOf(database)).sort()).toEqual(['shop/b', 'shop/c']);
        const { refused, refusedRows } = await sync.status();
        expect(refused).toBe(3);
        const reasons = Object.fromEntries(refusedRows.map(({ key, reason }) => [key, reason]));
        expect(reasons).toEqual({
          a: expect.stringContaining('/data/text'),
          d: 'a number that is not exact',
          ['x'.repeat(600)]: expect.stringContaining('/key'),
        });
        source.rows = [row('a'), row('b'), row('c'), row('d')];
        source.refused = [];
        expect(await sync.once()).toMatchObject({ written: 2, refused: 0 });
        expect((await sync.status()).refusedRows).toEqual([]);
        await sync.close();
      },
    );

    test.each(timesOn(open, ['complete', 'changes', 'keys'], ['changes']))(
      'withholds deletions of more than a tenth, of more than ten, and of all: %s',
      async (kind) => {
        // Nothing is embedded.
        const database = await shared.create({ embed: { columns: ['text'] } });
        const rows = Array.from({ length: 200 }, (_, at) => ({ key: `${at}`, data: { n: at } }));
        const source = new RowSource(rows, kind);
        const sync = openSync(database, source);
        await sync.once();
        source.rows = [...rows.slice(21), { key: 'new', data: { n: -1 } }];
        expect(await sync.once()).toMatchObject({ deleted: 0, written: 1, withheld: 21 });
        expect(await sync.status()).toMatchObject({ state: 'withheld', withheld: 21, records: 201 });
        // The next pass looks at all rows again, and more are gone than were shown.
        source.rows.shift();
        expect(await sync.confirm()).toMatchObject({ deleted: 0, withheld: 22 });
        expect(await sync.confirm()).toMatchObject({ deleted: 22, withheld: 0 });
        expect(await sync.status()).toMatchObject({ state: 'in_step', records: 179 });
        source.rows = source.rows.slice(17);
        expect(await sync.once()).toMatchObject({ deleted: 17, withheld: 0 });
        source.rows = [];
        expect(await sync.once()).toMatchObject({ deleted: 0, withheld: 162 });
        source.rows = rows.slice(40, 198);
        expect(await sync.once()).toMatchObject({ withheld: 0 });
        // Nothing is withheld yet when it is confirmed.
        source.rows = rows.slice(40, 100);
        let confirmed: Promise<unknown> | undefined;
        source.duringRound = async () => {
          source.duringRound = undefined;
          confirmed = sync.confirm();
          await sync.status();
        };
        const { withheld } = await sync.once();
        expect(withheld).toBeGreaterThan(0);
        expect(await confirmed).toMatchObject({ deleted: 0, withheld });
        expect(await sync.status()).not.toHaveProperty('inStepAsOf');
        await sync.close();
      },
    );

    test('the time of last sync is when the source was read, and never goes back', async () => {
      const database = await shared.create({});
      const source = new RowSource([row('a'), row('b')]);
      const sync = openSync(database, source);
      const synced = async () => {
        const lines = (await database.export()).map((line) => JSON.parse(line));
        return lines.map(({ timestamps }) => timestamps.synced_at);
      };
      const times = ['2031-05-01T00:00:00.000Z', '2031-05-02T00:00:00.000Z'] as const;
      source.clock = new Date(times[1]);
      await sync.once();
      source.clock = new Date(times[0]);
      source.rows = [row('a'), row('b', 'changed')];
      await sync.once();
      expect(await synced()).toEqual([times[1], times[1]]);
      source.clock = new Date('2031-05-03T00:00:00.000Z');
      await sync.once();
      expect(await synced()).toEqual(['2031-05-03T00:00:00.000Z', '2031-05-03T00:00:00.000Z']);
      await sync.close();
    });

    describe('of rows with times', () => {
      const texts: string[] = [];
      const counting = {
        dimensions: 2,
        fingerprint: 'counting',
        embed: (given: readonly string[]) => {
          texts.push(...given);
          return given.map(() => [0.6, 0.8]);
        },
      };
      const counted = SharedDatabases.use(open, { models: { counting } });
      const timed = (key: string, created: string, changed?: string) => ({ ...row(key), created, changed });
      const exported = async (database: TestDatabase) => {
        const lines = (await database.export({ vectors: true })).map((line) => JSON.parse(line));
        return Object.fromEntries(lines.map(({ key, ...record }) => [key, record]));
      };

      test.each(timesOn(open, ['complete', 'changes', 'keys'], ['changes']))(
        'a record gets the times of its row, also when they are all that changed, and nothing is embedded: %s',
        async (kind) => {
          const database = await counted.create({ model: 'counting' });
          const at = (year: number) => `${year}-02-03T04:05:06.789Z`;
          const source = new RowSource(
            [timed('a', at(2020), at(2021)), timed('b', at(2020)), row('c')],
            kind,
          );
          const sync = openSync(database, source);
          await sync.once();
          const before = await exported(database);
          const { position } = await database.changes();
          source.rows = [timed('a', at(2020), at(2022)), timed('b', at(2019)), row('c')];
          texts.length = 0;
          expect(await sync.once()).toMatchObject({ written: 2, deleted: 0 });
          expect(await database.history(position)).toEqual(['changed 1', 'changed 2']);
          expect(await sync.reconcile()).toMatchObject({ written: 0, unchanged: 3 });
          expect(texts).toEqual([]);
          const after = await exported(database);
          for (const key of ['shop/a', 'shop/b', 'shop/c']) {
            const { synced_at: _, ...times } = after[key].timestamps;
            const expected = { ...before[key].timestamps };
            if (key === 'shop/a') expected.changed_at = at(2022);
            if (key === 'shop/b') expected.created_at = at(2019);
            expect({ ...expected, ...times }).toEqual(expected);
            expect({ ...after[key], timestamps: 0 }).toEqual({ ...before[key], timestamps: 0 });
          }
          await sync.close();
        },
      );

      test('a long record keeps its data and the vectors of its passages', async () => {
        const database = await shared.create({ embed: { columns: ['text'] } });
        const data = { text: 'some words '.repeat(400), other: 'x'.repeat(20_000) };
        const source = new RowSource([{ ...timed('a', '2020-01-01T00:00:00.000Z'), data }]);
        const sync = openSync(database, source);
        await sync.once();
        const before = await exported(database);
        expect(before['shop/a'].passages.length).toBeGreaterThan(1);
        source.rows = [{ ...source.rows[0]!, created: '2019-01-01T00:00:00.000Z' }];
        expect(await sync.once()).toMatchObject({ written: 1 });
        const after = await exported(database);
        expect(after['shop/a'].timestamps.created_at).toBe('2019-01-01T00:00:00.000Z');
        expect({ ...after['shop/a'], timestamps: 0 }).toEqual({ ...before['shop/a'], timestamps: 0 });
        await sync.close();
      });
    });

    test('a switch to another model keeps the bookmark', async () => {
      const database = await shared.create({});
      const source = new RowSource([row('a'), row('b')], 'changes');
      const sync = openSync(database, source);
      await sync.once();
      const { reembeddings } = database.databases;
      await reembeddings.start(database.id, 'other');
      await expect.poll(async () => (await reembeddings.find(database.id)).state).toBe('done');
      source.rows = [row('a'), row('b', 'changed')];
      expect(await sync.once()).toMatchObject({ read: 1, written: 1 });
      expect(source.asked).toEqual(['complete', 'changes']);
      await sync.close();
    });

    test('begins anew in a database that was dropped and created again', async () => {
      const database = await shared.create({});
      const source = new RowSource([row('a')], 'changes');
      const sync = openSync(database, source);
      await sync.once();
      const again = async () => {
        await database.databases.catalog.drop(database.id);
        await database.databases.catalog.create(database.id, {});
      };
      await again();
      expect(await sync.once()).toMatchObject({ read: 1, written: 1 });
      // Neither records nor a bookmark of a round that began before.
      source.rows = [row('b')];
      source.duringRound = again;
      await expect(sync.once()).rejects.toMatchObject({ code: 'database_not_found' });
      source.duringRound = undefined;
      expect(await contentOf(database)).toEqual({});
      source.rows = [row('c')];
      expect(await sync.once()).toMatchObject({ written: 1, deleted: 0 });
      expect(source.asked).toEqual(['complete', 'complete', 'changes', 'complete']);
      expect(await contentOf(database)).toEqual({ 'shop/c': row('c').data });
      await sync.close();
    });

    test('one sync of a name is open in a database at a time', async () => {
      const database = await shared.create({});
      const sync = openSync(database, new RowSource([]));
      expect(() => openSync(database, new RowSource([]))).toThrow(expect.objectContaining({ code: 'busy' }));
      await sync.close();
      await openSync(database, new RowSource([])).close();
    });
  });
}
