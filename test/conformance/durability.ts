import { describe, expect, test } from 'vitest';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { given, Oracle } from './oracle.js';
import { DIMENSIONS, randomRecords, randomVector } from './random-records.js';
import { SharedDatabases } from './shared-databases.js';

const search = { search: { vector: [1, 0], threshold: 0 } };

/** What is acknowledged is read at once and is there after a restart. */
export function describeDurability(open: OpenDatabases): void {
  describe('durability', () => {
    const shared = SharedDatabases.use(open);

    test('a write is seen by every read that begins after it', async () => {
      const database = await shared.create();
      for (let n = 1; n <= 12; n++) {
        await database.put({ id: n, data: { n }, vector: [1, 0] });
        const filter = { rules: [{ column: 'n', operator: 'equals', value: n }] };
        expect(await database.ids('search', { ...search, filter })).toEqual([n]);
        expect(await database.ids('query', { filter })).toEqual([n]);
        expect((await database.search({ ...search, total: true })).total).toEqual({
          value: Math.floor(n / 2) + 1,
        });
        expect((await database.record(n)).data).toEqual({ n });
        expect((await database.history()).at(-1)).toBe(`created ${n}`);
        if (n % 2 === 0) {
          await database.delete({ ids: [n] });
          expect(await database.ids('query', { filter })).toEqual([]);
          expect(await database.ids('search', { ...search, filter })).toEqual([]);
        }
        expect(await database.count()).toBe(Math.ceil(n / 2));
      }
    });

    test('a random history is there after each restart (seed 81)', async () => {
      const random = new Random(81);
      const database = await shared.create({ dimensions: DIMENSIONS });
      const oracle = new Oracle();
      const history: string[] = [];
      for (let restart = 0; restart < 3; restart++) {
        for (let write = 0; write < 10; write++) {
          if (random.chance(30)) {
            const ids = [1 + random.below(120), 1 + random.below(120)];
            const there = [...new Set(ids)].filter((id) => oracle.records.delete(id)).sort((a, b) => a - b);
            expect(await database.delete({ ids })).toBe(there.length);
            history.push(...there.map((id) => `deleted ${id}`));
            continue;
          }
          const records = randomRecords(random, 120).filter(() => random.chance(20));
          const { results } = await database.upsert(records.map(given));
          for (const [at, record] of records.entries()) {
            const status = oracle.records.has(record.id) ? 'changed' : 'created';
            expect(results[at]).toMatchObject({ id: record.id, uuid: record.uuid, status });
            history.push(`${status} ${record.id}`);
            oracle.records.set(record.id, record);
          }
        }
        const { epoch, position } = await database.changes({ limit: 1_000 });
        const description = await database.describe();
        await shared.opened.reopen();
        const request = { search: { vector: randomVector(random), threshold: 0 } };
        expect(await database.drain('search', request, { form: 'uuid' })).toEqual(
          oracle.results(request, 'uuid'),
        );
        expect(await database.drain('query', {})).toEqual(oracle.results({}, 'integer'));
        expect(await database.history()).toEqual(history);
        expect(await database.changes({ after: position, epoch })).toMatchObject({ changes: [], epoch });
        const { created_at } = description.times;
        expect(await database.describe()).toMatchObject({
          id: database.id,
          records: oracle.records.size,
          columns: description.columns,
          dimensions: DIMENSIONS,
          times: { created_at },
        });
      }
    });

    test('a vector that is given for a record without text is dropped at once, and not by a restart', async () => {
      const database = await shared.create({});
      const { fingerprint: embedded_by, dimensions } = await database.describe();
      const vector = Array.from({ length: dimensions }, (_, at) => Number(at === 0));
      const passages = [{ column: 'n', start: 0, end: 1, vector }];
      await database.upsert([
        { id: 1, data: { text: ' ' }, vector, embedded_by },
        { id: 2, data: { n: 1 }, passages, embedded_by },
        { id: 3, data: { text: 'a tower' }, vector, embedded_by },
      ]);
      const any = { search: { text: 'anything', threshold: 0 } };
      for (const _ of ['before the restart', 'after it']) {
        expect(await database.ids('search', any)).toEqual([3]);
        expect(await database.describe()).toMatchObject({ records: 3, without_text: 2 });
        const lines = await database.export({ vectors: true });
        expect(lines.map((line) => 'vector' in JSON.parse(line))).toEqual([false, false, true]);
        await shared.opened.reopen();
      }
      // Its content is unchanged, whatever vector is given.
      expect(await database.put({ id: 1, data: { text: ' ' }, vector, embedded_by })).toBe('unchanged');
      await database.patch(1, { text: 'a violin' });
      expect((await database.ids('search', any)).sort()).toEqual([1, 3]);
    });

    test('settings, dropped databases and the next id outlive a restart', async () => {
      const [kept, dropped] = [await shared.create({ embed: { columns: ['x'] } }), await shared.create()];
      await kept.upsert([{ data: { x: 'a violin' } }, { data: { x: 'a river' } }]);
      await kept.delete({ ids: [2] });
      await shared.databases.catalog.drop(dropped.id);
      const text = { search: { text: 'music', threshold: 0 } };
      const before = await kept.drain('search', text);
      await shared.opened.reopen();
      await expect(dropped.describe()).rejects.toMatchObject({ code: 'database_not_found' });
      expect(await kept.describe()).toMatchObject({ embed: { columns: ['x'] }, records: 1 });
      expect(await kept.drain('search', text)).toEqual(before);
      const { results } = await kept.upsert([{ data: { x: 'a comet' } }]);
      expect(results[0]!.id).toBe(3);
      expect(await kept.put({ id: 1, data: { x: 'a violin' } })).toBe('unchanged');
    });

    test('a cursor goes on after a restart', async () => {
      const database = await shared.create();
      await database.upsert([1, 2, 3, 4].map((id) => ({ id, data: {}, vector: [1, 0] })));
      for (const operation of ['search', 'query'] as const) {
        const request = operation === 'search' ? search : { sort: { column: 'none' } };
        const first = await database.ask(operation, { ...request, pagination: { limit: 2 } });
        await shared.opened.reopen();
        const pagination = { cursor: first.pagination.next_cursor };
        const next = await database.ask(operation, { ...request, pagination });
        expect(next.results.map(({ id }) => id)).toEqual([3, 4]);
      }
    });
  });
}
