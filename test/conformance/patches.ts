import { describe, expect, test } from 'vitest';
import { type Data, LIMITS } from '../../src/schema/index.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { contentOf, patched } from './patch-oracle.js';
import { randomData, uuidOf } from './random-records.js';
import { expectRefusal as refused } from './refusal.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';

const UUID = uuidOf(1);

/** What a patch does to one record. */
export function describePatches(open: OpenDatabases): void {
  describe('patches', () => {
    const shared = SharedDatabases.use(open);
    const limited = SharedDatabases.use(open, {
      limits: { ...LIMITS, record_bytes: 200, database_columns: 3 },
    });

    test('set, remove and keep columns; changed columns keep their place', async () => {
      const database = await shared.create();
      const data = { a: 1, b: 'two', c: true, d: 4 };
      await database.put({ id: 1, data, vector: [1, 0] });
      const record = await database.patch(1, { e: 'new', c: false, a: null, f: 0, gone: null, b: 'zwei' });
      expect(Object.entries(record.data)).toEqual([
        ['b', 'zwei'],
        ['c', false],
        ['d', 4],
        ['e', 'new'],
        ['f', 0],
      ]);
      expect(await database.record(1)).toEqual(record);
      const has = (column: string) => ({ filter: { rules: [{ column, operator: 'is_not_empty' }] } });
      expect(await database.ids('query', has('a'))).toEqual([]);
      expect(await database.ids('query', has('e'))).toEqual([1]);
      expect(await database.history()).toEqual(['created 1', 'changed 1']);
    });

    test('the response has the shape of the kind of id, and is the record that a read finds', async () => {
      const database = await shared.create();
      const timestamps = { created_at: '2026-01-01', changed_at: '2026-01-02', synced_at: '2026-01-03' };
      await database.upsert([{ id: 7, uuid: UUID, data: { n: 1 }, vector: [1, 0], timestamps }]);
      for (const [recordId, form, n] of [
        [7, 'integer', 2],
        [UUID, 'uuid', 3],
        [UUID.toUpperCase(), 'uuid', 4],
      ] as const) {
        const record = await database.patch(recordId, { n });
        expect(record).toMatchObject({ id: form === 'uuid' ? UUID : 7, data: { n } });
        expect(record).toEqual(await database.record(recordId, form));
        const [created, changed, synced] = Object.values(record.timestamps).map((time) => Date.parse(time));
        expect(created).toBe(Date.UTC(2026, 0, 1));
        expect(changed).toBeGreaterThan(Date.UTC(2026, 0, 3));
        expect(synced).toBe(changed);
      }
    });

    test.each(['{}', '{"data":{}}', '{"data":{"a":1}}', '{"data":{"gone":null,"c":null}}'])(
      'that change no content move only the time of the last sync: %s',
      async (patch) => {
        const database = await shared.create();
        const timestamps = { synced_at: '2026-01-01', created_at: '2026-01-01' };
        await database.upsert([{ id: 1, data: { a: 1, c: null, b: 2 }, vector: [1, 0], timestamps }]);
        const before = await database.record(1);
        const record = await database.patch(1, patch);
        expect(Object.entries(record.data)).toEqual(Object.entries(before.data));
        const { last_seen_time: synced, ...times } = record.timestamps;
        expect({ ...times, last_seen_time: before.timestamps.last_seen_time }).toEqual(before.timestamps);
        expect(Date.parse(synced!)).toBeGreaterThan(Date.UTC(2026, 0, 1));
        expect(await database.record(1)).toEqual(record);
        expect(await database.history()).toEqual(['created 1']);
      },
    );

    test('a column with null stays null until it is patched', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { a: null, b: 1, c: null }, vector: [1, 0] });
      expect(Object.entries((await database.patch(1, { b: 2 })).data)).toEqual([
        ['a', null],
        ['b', 2],
        ['c', null],
      ]);
      expect((await database.patch(1, { b: null, c: null })).data).toEqual({ a: null });
      expect((await database.patch(1, { a: 'x' })).data).toEqual({ a: 'x' });
    });

    test('do not change how the other columns are written', async () => {
      const database = await shared.create();
      const others =
        '"whole":9007199254740993,"big":1e300,"small":5e-324,"third":0.1,"large":1e21,"minus":-0,' +
        '"unicode":"\\u0000 \\ud83d\\ude00 nai\\u0308ve \\"\\\\/","a/b~c":"x","__proto__":"y","ключ":"z"';
      await database.upsert(`{"records":[{"id":1,"data":{"n":1,${others}},"vector":[1,0]}]}`);
      const text = async () =>
        Buffer.from(
          await database.databases.reader.record(database.id, '1', { form: 'integer' }, {}),
        ).toString();
      const dataOf = (record: string) => /"data":(\{.*\}),"timestamps"/.exec(record)?.[1];
      const before = dataOf(await text());
      expect(before).toContain('"n":1,');
      await database.patch(1, { n: 2 });
      expect(dataOf(await text())).toBe(before?.replace('"n":1,', '"n":2,'));
      await database.patch(
        1,
        '{"data":{"__proto__":"new","a/b~c":null,"constructor":1e-7,"ключ":"\\u00e9"}}',
      );
      const { data } = await database.record(1);
      expect(Object.entries(data).slice(-3)).toEqual([
        ['__proto__', 'new'],
        ['ключ', 'é'],
        ['constructor', 1e-7],
      ]);
    });

    test('have the outcome of an upsert of the merged record (seed 91)', async () => {
      const random = new Random(91);
      const [database, upserted] = [await shared.create(), await shared.create()];
      const known = new Map<number, Data>();
      for (let id = 1; id <= 6; id++) {
        known.set(id, randomData(random));
        for (const target of [database, upserted]) {
          await target.put({ id, uuid: uuidOf(id), data: known.get(id), vector: [1, id] });
        }
      }
      let unchanged = 0;
      for (let round = 0; round < timesOn(open, 120, 30); round++) {
        const id = 1 + random.below(6);
        const before = known.get(id)!;
        const columns = Object.entries(random.chance(80) ? randomData(random) : before);
        const changes = Object.fromEntries(
          columns.map(([column, value]) => [column, random.chance(25) ? null : value]),
        );
        const data = patched(before, changes);
        if (contentOf(data) === contentOf(before)) unchanged += 1;
        const context = `round ${round}: ${JSON.stringify(before)} + ${JSON.stringify(changes)}`;
        const record = await database.patch(random.chance(50) ? id : uuidOf(id), changes);
        expect(Object.entries(record.data), context).toEqual(Object.entries(data));
        await upserted.put({ id, data, vector: [1, id] });
        known.set(id, data);
      }
      expect(unchanged).toBeGreaterThan(2);
      for (const [id, data] of known) {
        expect(Object.entries((await database.record(id)).data)).toEqual(Object.entries(data));
      }
      expect(await database.history()).toEqual(await upserted.history());
      const search = { search: { vector: [1, 2], threshold: 0 } };
      const hits = async (of: typeof database) =>
        (await of.drain('search', search)).map(({ id, relevance_score, data }) => [
          id,
          relevance_score,
          data,
        ]);
      expect(await hits(database)).toEqual(await hits(upserted));
    });

    test('keep the vector that the caller gave', async () => {
      const database = await shared.create();
      const vector = [0.123456789, -0.987654321];
      await database.put({ id: 1, data: { a: 1, b: null }, vector });
      await database.patch(1, { a: 2 });
      expect(await database.put({ id: 1, data: { a: 2 }, vector })).toBe('unchanged');
      expect(await database.put({ id: 1, data: { a: 2 }, vector: [1, 0] })).toBe('changed');
      await database.patch(1, { a: 3 });
      const { results } = await database.search({ search: { vector: [1, 0] } });
      expect(results).toMatchObject([{ id: 1, relevance_score: 1, data: { a: 3 } }]);
    });

    test('are found by every read at once, and after a restart', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { n: 0, colour: 'red' }, vector: [1, 0] });
      for (let n = 1; n <= 5; n++) {
        await database.patch(1, { n });
        const filter = { rules: [{ column: 'n', operator: 'equals', value: n }] };
        expect(await database.ids('query', { filter })).toEqual([1]);
        const page = await database.search({
          search: { vector: [1, 0] },
          filter,
          total: true,
          facets: [{ column: 'n' }],
        });
        expect(page).toMatchObject({ total: { value: 1 }, facets: [{ values: [{ value: n, count: 1 }] }] });
        if (n === 3) await shared.opened.reopen();
      }
      await shared.opened.reopen();
      expect((await database.record(1)).data).toEqual({ n: 5, colour: 'red' });
    });

    test('of a record that does not exist are refused', async () => {
      const database = await shared.create();
      await database.put({ id: 1, uuid: UUID, data: {}, vector: [1, 0] });
      for (const recordId of [2, uuidOf(2)]) {
        await refused(database.patch(recordId, { a: 1 }), 'record_not_found');
        await refused(database.patch(recordId, {}), 'record_not_found');
      }
      await database.delete({ ids: [1] });
      await refused(database.patch(1, { a: 1 }), 'record_not_found');
      await refused(database.patch(UUID, { a: 1 }), 'record_not_found');
      expect(await database.count()).toBe(0);
      const elsewhere = database.databases.writer.patchRecord(
        'no-such-database',
        '1',
        'both',
        Buffer.from('{}'),
      );
      await refused(elsewhere, 'database_not_found');
    });

    test('that are no patch of columns are refused with the place', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { a: 1 }, vector: [1, 0] });
      for (const [patch, code, pointer, kind] of [
        ['', 'invalid_json', '', 'malformed_json'],
        ['{"data":{"a":2}', 'invalid_json', '', 'malformed_json'],
        ['{"data":{"a":2}} {}', 'invalid_json', '', 'malformed_json'],
        ['[]', 'invalid_record', '', 'wrong_type'],
        ['null', 'invalid_record', '', 'wrong_type'],
        ['{"data":null}', 'invalid_record', '/data', 'wrong_type'],
        ['{"data":[]}', 'invalid_record', '/data', 'wrong_type'],
        ['{"data":{"a":2,"b/c":{"d":1}}}', 'invalid_record', '/data/b~1c', 'wrong_type'],
        ['{"data":{"a":[1,null]}}', 'invalid_record', '/data/a/1', 'wrong_type'],
        ['{"data":{"a":[[]]}}', 'invalid_record', '/data/a/0', 'wrong_type'],
        ['{"data":{"":1}}', 'invalid_record', '/data/', 'invalid_column'],
        ['{"data":{"":null}}', 'invalid_record', '/data/', 'invalid_column'],
        ['{"data":{"a":1,"a":2}}', 'invalid_json', '/data/a', 'duplicate_member'],
        ['{"data":{"a":1e999}}', 'invalid_json', '/data/a', 'number_out_of_range'],
        ['{"data":{"a":"\\ud800"}}', 'invalid_json', '/data/a', 'lone_surrogate'],
        ['{"a":2}', 'invalid_record', '/a', 'unknown_member'],
        ['{"data":{"a":2},"id":2}', 'invalid_record', '/id', 'unknown_member'],
        ['{"data":{"a":2},"uuid":null}', 'invalid_record', '/uuid', 'unknown_member'],
        ['{"data":{"a":2},"timestamps":{}}', 'invalid_record', '/timestamps', 'unknown_member'],
        ['{"data":{"a":2},"vector":[0,1]}', 'invalid_record', '/vector', 'unknown_member'],
      ] as const) {
        await refused(database.patch(1, patch), code, pointer, kind);
      }
      expect((await database.record(1)).data).toEqual({ a: 1 });
      expect(await database.history()).toEqual(['created 1']);
    });

    test('that make a record or a database too large are refused', async () => {
      const database = await limited.create();
      await database.put({ id: 1, data: { a: 'x'.repeat(100), b: 1 }, vector: [1, 0] });
      const long = 'y'.repeat(100);
      await refused(database.patch(1, { b: long }), 'too_large', '/data', 'too_large');
      await refused(database.patch(1, { c: 'z'.repeat(200) }), 'too_large', '', 'too_large');
      expect((await database.patch(1, { a: null, b: long })).data).toEqual({ b: long });
      expect((await database.patch(1, { c: 1 })).data).toEqual({ b: long, c: 1 });
      await refused(database.patch(1, { d: 1 }), 'invalid_record', '/data/d', 'too_many_columns');
      expect((await database.patch(1, { d: null, a: 2 })).data).toEqual({ b: long, c: 1, a: 2 });
    });

    test('whose signal is aborted change nothing', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: { a: 1 }, vector: [1, 0] });
      const reason = new Error('no longer needed');
      const patch = database.patch(1, { a: 2 }, { signal: AbortSignal.abort(reason) });
      await expect(patch).rejects.toBe(reason);
      expect((await database.record(1)).data).toEqual({ a: 1 });
    });
  });
}
