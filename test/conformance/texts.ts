import { beforeAll, describe, expect, test } from 'vitest';
import type { OpenDatabases } from './open-databases.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

const FACTS = [
  'The Eiffel Tower was the tallest building in the world.',
  'A violin has four strings.',
  'Glaciers are slowly moving masses of ice.',
  'The falcon is the fastest bird.',
  'Bread is made of flour, water and yeast.',
];

/** Searches by text in databases with the built-in model. */
export function describeTexts(open: OpenDatabases): void {
  describe('searches by text', () => {
    const shared = SharedDatabases.use(open);

    test('find by meaning, most relevant first', async () => {
      const database = await shared.create({});
      const { model, dimensions } = await database.describe();
      expect([model, dimensions]).toEqual(['all-MiniLM-L6-v2', 384]);
      await database.upsert(FACTS.map((text, at) => ({ id: at + 1, data: { text } })));
      for (const [text, expected] of [
        ['a very high structure', 1],
        ['music', 2],
        ['frozen water', 3],
        ['a flying animal', 4],
        ['baking', 5],
      ] as const) {
        const { results } = await database.search({ search: { text, threshold: 0 } });
        expect(results, text).toHaveLength(5);
        expect(results[0]!.id, text).toBe(expected);
        const scores = results.map(({ relevance_score }) => relevance_score!);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        const threshold = scores[1]!;
        const better = await database.search({ search: { text, threshold } });
        expect(better.results).toEqual(results.slice(0, 2));
      }
    });

    test('have the same scores in every database, batch and repetition', async () => {
      const [one, other] = [await shared.create({}), await shared.create({})];
      const records = FACTS.map((text, at) => ({ id: at + 1, data: { text } }));
      await one.upsert(records);
      for (const record of records.toReversed()) await other.put(record);
      for (const text of ['ice', 'a loaf of bread']) {
        const search = { search: { text, threshold: 0 } };
        const scores = async (database: TestDatabase) =>
          (await database.search(search)).results.map(({ id, relevance_score }) => [id, relevance_score]);
        const expected = await scores(one);
        expect(await scores(other)).toEqual(expected);
        expect(await Promise.all([scores(one), scores(one), scores(other)])).toEqual([
          expected,
          expected,
          expected,
        ]);
      }
    });

    test('a record is found by the very text that is embedded: chosen columns in their order', async () => {
      const database = await shared.create({ embed: { columns: ['title', 'body'] } });
      const data = { body: 'It has four strings.', title: 'Violin', hidden: 'Glaciers are made of ice.' };
      await database.upsert([
        { id: 1, data },
        { id: 2, data: { title: 'Violin', body: 'It has four strings.' } },
        { id: 3, data: { title: 'It has four strings.', body: 'Violin' } },
      ]);
      const { results } = await database.search({ search: { text: 'an instrument', threshold: 0 } });
      const score = new Map(results.map(({ id, relevance_score }) => [id, relevance_score]));
      expect(score.get(1), 'other columns do not count').toBe(score.get(2));
      expect(score.get(1), 'the order of the columns counts').not.toBe(score.get(3));
    });

    test('by default every string column is embedded', async () => {
      const database = await shared.create({});
      await database.upsert([
        { id: 1, data: { n: 1, kind: 'instrument', name: 'violin' } },
        { id: 2, data: { n: 2, kind: 'instrument', name: 'violin', open: true, none: null } },
        { id: 3, data: { n: 1, kind: 'instrument' } },
      ]);
      const { results } = await database.search({ search: { text: 'violin', threshold: 0 } });
      const score = new Map(results.map(({ id, relevance_score }) => [id, relevance_score]));
      expect(score.get(1), 'numbers and booleans do not count').toBe(score.get(2));
      expect(score.get(3)).toBeLessThan(score.get(1)!);
    });

    test('numbers and booleans of chosen columns are text', async () => {
      const database = await shared.create({ embed: { columns: ['a', 'b'] } });
      await database.upsert([
        { id: 1, data: { a: 5, b: true } },
        { id: 2, data: { a: '5', b: 'true' } },
        { id: 3, data: { a: '5', b: false } },
      ]);
      const { results } = await database.search({ search: { text: 'five', threshold: 0 } });
      const score = new Map(results.map(({ id, relevance_score }) => [id, relevance_score]));
      expect(score.get(1)).toBe(score.get(2));
      expect(score.get(1)).not.toBe(score.get(3));
    });

    test('a change of another column than those embedded keeps the score; a change of text is found', async () => {
      const database = await shared.create({ embed: { columns: ['text'] } });
      const search = { search: { text: 'music', threshold: 0 } };
      await database.put({ id: 1, data: { text: FACTS[1], n: 1 } });
      const [before] = (await database.search(search)).results;
      expect(await database.put({ id: 1, data: { text: FACTS[1], n: 2 } })).toBe('changed');
      const [after] = (await database.search(search)).results;
      expect(after).toMatchObject({ relevance_score: before!.relevance_score, data: { n: 2 } });
      await database.put({ id: 1, data: { text: FACTS[2], n: 2 } });
      const [changed] = (await database.search(search)).results;
      expect(changed!.relevance_score).toBeLessThan(before!.relevance_score!);
    });

    test('filter, paging, totals and the forced filter hold for them too', async () => {
      const database = await shared.create({ embed: { columns: ['text'] } });
      await database.upsert(FACTS.map((text, at) => ({ id: at + 1, data: { text, even: at % 2 === 0 } })));
      const request = { search: { text: 'an animal', threshold: 0 } };
      const all = await database.drain('search', request, { limit: () => 1 });
      expect(all.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4, 5]);
      const filter = {
        condition: 'AND' as const,
        rules: [{ column: 'even', operator: 'equals' as const, value: true }],
      };
      const expected = all.filter(({ data }) => data.even);
      expect(await database.drain('search', { ...request, filter }, { limit: () => 2 })).toEqual(expected);
      const page = await database.search({ ...request, total: true }, { forcedFilter: filter });
      expect(page).toMatchObject({ total: { value: 3 }, results: expected });
    });

    test('records come as lines too', async () => {
      const database = await shared.create({});
      const lines = FACTS.map((text, at) => JSON.stringify({ id: at + 1, data: { text } })).join('\n');
      expect((await database.upsertLines(lines)).at(-1)).toMatchObject({ created: 5, failed: 0 });
      const batch = await shared.create({});
      await batch.upsert(FACTS.map((text, at) => ({ id: at + 1, data: { text } })));
      const search = { search: { text: 'ice', threshold: 0 } };
      const scores = async (database: TestDatabase) =>
        (await database.search(search)).results.map(({ id, relevance_score }) => [id, relevance_score]);
      expect(await scores(database)).toEqual(await scores(batch));
    });
  });

  describe('records without text', () => {
    const shared = SharedDatabases.use(open);
    const WITHOUT = [
      {},
      { text: null },
      { text: '' },
      { text: ' \n\t' },
      { text: '\u200b\u200d' },
      { other: 'a car' },
    ];
    let database: TestDatabase;
    beforeAll(async () => {
      database = await shared.create({ embed: { columns: ['text'] } });
      const contents = [{ text: 'a cat' }, { text: 'a dog' }, ...WITHOUT];
      const result = await database.upsert(
        contents.map((data, at) => ({ id: at + 1, data: { n: at, ...data } })),
      );
      expect(result.created).toBe(contents.length);
    });

    test('are found by no search, and are not counted by it', async () => {
      for (const text of ['car', 'a cat', 'text']) {
        const search = { search: { text, threshold: 0 }, total: true, facets: [{ column: 'n' }] };
        const page = await database.search(search);
        expect(page.results.map(({ id }) => id).toSorted()).toEqual([1, 2]);
        expect(page.total).toEqual({ value: 2 });
        expect(page.facets).toMatchObject([{ values: [{ count: 1 }, { count: 1 }], other: 0, missing: 0 }]);
        expect(new Set(await database.ids('search', search, { limit: () => 1 }))).toEqual(new Set([1, 2]));
      }
    });

    test('are listed, counted, read and in the change feed', async () => {
      const all = WITHOUT.length + 2;
      const page = await database.query({ total: true, facets: [{ column: 'n' }] });
      expect(page.results).toHaveLength(all);
      expect(page.total).toEqual({ value: all });
      expect(page.facets).toMatchObject([{ other: 0, missing: 0 }]);
      expect(await database.count()).toBe(all);
      expect((await database.record(5)).data).toEqual({ n: 4, text: '' });
      expect(await database.history()).toHaveLength(all);
    });

    test('are found from the moment that they have a text, and not after they lose it', async () => {
      const search = { search: { text: 'an animal', threshold: 0 } };
      const ids = async () => (await database.ids('search', search)).toSorted();
      await database.put({ id: 4, data: { text: 'a bird' } });
      expect(await ids()).toEqual([1, 2, 4]);
      await database.put({ id: 4, data: { text: '' } });
      expect(await ids()).toEqual([1, 2]);
      const bySort = await database.ids('query', { sort: { column: 'none' } });
      expect(bySort).toHaveLength(WITHOUT.length + 2);
    });
  });
}
