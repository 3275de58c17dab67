import { describe, expect, test } from 'vitest';
import type { Data } from '../../src/schema/index.js';
import { FLATTENED } from '../helpers/flattened.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { contentOf } from './patch-oracle.js';
import { expectRefusal } from './refusal.js';
import { timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';

type Nested = { [name: string]: unknown };

/** The setting `flatten`: objects in records are columns. */
export function describeNested(open: OpenDatabases): void {
  describe('nested objects', () => {
    const shared = SharedDatabases.use(open);

    test('are the columns that the golden file says, or are refused with a pointer', async () => {
      const database = await shared.create({ dimensions: 2, flatten: true });
      for (const { name, data: text, flat, problem } of FLATTENED) {
        const data = text.replaceAll('\n', ' ');
        const line = `{"id":1,"data":${data},"vector":[1,0]}`;
        const events = await database.upsertLines(`${line}\n`);
        if (problem === null) {
          expect(events.at(-1), name).toMatchObject({ type: 'summary', failed: 0 });
          const text = Buffer.from(
            await database.databases.reader.record(database.id, '1', { form: 'integer' }, {}),
          ).toString();
          expect(text, name).toContain(`"data":${flat},"timestamps"`);
        } else {
          expect(events[0], name).toMatchObject({ type: 'problem', ...problem });
          const pointer = `/records/0${problem.pointer}`;
          const code = problem.code === 'invalid_column' ? 'invalid_record' : 'invalid_json';
          await expectRefusal(database.upsert(`{"records":[${line}]}`), code, pointer);
        }
      }
    });

    test('are equal to the same data that is sent flat (seed 35)', async () => {
      const random = new Random(35);
      const [nested, flat] = [
        await shared.create({ dimensions: 2, flatten: true }),
        await shared.create({ dimensions: 2 }),
      ];
      const documents = Array.from({ length: 200 }, () => randomDocument(random, 3));
      const recordsOf = (datas: object[]) =>
        datas.map((data, at) => ({ id: at + 1, data, vector: [1, at % 9] }));
      const columns = documents.map(flattened);
      for (const [database, datas] of [
        [nested, documents],
        [flat, columns],
      ] as const) {
        const records = recordsOf(datas);
        await database.upsert(records.slice(0, 80));
        await database.upsertLines(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      }
      const all = (database: typeof nested) =>
        Promise.all([
          database.drain('query', {}).then((results) => results.map(({ id, data }) => [id, data])),
          database.describe().then((description) => description.columns),
          database.ids('query', { filter: { rules: [{ column: 'a.b', operator: 'is_not_empty' }] } }),
          database.ids('query', { sort: { column: 'b.a.c' } }),
          database.query({ facets: [{ column: 'c.a' }, { column: 'b' }] }).then(({ facets }) => facets),
          database
            .search({ search: { vector: [1, 4] } })
            .then(({ results }) => results.map(({ id, relevance_score }) => [id, relevance_score])),
        ]);
      expect(await all(nested)).toEqual(await all(flat));
      // The same data changes nothing, in either form.
      for (const datas of [documents, columns]) {
        expect((await nested.upsert(recordsOf(datas))).unchanged).toBe(200);
        const lines = recordsOf(datas).map((record) => `${JSON.stringify(record)}\n`);
        expect((await nested.replaceLines(lines.join(''))).at(-1)).toMatchObject({
          unchanged: 200,
          deleted: 0,
        });
      }
    });

    test('are patched as JSON Merge Patch says of the object (seed 36)', async () => {
      const random = new Random(36);
      const database = await shared.create({ dimensions: 2, flatten: true });
      let document: Nested = {};
      await database.put({ id: 1, data: document, vector: [1, 0] });
      for (let round = 0; round < timesOn(open, inFull(300, 100), 30); round++) {
        const patch = randomDocument(random, 3);
        document = merged(document, patch) as Nested;
        const { data } = await database.patch(1, patch);
        expect(contentOf(data), `round ${round}: ${JSON.stringify(patch)}`).toBe(
          contentOf(flattened(document)),
        );
        expect((await database.record(1)).data).toEqual(data);
        if (random.chance(10)) document = randomDocument(random, 3);
        await database.put({ id: 1, data: document, vector: [1, 0] });
      }
    });

    test('a null in a patch of a column with a value changes nothing outside of it', async () => {
      const database = await shared.create({ dimensions: 2, flatten: true });
      await database.put({ id: 1, data: { a: 1, b: { c: 2, d: 3 }, bc: 4 }, vector: [1, 0] });
      expect((await database.patch(1, { a: { x: null } })).data).toEqual({ a: 1, 'b.c': 2, 'b.d': 3, bc: 4 });
      expect((await database.patch(1, { b: {} })).data).toEqual({ a: 1, 'b.c': 2, 'b.d': 3, bc: 4 });
      expect((await database.patch(1, { b: null })).data).toEqual({ a: 1, bc: 4 });
      await expectRefusal(database.patch(1, { 'e.f': 1, e: { f: 2 } }), 'invalid_record', '/data/e/f');
    });

    test('are columns that are embedded, also after a change of these', async () => {
      const { catalog, reembeddings } = shared.databases;
      const database = await shared.create({ embed: { columns: ['a.b'] }, flatten: true });
      await database.upsert([{ id: 1, data: { a: { b: 'a tower of iron', c: 'bread and salt' } } }]);
      const score = async (text: string) =>
        (await database.search({ search: { text, threshold: 0 } })).results[0]?.relevance_score;
      expect(await score('a tower of iron')).toBe(1);
      await catalog.configure(database.id, { embed: { columns: ['a.c'] } });
      await expect.poll(async () => (await reembeddings.find(database.id)).state).toBe('done');
      expect(await score('bread and salt')).toBe(1);
      expect(await database.describe()).toMatchObject({ flatten: true, embed: { columns: ['a.c'] } });
      await database.patch(1, { a: { c: 'a cello' } });
      expect(await score('a cello')).toBe(1);
    });

    test('are refused without the setting, which can be changed at any time', async () => {
      const { catalog } = shared.databases;
      const database = await shared.create({ dimensions: 2 });
      const record = { id: 1, data: { a: { b: 1 }, c: [[1]] }, vector: [1, 0] };
      const isRefused = async () => {
        const refusal = await database.upsert([record]).catch((error) => error);
        expect(refusal.problems).toMatchObject([
          { pointer: '/records/0/data/a', code: 'wrong_type', detail: expect.stringContaining('flatten') },
          { pointer: '/records/0/data/c/0', code: 'wrong_type' },
        ]);
      };
      await isRefused();
      expect(await database.describe()).not.toHaveProperty('flatten');
      expect(await catalog.configure(database.id, { flatten: true })).toMatchObject({ flatten: true });
      expect((await database.upsert([record])).created).toBe(1);
      expect((await database.record(1)).data).toEqual({ 'a.b': 1, c: '[[1]]' });
      // What is stored stays as it is, and a patch is one of columns again.
      expect(await catalog.configure(database.id, { flatten: null })).not.toHaveProperty('flatten');
      await isRefused();
      expect((await database.patch(1, { a: 5 })).data).toEqual({ 'a.b': 1, c: '[[1]]', a: 5 });
      await catalog.configure(database.id, { flatten: true });
      expect((await database.patch(1, { a: 6 })).data).toEqual({ c: '[[1]]', a: 6 });
      // A database that exists is created again only with the same setting.
      await expect(catalog.create(database.id, { dimensions: 2, flatten: true })).resolves.toMatchObject({
        created: false,
      });
      await expectRefusal(catalog.create(database.id, { dimensions: 2, flatten: false }), 'database_exists');
    });
  });
}

function randomDocument(random: Random, depth: number): Nested {
  const names = ['a', 'b', 'c'].filter(() => random.chance(70));
  return Object.fromEntries(names.map((name) => [name, randomValue(random, depth)]));
}

function randomValue(random: Random, depth: number): unknown {
  if (depth > 0 && random.chance(60)) return randomDocument(random, depth - 1);
  const values = ['x', 'a "b"\n', 1.5, true, null, [], ['x', 2], [null], [[1]], [{ a: {} }]];
  return random.pick(values);
}

function isObject(value: unknown): value is Nested {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON Merge Patch (RFC 7396), except that an object without a value changes nothing where there is no object. */
function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  if (!isObject(target) && !hasValue(patch)) return target;
  const members = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    const member = value === null ? undefined : merged(members.get(name), value);
    if (member === undefined) members.delete(name);
    else members.set(name, member);
  }
  return Object.fromEntries(members);
}

function hasValue(patch: unknown): boolean {
  return isObject(patch) ? Object.values(patch).some(hasValue) : patch !== null;
}

function flattened(document: Nested): Data {
  const columns: [string, unknown][] = [];
  const add = (name: string, value: unknown) => {
    if (isObject(value)) for (const [member, inner] of Object.entries(value)) add(`${name}.${member}`, inner);
    else columns.push([name, isNestedList(value) ? JSON.stringify(value) : value]);
  };
  for (const [name, value] of Object.entries(document)) add(name, value);
  return Object.fromEntries(columns) as Data;
}

function isNestedList(value: unknown): boolean {
  return Array.isArray(value) && value.some((element) => typeof element === 'object');
}
