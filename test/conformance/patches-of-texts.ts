import { setImmediate as otherWork } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { OpenDatabases } from './open-databases.js';
import { timesOn } from './rounds.js';
import type { TestDatabase } from './test-database.js';
import { scores, withTwoModels } from './two-models.js';

/** When a patch embeds the text of its record, and with which model. */
export function describePatchesOfTexts(open: OpenDatabases): void {
  describe('patches of embedded texts', () => {
    const shared = withTwoModels(open);

    const inferences = async ({ databases }: TestDatabase) =>
      (await databases.monitor.stats()).embedder?.inferences ?? 0;

    /** Expects the scores of a new database with the same records. */
    const expectFreshVectors = async (database: TestDatabase) => {
      const { model, embed } = await database.describe();
      const fresh = await shared.create({ model: model!, ...(embed && { embed }) });
      for (const { id, data } of await database.drain('query', {})) await fresh.put({ id, data });
      expect(await scores(database)).toEqual(await scores(fresh));
    };

    test('embed the text only if they change it', async () => {
      const database = await shared.create({ embed: { columns: ['title', 'size'] } });
      await database.put({ id: 1, data: { title: 'A violin', size: 4, price: 10, note: 'old' } });
      const before = await scores(database);
      const made = await inferences(database);
      for (const changes of [{ price: 11 }, { note: null }, { title: 'A violin' }, { more: 'text' }, {}]) {
        await database.patch(1, changes);
        expect(await scores(database), JSON.stringify(changes)).toEqual(before);
      }
      expect(await inferences(database), 'no text was embedded').toBe(made);

      for (const changes of [
        { title: 'A glacier' },
        { size: 5 },
        { size: null },
        { title: true, size: 'big' },
      ]) {
        const old = await scores(database);
        await database.patch(1, changes);
        expect(await scores(database), JSON.stringify(changes)).not.toEqual(old);
        await expectFreshVectors(database);
      }
    });

    test('embed every string column by default', async () => {
      const database = await shared.create({});
      await database.put({ id: 1, data: { name: 'violin', price: 10, open: true } });
      const before = await scores(database);
      await database.patch(1, { price: 11, open: null });
      expect(await scores(database)).toEqual(before);
      await database.patch(1, { kind: 'an instrument of the Alps' });
      expect(await scores(database)).not.toEqual(before);
      await expectFreshVectors(database);
    });

    test('take a record without text out of all searches, and bring it back', async () => {
      const database = await shared.create({ embed: { columns: ['title'] } });
      await database.put({ id: 1, data: { title: 'A violin', n: 1 } });
      const before = await scores(database);
      expect((await database.patch(1, { title: null })).data).toEqual({ n: 1 });
      expect(await scores(database)).toEqual([]);
      await database.patch(1, { n: 2 });
      expect(await scores(database)).toEqual([]);
      expect(await database.ids('query', {})).toEqual([1]);
      await database.patch(1, { title: 'A violin' });
      expect(await scores(database)).toEqual(before);
    });

    test('of the same text side by side all take effect, and the vector is that of the last text', async () => {
      const columns = Array.from({ length: 20 }, (_, at) => `part${at}`);
      const database = await shared.create({});
      await database.put({ id: 1, data: { name: 'a song' } });
      const made = await inferences(database);
      const records = await Promise.all(
        columns.map((column, at) => database.patch(1, { [column]: `verse ${at} of the song` })),
      );
      const expected = Object.fromEntries(columns.map((column, at) => [column, `verse ${at} of the song`]));
      expect((await database.record(1)).data).toEqual({ name: 'a song', ...expected });
      // Each response shows the record right after its own patch.
      const sizes = records.map(({ data }) => Object.keys(data).length).sort((a, b) => a - b);
      expect(sizes).toEqual(columns.map((_, at) => at + 2));
      expect(await inferences(database), 'no text was embedded in vain').toBe(made + columns.length);
      await expectFreshVectors(database);
    });

    test('at the same time as upserts of the same record never leave the vector of another text', async () => {
      const database = await shared.create({});
      await database.put({ id: 1, data: { name: 'a song', n: 0 } });
      await Promise.all(
        Array.from({ length: 12 }, async (_, at) => {
          if (at % 3 === 0) await database.put({ id: 1, data: { name: `upserted ${at}`, n: at } });
          else if (at % 3 === 1) await database.patch(1, { name: `patched ${at}` });
          else await database.patch(1, { [`n${at}`]: at });
        }),
      );
      await expectFreshVectors(database);
    });

    test('during a re-embedding store no vector of another model', async () => {
      const database = await shared.create({ embed: { columns: ['text'] } });
      const ids = Array.from({ length: 12 }, (_, at) => at + 1);
      await database.upsert(ids.map((id) => ({ id, data: { text: `a tower, number ${id}`, n: 0 } })));
      for (const model of timesOn(open, ['other', 'all-MiniLM-L6-v2'], ['other'])) {
        let running = true;
        let rounds = 0;
        const patching = ids.map(async (id) => {
          for (let n = 1; running; n++) {
            const { data } = await database.patch(id, id % 2 === 0 ? { n } : { n, text: `a violin, ${n}` });
            expect(data.n).toBe(n);
            rounds += 1;
          }
        });
        try {
          // The re-embedding of so few records may be done before a patch that begins with it.
          while (rounds <= ids.length) await otherWork();
          await database.databases.reembeddings.start(database.id, model);
          while ((await database.databases.reembeddings.find(database.id)).state !== 'done')
            await otherWork();
        } finally {
          running = false;
          await Promise.all(patching);
        }
        expect(await database.describe()).toMatchObject({ model, records: ids.length });
        await expectFreshVectors(database);
      }
    });
  });
}
