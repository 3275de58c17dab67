import { describe, expect, test } from 'vitest';
import { checkSchema } from '../../src/schema/index.js';
import type { OpenDatabases } from './open-databases.js';
import { testWholeOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import { TestDatabase } from './test-database.js';

const GERMAN = [
  'Der Baikalsee ist der tiefste See der Erde.',
  'Biber fällen Bäume und stauen damit Bäche auf.',
  'Die Oper wurde von einem Architekten aus Wien gebaut.',
];
const RUSSIAN = [
  'Москва — столица России',
  'Волга впадает в Каспийское море',
  'Бобры строят плотины на реках',
];
const CHINESE = ['苏州以园林闻名', '长城全长两万多公里', '大熊猫主要以竹子为食'];
const ENGLISH = 'Lake Baikal is the deepest lake of the earth.';

/** Databases: created, described, listed and dropped. */
export function describeDatabases(open: OpenDatabases): void {
  describe('databases', () => {
    const shared = SharedDatabases.use(open);

    test('a database is created once; the same settings find it, others conflict', async () => {
      const { databases } = shared;
      const id = shared.newId();
      const settings = { dimensions: 3, embed: { columns: ['a', 'b'] } };
      const first = await databases.catalog.create(id, settings);
      expect(first.created).toBe(true);
      expect(first.database).toMatchObject({
        id,
        records: 0,
        model: null,
        fingerprint: null,
        dimensions: 3,
        embed: { columns: ['a', 'b'] },
        columns: [],
      });
      checkSchema('DatabaseDescription', first.database);
      const again = await databases.catalog.create(id, settings);
      expect(again.created).toBe(false);
      expect(again.database.times.created_at).toBe(first.database.times.created_at);
      for (const other of [
        { dimensions: 4, embed: { columns: ['a', 'b'] } },
        { dimensions: 3 },
        { dimensions: 3, embed: { columns: ['b', 'a'] } },
        {},
      ]) {
        await expect(databases.catalog.create(id, other), JSON.stringify(other)).rejects.toMatchObject({
          code: 'database_exists',
          status: 409,
        });
      }
      expect(await databases.catalog.describe(id)).toMatchObject({ dimensions: 3 });
    });

    test('formats of columns are kept, and go with their database', async () => {
      const { catalog } = shared.databases;
      const formats = { price: '0.00', ['__proto__']: 'python', open: 'True' };
      const { id } = await shared.create({ dimensions: 2, formats });
      expect((await catalog.create(id, { dimensions: 2 })).database.formats).toEqual(formats);
      const described = await catalog.describe(id);
      expect(Object.entries(described.formats ?? {}).sort()).toEqual(Object.entries(formats).sort());
      expect(JSON.parse(Buffer.from(await catalog.describeJson(id)).toString())).toEqual(described);
      expect((await catalog.list()).find((other) => other.id === id)).toEqual(described);

      await catalog.drop(id);
      expect((await catalog.create(id, { dimensions: 2 })).database).not.toHaveProperty('formats');
    });

    test('a database has at most as many formats as columns', async () => {
      const { catalog } = shared.databases;
      const formats = (prefix: string, count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, '0.00']));
      const tooMany = {
        code: 'invalid_request',
        problems: [{ pointer: '/formats', code: 'too_many_columns' }],
      };
      const create = (id: string, given: Record<string, string>) =>
        catalog.create(id, { dimensions: 2, formats: given });
      const missing = shared.newId();
      await expect(create(missing, formats('a', 10_001))).rejects.toMatchObject(tooMany);
      await expect(catalog.describe(missing)).rejects.toMatchObject({ code: 'database_not_found' });

      const { id } = await shared.create({ dimensions: 2, formats: formats('a', 6_000) });
      const change = (given: Record<string, string>) => catalog.configure(id, { formats: given });
      await expect(change(formats('b', 6_000))).rejects.toMatchObject(tooMany);
      expect(Object.keys((await change(formats('b', 4_000))).formats ?? {})).toHaveLength(10_000);
      await catalog.drop(id);
    });

    test('creations side by side of one id create it once', async () => {
      const id = shared.newId();
      const outcomes = await Promise.all(
        Array.from({ length: 6 }, () => shared.databases.catalog.create(id, { dimensions: 2 })),
      );
      expect(outcomes.filter(({ created }) => created)).toHaveLength(1);
    });

    test('a database without settings has the built-in model', async () => {
      const id = shared.newId();
      const { database } = await shared.databases.catalog.create(id, {});
      expect(database).toMatchObject({ model: 'all-MiniLM-L6-v2', dimensions: 384, embed: {} });
      expect(database.fingerprint).toMatch(/./);
      const named = { model: 'all-MiniLM-L6-v2' };
      expect(await shared.databases.catalog.create(id, named)).toMatchObject({ created: false });
      expect(await shared.databases.catalog.create(id, { ...named, dimensions: 384 })).toMatchObject({
        created: false,
      });
    });

    test.each([
      ['an unknown model', { model: 'nobody-has-it' }, '/model'],
      [
        'dimensions that the model does not have',
        { model: 'all-MiniLM-L6-v2', dimensions: 12 },
        '/dimensions',
      ],
    ])('%s is refused', async (_, settings, pointer) => {
      const id = shared.newId();
      await expect(shared.databases.catalog.create(id, settings)).rejects.toMatchObject({
        code: 'invalid_request',
        status: 400,
        problems: [{ pointer }],
      });
      await expect(shared.databases.catalog.describe(id)).rejects.toMatchObject({
        code: 'database_not_found',
      });
    });

    testWholeOn(open)(
      'a description tells that the built-in model does not know the language of the texts',
      async () => {
        const { catalog } = shared.databases;
        const database = await shared.create({ embed: { columns: ['text'] } });
        const notice =
          /^most texts are not in English, .* npm install @cosift\/model-multilingual-e5, then: cosift reembed (\S+) --model multilingual-e5-small$/;
        const english = { related: 0.3, close: 0.45, lexical: 0.3 };
        const noticeOf = async () => {
          const described = await catalog.describe(database.id);
          checkSchema('DatabaseDescription', described);
          expect(described.scores).toEqual(english);
          const others = [
            JSON.parse(Buffer.from(await catalog.describeJson(database.id)).toString()),
            (await catalog.list()).find(({ id }) => id === database.id),
          ];
          for (const { notice, scores } of others)
            expect({ notice, scores }).toEqual({ notice: described.notice, scores: english });
          return described.notice;
        };
        expect(await noticeOf()).toBeUndefined();
        for (const texts of [GERMAN, RUSSIAN, CHINESE]) {
          // The texts of other columns are not embedded.
          const note = 'This is of no interest to the model, and it is not in that language.';
          const records = texts.map((text, at) => ({ id: at + 1, data: { text, note } }));
          await database.upsert(records);
          const found = await noticeOf();
          expect(found).toMatch(notice);
          expect(notice.exec(found ?? '')?.[1]).toBe(database.id);
          await database.upsert(records.map(({ id }) => ({ id, data: { text: ENGLISH, note: texts[0]! } })));
          expect(await noticeOf(), texts[0]).toBeUndefined();
        }
        // Of many records, the first ones are looked at.
        for (const [texts, expected] of [
          [GERMAN, true],
          [[ENGLISH], false],
        ] as const) {
          const many = await shared.create({});
          await many.upsert(
            Array.from({ length: 130 }, (_, at) => ({
              id: at + 1,
              data: { text: texts[at % texts.length]! },
            })),
          );
          expect((await many.describe()).notice !== undefined).toBe(expected);
        }
        const own = await shared.create({ dimensions: 2 });
        expect(await own.describe()).not.toHaveProperty('scores');
      },
    );

    test('a description tells the columns with their types and how many records have them', async () => {
      const database = await shared.create();
      await database.upsert([
        { id: 1, data: { none: null, a: 1, b: 'x' }, vector: [1, 0] },
        { id: 2, data: { a: 'y', c: true }, vector: [1, 0] },
        { id: 3, data: { gone: 1 }, vector: [1, 0] },
      ]);
      await database.delete({ ids: [3] });
      const { columns, records, sizes, times } = await database.describe();
      expect(records).toBe(2);
      // In the order of their first values.
      expect(columns).toEqual([
        { name: 'none', types: ['null'], records: 1 },
        { name: 'a', types: ['string', 'number'], records: 2 },
        { name: 'b', types: ['string'], records: 1 },
        { name: 'c', types: ['boolean'], records: 1 },
      ]);
      expect(sizes.disk_bytes).toBeGreaterThan(0);
      expect(Date.parse(times.last_write_at)).toBeGreaterThanOrEqual(Date.parse(times.created_at));
    });

    test('all databases are listed', async () => {
      const ids = [(await shared.create()).id, (await shared.create({})).id];
      const listed = await shared.databases.catalog.list();
      for (const database of listed) checkSchema('DatabaseDescription', database);
      const names = listed.map(({ id }) => id);
      expect(names).toEqual(names.toSorted());
      expect(names).toEqual(expect.arrayContaining(ids));
      expect(new Set(names).size).toBe(names.length);
    });

    test('databases do not see each other', async () => {
      const [one, other] = [await shared.create(), await shared.create()];
      await one.upsert([
        { id: 1, uuid: '00000000-0000-4000-8000-000000000001', data: { n: 1 }, vector: [1, 0] },
      ]);
      expect(await other.ids('search', { search: { vector: [1, 0] } })).toEqual([]);
      expect(await other.history()).toEqual([]);
      await other.upsert([
        { id: 1, uuid: '00000000-0000-4000-8000-000000000001', data: { n: 2 }, vector: [1, 0] },
      ]);
      expect((await one.record(1)).data).toEqual({ n: 1 });
      expect(await other.delete({ ids: [1] })).toBe(1);
      expect(await one.count()).toBe(1);
    });

    test.each(['error', 'constructor', '__proto__', '-', '_', '0', 'a'.repeat(64)])(
      '%j is an ordinary id',
      async (id) => {
        const { created } = await shared.databases.catalog.create(id, { dimensions: 2 });
        expect(created).toBe(true);
        const database = new TestDatabase(shared.opened, id);
        await database.put({ id: 1, data: {}, vector: [1, 0] });
        expect(await database.ids('search', { search: { vector: [1, 0] } })).toEqual([1]);
        await shared.databases.catalog.drop(id);
        await expect(database.describe()).rejects.toMatchObject({ code: 'database_not_found' });
      },
    );

    test('what is dropped is gone, for every operation', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: {}, vector: [1, 0] });
      const { databases, id } = database;
      await databases.catalog.drop(id);
      const operations = {
        describe: () => database.describe(),
        drop: () => databases.catalog.drop(id),
        upsert: () => database.put({ id: 1, data: {}, vector: [1, 0] }),
        'upsert of lines': () => database.upsertLines('{"data":{},"vector":[1,0]}'),
        record: () => database.record(1),
        delete: () => database.delete({ ids: [1] }),
        search: () => database.search({ search: { vector: [1, 0] } }),
        query: () => database.query(),
        changes: () => database.changes(),
        'start of a re-embedding': () => databases.reembeddings.start(id, 'all-MiniLM-L6-v2'),
        're-embedding': () => databases.reembeddings.find(id),
        'cancelled re-embedding': () => databases.reembeddings.cancel(id),
      };
      for (const [name, operation] of Object.entries(operations)) {
        await expect(operation(), name).rejects.toMatchObject({ code: 'database_not_found', status: 404 });
      }
      expect((await databases.catalog.list()).map(({ id }) => id)).not.toContain(id);
    });

    test('a database that is created again is empty, and may have other settings', async () => {
      const database = await shared.create();
      await database.put({ id: 7, data: { old: 1 }, vector: [1, 0] });
      await shared.databases.catalog.drop(database.id);
      const { created } = await shared.databases.catalog.create(database.id, { dimensions: 3 });
      expect(created).toBe(true);
      expect(await database.describe()).toMatchObject({ records: 0, dimensions: 3, columns: [] });
      expect(await database.ids('query', {})).toEqual([]);
      expect(await database.history()).toEqual([]);
      const { results } = await database.upsert([{ data: {}, vector: [1, 0, 0] }]);
      expect(results[0]!.id).toBe(1);
    });

    test('the state includes every database', async () => {
      const database = await shared.create();
      await database.put({ id: 1, data: {}, vector: [1, 0] });
      const { databases } = shared;
      await databases.ready;
      expect(await databases.catalog.loadModels()).toEqual([]);
      expect(await databases.readiness()).toEqual({ ready: true, reasons: [] });
      const states = await databases.monitor.states();
      expect(states).toContainEqual({ id: database.id, loaded: true, writable: true, records: 1 });
      const stats = await databases.monitor.stats();
      expect(stats.databases?.map(({ id }) => id).toSorted()).toEqual(states.map(({ id }) => id).toSorted());
      expect(stats.databases).toContainEqual({
        id: database.id,
        loaded: true,
        writable: true,
        records: 1,
        memoryBytes: expect.any(Number),
        diskBytes: expect.any(Number),
      });
    });
  });
}
