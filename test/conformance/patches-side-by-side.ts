import { describe, expect, test } from 'vitest';
import { isCode } from '../../src/errors.js';
import type { OpenDatabases } from './open-databases.js';
import { uuidOf } from './random-records.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';

/** Patches at the same time as patches, upserts and deletions of the same record. */
export function describePatchesSideBySide(open: OpenDatabases): void {
  describe('patches side by side', () => {
    const shared = SharedDatabases.use(open);

    test('of different columns all take effect, by either id', async () => {
      const database = await shared.create();
      await database.put({ id: 1, uuid: uuidOf(1), data: { kept: 'as it is' }, vector: [3, 4] });
      const patches = Array.from({ length: 20 }, (_, at) => ({ [`a${at}`]: at, [`b${at}`]: `text ${at}` }));
      const records = await Promise.all(
        patches.map((changes, at) => database.patch(at % 2 === 0 ? 1 : uuidOf(1), changes)),
      );
      expect((await database.record(1)).data).toEqual({ kept: 'as it is', ...Object.assign({}, ...patches) });
      for (const [at, changes] of patches.entries()) expect(records[at]!.data).toMatchObject(changes);
      const sizes = records.map(({ data }) => Object.keys(data).length).sort((a, b) => a - b);
      expect(sizes).toEqual(patches.map((_, at) => 2 * at + 3));
      expect(await database.history()).toEqual(['created 1', ...patches.map(() => 'changed 1')]);
      const { results } = await database.search({ search: { vector: [3, 4] }, total: true });
      expect(results).toMatchObject([{ id: 1, relevance_score: 1 }]);
    });

    test('of the same column leave the value of one of them', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { n: -1, m: -1 }, vector: [1, 0] });
      await Promise.all(Array.from({ length: 20 }, (_, n) => database.patch(1, { n, m: n })));
      const { n, m } = (await database.record(1)).data;
      expect(n).toBe(m);
      expect(n).toBeGreaterThanOrEqual(0);
    });

    test('at the same time as upserts: a column that the last upsert lacks is of a later patch', async () => {
      const database = await shared.create();
      for (let round = 0; round < timesOn(open, 15, 5); round++) {
        await database.put({ id: 1, data: { base: 'old', round }, vector: [1, 0] });
        await Promise.all([
          database.patch(1, { first: 1 }),
          database.put({ id: 1, data: { base: 'new' }, vector: [1, 0] }),
          database.patch(1, { second: 2 }),
        ]);
        const { base, first = 1, second = 2, ...others } = (await database.record(1)).data;
        expect({ base, first, second, others }).toEqual({ base: 'new', first: 1, second: 2, others: {} });
      }
    });

    test('at the same time as a deletion never bring the record back', async () => {
      for (let id = 1; id <= timesOn(open, 10, 3); id++) {
        const database = await shared.create();
        await database.put({ id, data: { n: 0 }, vector: [1, 0] });
        /** Patches until the record is gone; calls `begun` after each patch that succeeds. */
        const patchOn = async (begun: () => void) => {
          for (let n = 1; ; n++) {
            try {
              expect((await database.patch(id, { n })).data).toEqual({ n });
            } catch (error) {
              expect(isCode(error, 'record_not_found')).toBe(true);
              return;
            }
            begun();
          }
        };
        const patching: Promise<void>[] = [];
        await new Promise<void>((begun, fail) => {
          for (let at = 0; at < 4; at++) patching.push(patchOn(begun));
          for (const patches of patching) patches.catch(fail);
        });
        expect(await database.delete({ ids: [id] })).toBe(1);
        await Promise.all(patching);
        await expect(database.record(id)).rejects.toMatchObject({ code: 'record_not_found' });
        expect((await database.history()).at(-1)).toBe(`deleted ${id}`);
        expect(await database.count()).toBe(0);
      }
    });

    test('at the same time as deletions and upserts of the same id change the new record or none', async () => {
      const database = await shared.create();
      for (let round = 1; round <= timesOn(open, 20, 6); round++) {
        await database.put({ id: 1, data: { life: 'first', round }, vector: [1, 0] });
        await Promise.all([
          database.patch(1, { patched: round }).catch((error) => expect(error.code).toBe('record_not_found')),
          database
            .delete({ ids: [1] })
            .then(() => database.put({ id: 1, data: { life: 'second' }, vector: [0, 1] })),
        ]);
        const { data } = await database.record(1);
        expect([{ life: 'second' }, { life: 'second', patched: round }]).toContainEqual(data);
        const { results } = await database.search({ search: { vector: [0, 1] } });
        expect(results).toMatchObject([{ id: 1, relevance_score: 1 }]);
        await database.delete({ ids: [1] });
      }
    });
  });
}
