import { setImmediate as otherWork } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { checkSchema, type Reembedding } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { testWholeOn } from './rounds.js';
import type { TestDatabase } from './test-database.js';
import { SEARCH, scores, withTwoModels } from './two-models.js';

const BUILT_IN = 'all-MiniLM-L6-v2';
const SUBJECTS = ['a tower', 'a river', 'an engine', 'a comet', 'a falcon', 'a violin'];
const record = (id: number) => ({ id, data: { text: `${SUBJECTS[id % 6]}, number ${id}` } });

/** Vectors of another model for all records of a database. */
export function describeReembedding(open: OpenDatabases): void {
  describe('re-embedding', () => {
    const shared = withTwoModels(open);

    /** Asks until the database has the model. */
    const done = async ({ databases, id }: TestDatabase): Promise<Reembedding> => {
      for (;;) {
        const state = await databases.reembeddings.find(id);
        checkSchema('Reembedding', state);
        expect(['running', 'switching', 'done']).toContain(state.state);
        if (state.state === 'done') return state;
        await otherWork();
      }
    };

    test('gives every record the vector that a new database of the model has, and changes nothing else', async () => {
      const embed = { columns: ['text'] };
      const [database, fresh] = [
        await shared.create({ embed }),
        await shared.create({ model: 'other', embed }),
      ];
      const records = Array.from({ length: 15 }, (_, at) => record(at + 1));
      for (const target of [database, fresh]) await target.upsert([...records, { id: 99, data: {} }]);
      await database.delete({ ids: [7] });
      await fresh.delete({ ids: [7] });
      const before = await scores(database);
      const expected = await scores(fresh);
      expect(expected).not.toEqual(before);
      const [listed, feed] = [await database.drain('query', {}), await database.changes()];

      const begun = await database.databases.reembeddings.start(database.id, 'other');
      checkSchema('Reembedding', begun);
      expect(begun).toMatchObject({ model: 'other', from: BUILT_IN, records: 15 });
      expect(await done(database)).toMatchObject({ model: 'other', from: BUILT_IN, done: 15, records: 15 });

      expect(await scores(database)).toEqual(expected);
      expect(await database.drain('query', {})).toEqual(listed);
      expect(await database.changes({ epoch: feed.epoch })).toEqual(feed);
      const description = await database.describe();
      expect(description).toMatchObject({ model: 'other', embed, records: 15 });
      expect(description.fingerprint).toBe((await fresh.describe()).fingerprint);
      expect(description).not.toHaveProperty('reembedding');
      // A record that was not written since is unchanged, and the same call again changes nothing.
      expect(await database.put(record(1))).toBe('unchanged');
      expect(await database.databases.reembeddings.start(database.id, 'other')).toMatchObject({
        state: 'done',
      });
      await shared.opened.reopen();
      expect(await scores(database)).toEqual(expected);
    });

    test('takes over what is written meanwhile; no page mixes the models', async () => {
      const [database, fresh] = [await shared.create({}), await shared.create({ model: 'other' })];
      const group = (id: number, group: string) => ({ ...record(id), data: { ...record(id).data, group } });
      const fixed = Array.from({ length: 24 }, (_, at) => group(at + 1, 'fixed'));
      await database.upsert(fixed);
      await fresh.upsert(fixed);
      const forced = {
        condition: 'AND' as const,
        rules: [{ column: 'group', operator: 'equals' as const, value: 'fixed' }],
      };
      const page = async (of: TestDatabase) =>
        JSON.stringify(
          (await of.search({ ...SEARCH, filter: forced, pagination: { limit: 24 } })).results.map(
            ({ id, relevance_score }) => [id, relevance_score],
          ),
        );
      const [old, new_] = [await page(database), await page(fresh)];
      await database.databases.reembeddings.start(database.id, 'other');
      let running = true;
      const seen: string[] = [];
      const reading = (async () => {
        while (running) seen.push(await page(database));
      })();
      let written = 0;
      const writing = (async () => {
        for (; running; written++) {
          await database.put(group(1_000 + written, 'late'));
          if (written % 3 === 2) await database.delete({ ids: [1_000 + written] });
        }
      })();
      try {
        await done(database);
      } finally {
        running = false;
        await Promise.all([reading, writing]);
      }
      const change = seen.indexOf(new_);
      for (const [at, found] of seen.entries()) {
        expect(found, `search ${at}`).toBe(change >= 0 && at >= change ? new_ : old);
      }
      expect(await page(database)).toBe(new_);
      expect(written).toBeGreaterThan(0);
      const deleted = Math.floor(written / 3);
      expect(await database.count()).toBe(24 + written - deleted);
      for (const { id, data } of await database.drain('query', {})) {
        if (Number(id) >= 1_000) await fresh.put({ id, data });
      }
      expect(await scores(database)).toEqual(await scores(fresh));
    });

    test('can be cancelled, and the database stays as it was', async () => {
      const database = await shared.create({});
      await database.upsert(Array.from({ length: 80 }, (_, at) => record(at + 1)));
      const before = await scores(database);
      const { databases, id } = database;
      await databases.reembeddings.start(id, 'other');
      await expect(databases.reembeddings.start(id, BUILT_IN)).rejects.toMatchObject({
        code: 'reembedding_running',
        status: 409,
      });
      expect(await database.describe()).toMatchObject({ model: BUILT_IN, reembedding: { model: 'other' } });
      await databases.reembeddings.cancel(id);
      const notFound = { code: 'reembedding_not_found', status: 404 };
      await expect(databases.reembeddings.find(id)).rejects.toMatchObject(notFound);
      await expect(databases.reembeddings.cancel(id)).rejects.toMatchObject(notFound);
      expect(await database.describe()).toMatchObject({ model: BUILT_IN });
      expect(await scores(database)).toEqual(before);
    });

    test('goes on after the store is closed and opened again', async () => {
      const [database, fresh] = [await shared.create({}), await shared.create({ model: 'other' })];
      const records = Array.from({ length: 40 }, (_, at) => record(at + 1));
      for (const target of [database, fresh]) await target.upsert(records);
      const begun = await database.databases.reembeddings.start(database.id, 'other');
      await shared.opened.reopen();
      expect(await done(database)).toMatchObject({ model: 'other', started_at: begun.started_at, done: 40 });
      expect(await scores(database)).toEqual(await scores(fresh));
    });

    testWholeOn(open)('gives a model to a database of own vectors', async () => {
      const [database, fresh] = [
        await shared.create({ dimensions: 2 }),
        await shared.create({ model: 'other' }),
      ];
      const records = Array.from({ length: 12 }, (_, at) => record(at + 1));
      await database.upsert(records.map((record) => ({ ...record, vector: [1, record.id] })));
      await fresh.upsert(records);
      expect(await database.databases.reembeddings.start(database.id, 'other')).toMatchObject({ from: null });
      await done(database);
      expect(await database.describe()).toMatchObject({ model: 'other', dimensions: 384 });
      expect(await scores(database)).toEqual(await scores(fresh));
      await expect(database.search({ search: { vector: [1, 0] } })).rejects.toMatchObject({
        code: 'invalid_dimensions',
      });
      // The vectors no longer belong to the content.
      expect(await database.upsert(records)).toMatchObject({ unchanged: 12 });
    });

    test('a model that is not there is refused', async () => {
      const database = await shared.create({});
      await expect(database.databases.reembeddings.start(database.id, 'nobody-has-it')).rejects.toMatchObject(
        {
          code: 'invalid_request',
          status: 400,
          problems: [{ pointer: '/model' }],
        },
      );
      await expect(database.databases.reembeddings.find(database.id)).rejects.toMatchObject({
        code: 'reembedding_not_found',
      });
    });

    test('ends with its database', async () => {
      const database = await shared.create({});
      await database.upsert(Array.from({ length: 30 }, (_, at) => record(at + 1)));
      await database.databases.reembeddings.start(database.id, 'other');
      await database.databases.catalog.drop(database.id);
      await expect(database.databases.reembeddings.find(database.id)).rejects.toMatchObject({
        code: 'database_not_found',
      });
      await database.databases.catalog.create(database.id, {});
      await expect(database.databases.reembeddings.find(database.id)).rejects.toMatchObject({
        code: 'reembedding_not_found',
      });
    });
  });
}
