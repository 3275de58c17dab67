import { describe, expect, test } from 'vitest';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';

const UUIDS = [1, 2, 3].map((at) => `00000000-0000-4000-8000-00000000000${at}`) as [string, string, string];
const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** What an upsert does to records and their identities. */
export function describeUpserts(open: OpenDatabases): void {
  describe('upserts', () => {
    const shared = SharedDatabases.use(open);

    test('a batch tells what happened to each record, and the same again changes nothing', async () => {
      const database = await shared.create();
      const records = [1, 2, 3].map((id) => ({ id, data: { n: id }, vector: [1, id] }));
      const first = await database.upsert(records);
      expect(first).toMatchObject({ created: 3, changed: 0, unchanged: 0 });
      expect(first.results.map(({ id, status }) => [id, status])).toEqual([
        [1, 'created'],
        [2, 'created'],
        [3, 'created'],
      ]);
      const again = await database.upsert([
        records[2]!,
        { ...records[1]!, data: { n: 'other' } },
        records[0]!,
        { id: 4, data: {}, vector: [1, 4] },
      ]);
      expect(again).toMatchObject({ created: 1, changed: 1, unchanged: 2 });
      expect(again.results.map(({ id, status }) => [id, status])).toEqual([
        [3, 'unchanged'],
        [2, 'changed'],
        [1, 'unchanged'],
        [4, 'created'],
      ]);
      expect(again.results.slice(0, 3).map(({ uuid }) => uuid)).toEqual(
        first.results.map(({ uuid }) => uuid).reverse(),
      );
      expect(await database.count()).toBe(4);
    });

    test('an empty batch is accepted', async () => {
      const database = await shared.create();
      expect(await database.upsert([])).toMatchObject({ results: [], created: 0 });
    });

    test('a change replaces the data', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { a: 1, b: 2 }, vector: [1, 0] });
      expect(await database.put({ id: 1, data: { b: 3, c: 4 }, vector: [1, 0] })).toBe('changed');
      expect((await database.record(1)).data).toEqual({ b: 3, c: 4 });
      const filter = { rules: [{ column: 'a', operator: 'is_not_empty' }] };
      expect(await database.ids('query', { filter })).toEqual([]);
    });

    test('data keeps its types, its nulls and the order of its columns', async () => {
      const database = await shared.create();
      const data =
        '{"z":"text","a":1.5,"m":true,"n":null,"e":"","big":1e300,"small":5e-324,"whole":9007199254740993,"__proto__":"x","unicode":"\\u0000 \\ud83d\\ude00 \\"\\\\"}';
      await database.upsert(`{"records":[{"id":1,"data":${data},"vector":[1,0]}]}`);
      const expected = JSON.parse(data);
      for (const { data } of [
        await database.record(1),
        (await database.query()).results[0]!,
        (await database.search({ search: { vector: [1, 0] } })).results[0]!,
      ]) {
        expect(Object.entries(data)).toEqual(Object.entries(expected));
      }
    });

    test('order of columns, added nulls and the length of a vector are no change', async () => {
      const database = await shared.create();
      const put = (data: object, vector: number[] = [3, 4]) => database.put({ id: 1, data, vector });
      expect(await put({ a: 1, b: 'x', c: null })).toBe('created');
      for (const data of [
        { a: 1, b: 'x', c: null },
        { c: null, b: 'x', a: 1 },
        { b: 'x', a: 1 },
        { e: null, a: 1, b: 'x' },
      ]) {
        expect(await put(data), JSON.stringify(data)).toBe('unchanged');
      }
      expect(await put({ a: 1, b: 'x' }, [6, 8])).toBe('unchanged');
      expect(await put({ a: 1, b: 'x' }, [0.375, 0.5])).toBe('unchanged');
      expect(Object.entries((await database.record(1)).data)).toEqual([
        ['a', 1],
        ['b', 'x'],
        ['c', null],
      ]);
      expect(await database.history()).toEqual(['created 1']);
    });

    test('a value, a type, a column or a direction that differs is a change', async () => {
      const database = await shared.create();
      const put = (data: object, vector: number[] = [3, 4]) => database.put({ id: 1, data, vector });
      await put({ a: 1 });
      for (const data of [
        { a: 2 },
        { a: '2' },
        { a: true },
        { a: 'true' },
        { a: '' },
        { a: '', b: '' },
        { b: '' },
        { B: '' },
        { bc: '' },
        { b: 'c' },
        {},
        { a: 0 },
      ]) {
        expect(await put(data), JSON.stringify(data)).toBe('changed');
        expect(await put(data), JSON.stringify(data)).toBe('unchanged');
      }
      expect(await put({ a: 0 }, [-3, -4])).toBe('changed');
      expect(await put({ a: 0 }, [3, 4.0001])).toBe('changed');
      expect(await put({ a: 0 }, [3, 4.0001])).toBe('unchanged');
    });

    test('repeats of a record in one batch apply in sequence', async () => {
      const database = await shared.create();
      const record = (identity: object, a: number, x: number) => ({
        ...identity,
        data: { a },
        vector: [x, 1],
      });
      const { results } = await database.upsert([
        record({ id: 1, uuid: UUIDS[0] }, 1, 1),
        record({ id: 1 }, 1, 1),
        record({ uuid: UUIDS[0] }, 2, 1),
        record({ id: 1 }, 2, 3),
        record({ id: 1 }, 2, 3),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        'created',
        'unchanged',
        'changed',
        'changed',
        'unchanged',
      ]);
      expect(new Set(results.map(({ id, uuid }) => `${id} ${uuid}`))).toEqual(new Set([`1 ${UUIDS[0]}`]));
      const found = await database.search({ search: { vector: [3, 1] }, total: true });
      expect(found).toMatchObject({ total: { value: 1 }, results: [{ relevance_score: 1, data: { a: 2 } }] });
    });

    test('what is not given is made: the next integer and a UUID of version 7', async () => {
      const database = await shared.create();
      const record = (identity: object) => ({ ...identity, data: identity, vector: [1, 0] });
      const { results } = await database.upsert([
        record({}),
        record({ id: 1 }),
        record({}),
        record({ id: 3 }),
        record({ uuid: UUIDS[0].toUpperCase() }),
        record({ id: 1_000 }),
      ]);
      const ids = results.map(({ id }) => id);
      expect(new Set(ids).size, 'a made id is none that the batch gives').toBe(6);
      expect([ids[1], ids[3], ids[5]]).toEqual([1, 3, 1_000]);
      expect(results[4]!.uuid).toBe(UUIDS[0]);
      for (const at of [0, 1, 2, 3, 5]) expect(results[at]!.uuid).toMatch(VERSION_7);
      const later = await database.upsert([record({})]);
      expect(later.results[0]!.id).toBe(1_001);
      for (const { id, uuid } of results) {
        expect((await database.record(id, 'uuid')).id).toBe(uuid);
        expect((await database.record(uuid.toUpperCase(), 'integer')).id).toBe(id);
      }
    });

    test('an id that was made does not come back after its record is deleted', async () => {
      const database = await shared.create();
      const made = async () => (await database.upsert([{ data: {}, vector: [1, 0] }])).results[0]!.id;
      expect([await made(), await made(), await made()]).toEqual([1, 2, 3]);
      await database.delete({ ids: [2, 3] });
      expect(await made()).toBe(4);
      // A caller may give a deleted id again: it is a new record.
      const { results } = await database.upsert([{ id: 2, data: {}, vector: [1, 0] }]);
      expect(results[0]!.status).toBe('created');
    });

    test('the largest id is accepted, and no further id is assigned after it', async () => {
      const database = await shared.create();
      expect(await database.put({ id: Number.MAX_SAFE_INTEGER, data: {}, vector: [1, 0] })).toBe('created');
      await expect(database.upsert([{ data: {}, vector: [1, 0] }])).rejects.toMatchObject({
        code: 'invalid_record',
        problems: [{ pointer: '/records/0' }],
      });
      expect(await database.put({ id: 5, data: {}, vector: [1, 0] })).toBe('created');
    });

    test('identities of different records conflict, and nothing of the batch is stored', async () => {
      const database = await shared.create();
      const record = (id: number, uuid: string | undefined, x = 0) => ({
        id,
        uuid,
        data: { x },
        vector: [1, 0],
      });
      await database.upsert([record(1, UUIDS[0]), record(2, UUIDS[1])]);
      for (const clash of [record(1, UUIDS[1], 1), record(1, UUIDS[2], 1), record(3, UUIDS[0], 1)]) {
        const batch = [record(9, undefined), clash, record(10, undefined)];
        await expect(database.upsert(batch), JSON.stringify(clash)).rejects.toMatchObject({
          code: 'identity_conflict',
          status: 409,
          problems: [{ pointer: expect.stringMatching(/^\/records\/1\//) }],
        });
      }
      const within = [record(20, UUIDS[2]), record(21, UUIDS[2])];
      await expect(database.upsert(within)).rejects.toMatchObject({ code: 'identity_conflict' });
      expect(await database.ids('query', { sort: { column: 'x' } })).toEqual([1, 2]);
    });

    test('one bad record refuses the whole batch', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { n: 0 }, vector: [1, 0] });
      const batch = [
        { id: 1, data: { n: 1 }, vector: [1, 0] },
        { id: 2, data: {}, vector: [1, 0] },
        { id: 3, data: { n: {} }, vector: [1, 0] },
      ];
      await expect(database.upsert(batch)).rejects.toMatchObject({
        code: 'invalid_record',
        problems: [{ pointer: '/records/2/data/n' }],
      });
      expect((await database.query()).results).toMatchObject([{ id: 1, data: { n: 0 } }]);
    });

    test('upserts side by side have the same outcome as one after the other', async () => {
      const database = await shared.create();
      const outcomes = await Promise.all(
        Array.from({ length: 40 }, async (_, at) => {
          const uuid =
            at % 10 === 0 ? UUIDS[0] : `00000000-0000-4000-9000-${String(at % 8).padStart(12, '0')}`;
          const id = 1 + (at % 8);
          try {
            const { results } = await database.upsert([{ id, uuid, data: { id }, vector: [1, at] }]);
            expect(results[0]).toMatchObject({ id, uuid });
            return results[0]!.status;
          } catch (error) {
            expect(error).toMatchObject({ code: 'identity_conflict' });
            return 'conflict';
          }
        }),
      );
      expect(outcomes.filter((status) => status === 'created')).toHaveLength(8);
      expect(outcomes).toContain('conflict');
      const { results } = await database.query();
      expect(results).toHaveLength(8);
      for (const { id, data } of results) expect(data).toEqual({ id });
      expect((await database.history()).filter((change) => change.startsWith('created'))).toHaveLength(8);
    });

    test('made ids of upserts side by side are all different', async () => {
      const database = await shared.create();
      const batches = await Promise.all(
        Array.from({ length: 12 }, () =>
          database.upsert([0, 1, 2].map(() => ({ data: {}, vector: [1, 0] }))),
        ),
      );
      const all = batches.flatMap(({ results }) => results);
      expect(new Set(all.map(({ id }) => id)).size).toBe(36);
      expect(new Set(all.map(({ uuid }) => uuid)).size).toBe(36);
    });

    test('vectors may be passed separately from the batch', async () => {
      const database = await shared.create();
      const vectors = Float32Array.from([1, 0, 0, 1]);
      await database.upsert(
        [
          { id: 1, data: {} },
          { id: 2, data: {} },
        ],
        { vectors },
      );
      expect((await database.search({ search: { vector: [0, 1] } })).results).toMatchObject([
        { id: 2, relevance_score: 1 },
      ]);
      const short = database.upsert([{ id: 3, data: {} }], { vectors });
      await expect(short).rejects.toMatchObject({ code: 'invalid_dimensions', status: 400 });
    });
  });
}
