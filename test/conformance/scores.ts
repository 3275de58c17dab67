import { describe, expect, test } from 'vitest';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { timesOn } from './rounds.js';
import { relevanceScore } from './score.js';
import { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

/** Relevance scores of own vectors: the same bits on every store. */
export function describeScores(open: OpenDatabases): void {
  describe('relevance scores', () => {
    const shared = SharedDatabases.use(open);
    const scores = async (database: TestDatabase, vector: number[], threshold = 0) =>
      (await database.drain('search', { search: { vector, threshold } })).map(
        ({ id, relevance_score }) => [id, relevance_score] as const,
      );

    test.each([
      ['a copy', [3, 4], 1],
      ['the same direction', [0.3, 0.4], 1],
      ['an obtuse angle', [-3, -1], 0],
      ['a right angle', [-4, 3], 0],
      ['60 degrees', [3 - 4 * Math.sqrt(3), 4 + 3 * Math.sqrt(3)], 0.5],
      ['a part of the direction', [5, 0], 0.6],
      ['tiny numbers', [3e-30, 4e-30], 1],
      ['huge numbers', [3e37, 4e37], 1],
    ])('%s', async (_, vector, expected) => {
      const database = await shared.create();
      await database.put({ id: 1, data: {}, vector: [3, 4] });
      const { results } = await database.search({ search: { vector, threshold: 0 } });
      expect(results.map(({ relevance_score }) => relevance_score)).toEqual([expected]);
    });

    test.each([8, 16])(
      'are those of the published rule to the last digit, in %i dimensions (seed 71)',
      async (size) => {
        const random = new Random(71);
        const draw = () => Array.from({ length: size }, () => random.next() * 2 - 0.6);
        const database = await shared.create({ dimensions: size });
        // Vectors that fill all bits of a double, near copies of them, and multiples.
        const vectors = Array.from({ length: 60 }, draw);
        for (const [at, vector] of vectors.slice(0, 20).entries()) {
          // Scores on both sides of what counts as 1.
          const distance = at % 2 === 0 ? 1e-4 : 2e-3;
          vectors.push(vector.map((value) => value + (random.next() - 0.5) * distance));
          vectors.push(vector.map((value) => value * 7.3));
          vectors.push(vector.map((value) => -value));
        }
        await database.upsert(vectors.map((vector, at) => ({ id: at + 1, data: {}, vector })));
        let near = 0;
        for (let round = 0; round < timesOn(open, 20, 10); round++) {
          const query = round % 2 === 0 ? draw() : random.pick(vectors);
          const expected = vectors
            .map((vector, at) => [at + 1, relevanceScore(query, vector)] as const)
            .sort(([a, scoreOfA], [b, scoreOfB]) => scoreOfB - scoreOfA || a - b);
          near += expected.filter(([, score]) => score > 0.99999 && score < 1).length;
          expect(await scores(database, query), JSON.stringify(query)).toEqual(expected);
        }
        expect(near, 'some scores are just below 1').toBeGreaterThan(0);
      },
    );

    test('without a threshold, a record needs 0.2 times the weight of meaning', async () => {
      const database = await shared.create({ dimensions: 2, lexical: true });
      // The cosine with [1, 0] is `cosine`, and no record has the word.
      const cosines = [0.3, 0.21, 0.2, 0.19, 0.1];
      const vectors = cosines.map((cosine) => [cosine, Math.sqrt(1 - cosine * cosine)]);
      await database.upsert(vectors.map((vector, at) => ({ id: at + 1, data: { text: 'a' }, vector })));
      const idsOf = async (search: object) => {
        const page = await database.search({ search: { vector: [1, 0], ...search }, total: true });
        expect(page.total).toMatchObject({ value: page.results.length });
        return page.results.map(({ id }) => id);
      };
      expect(await idsOf({})).toEqual([1, 2, 3]);
      for (const lexical of [0, 0.1, 0.3, 0.6, 0.7, 0.9]) {
        expect(await idsOf({ lexical, text: 'word' }), `weight ${lexical}`).toEqual([1, 2, 3]);
      }
      expect(await idsOf({ lexical: 1, text: 'word' })).toEqual([1, 2, 3, 4, 5]);
      expect(await idsOf({ lexical: 0.5, text: 'word', threshold: 0.2 })).toEqual([]);

      // A cursor continues with the threshold that the first page had, named or not.
      const search = { vector: [1, 0], text: 'word', lexical: 0.3 };
      const first = await database.search({ search, pagination: { limit: 1 } });
      const pagination = { cursor: first.pagination.next_cursor };
      const rest = await database.search({ search: { ...search, threshold: 0.14 }, pagination });
      expect(rest.results.map(({ id }) => id)).toEqual([2, 3]);
    });

    test('the beginning of the last word finds the words that it may become, the shortest first', async () => {
      const database = await shared.create({ dimensions: 2, lexical: true });
      const names = ['glov', 'glove', 'gloves', 'gloveboxes', 'glow', 'plover', 'hammer'];
      const record = (name: string, at: number) => ({
        id: names.length - at,
        data: { name: `leather ${name} for winter` },
        vector: [0.6, 0.8],
      });
      await database.upsert(names.map(record));
      const found = async (search: object) => {
        const request = { search: { vector: [1, 0], text: 'winter glov', threshold: 0, ...search } };
        const { results } = await database.search(request);
        return results.map(
          ({ data, relevance_score }) => [String(data.name).split(' ')[1] ?? '', relevance_score] as const,
        );
      };
      const typed = await found({ lexical: 1, prefix: true });
      expect(typed.slice(0, 5).map(([name]) => name)).toEqual(names.slice(0, 5));
      expect(new Set(typed.slice(0, 6).map(([, score]) => score)).size).toBe(6);
      const complete = new Map(await found({ lexical: 1 }));
      for (const [name, score] of typed) {
        const before = complete.get(name) as number;
        if (name.startsWith('gloves') || name.startsWith('glovebox'))
          expect(score, name).toBeGreaterThan(before);
        else expect(score, name).toBeLessThanOrEqual(before);
      }
      expect(await found({ lexical: 0, prefix: true })).toEqual(await found({ lexical: 0 }));
    });

    test('up to 64 steps of 1e-9 below 1 count as 1', async () => {
      const database = await shared.create();
      // The cosine with [1, 0] is `steps` steps below 1.
      const vectors = Array.from({ length: 20 }, (_, at) => {
        const cosine = 1 - (54 + at) * 1e-9;
        return [cosine, Math.sqrt(1 - cosine * cosine)];
      });
      await database.upsert(vectors.map((vector, at) => ({ id: at + 1, data: {}, vector })));
      const found = new Map(await scores(database, [1, 0]));
      expect([...found.values()].toSorted()).toEqual([
        ...Array.from({ length: 9 }, (_, at) => Number((1 - (73 - at) * 1e-9).toFixed(9))),
        ...Array(11).fill(1),
      ]);
      for (const [at, vector] of vectors.entries()) {
        expect(found.get(at + 1), `${54 + at} steps`).toBe(relevanceScore([1, 0], vector));
      }
    });

    test('are the same whatever filter, page, threshold or batch', async () => {
      const random = new Random(72);
      const draw = () => Array.from({ length: 12 }, () => random.next() * 2 - 0.7);
      const [one, other] = [await shared.create({ dimensions: 12 }), await shared.create({ dimensions: 12 })];
      const records = Array.from({ length: 80 }, (_, at) => ({
        id: at + 1,
        data: { n: at % 4 },
        vector: draw(),
      }));
      await one.upsert(records);
      for (const record of records.toReversed()) await other.put(record);
      const query = draw();
      const expected = new Map(await scores(one, query));
      expect(new Set(expected.values()).size).toBeGreaterThan(40);
      const requests = [
        { search: { vector: query, threshold: 0 } },
        { search: { vector: query, threshold: 0.3 } },
        {
          search: { vector: query, threshold: 0 },
          filter: { rules: [{ column: 'n', operator: 'equals', value: 2 }] },
        },
        { search: { vector: query, threshold: 0 }, total: true, facets: [{ column: 'n' }] },
        { search: { vector: query.map((value) => value * 3), threshold: 0 }, explain: true },
      ];
      for (const database of timesOn(open, [one, other], [other])) {
        for (const request of requests) {
          for (const limit of [3, 100]) {
            const found = await database.drain('search', request, { limit: () => limit });
            expect(found.length).toBeGreaterThan(5);
            for (const { id, relevance_score } of found) expect(relevance_score).toBe(expected.get(id));
          }
        }
      }
      const together = await Promise.all(Array.from({ length: 12 }, () => scores(one, query)));
      for (const found of together) expect(new Map(found)).toEqual(expected);
    });

    test('a score that equals the threshold passes, one step below does not', async () => {
      const database = await shared.create();
      // Cosines with [1, 0] of 0.6, 0.2 (the default threshold) and just below each.
      const vectors = [
        [0.6, 0.8],
        [0.2, Math.sqrt(0.96)],
        [0.599999998, 0.8000000015],
        [0.199999998, Math.sqrt(0.96)],
      ];
      await database.upsert(vectors.map((vector, at) => ({ id: at + 1, data: {}, vector })));
      const all = new Map(await scores(database, [1, 0]));
      expect([all.get(1), all.get(2)]).toEqual([0.6, 0.2]);
      expect(all.get(3)).toBeLessThan(0.6);
      expect(all.get(4)).toBeLessThan(0.2);
      const found = async (threshold?: number) =>
        (
          await database.search({ search: { vector: [1, 0], ...(threshold !== undefined && { threshold }) } })
        ).results.map(({ id }) => id);
      expect(await found(0.6)).toEqual([1]);
      expect(await found(0.6 + 1e-12)).toEqual([]);
      expect(await found(all.get(3) as number)).toEqual([1, 3]);
      expect(await found(0.2)).toEqual([1, 3, 2]);
      expect(await found(), 'the default is 0.2').toEqual([1, 3, 2]);
      expect(await found(0)).toEqual([1, 3, 2, 4]);
      expect(await found(1)).toEqual([]);
    });

    test('a threshold of 1 finds copies, at any length', async () => {
      const random = new Random(73);
      const database = await shared.create({ dimensions: 12 });
      const vectors = Array.from({ length: 50 }, () => Array.from({ length: 12 }, () => random.next() - 0.5));
      await database.upsert(vectors.map((vector, at) => ({ id: at + 1, data: {}, vector })));
      for (const [at, vector] of vectors.entries()) {
        const copy = vector.map((value) => value * 3);
        expect(await scores(database, copy, 1)).toEqual([[at + 1, 1]]);
      }
    });

    test('a threshold of 0 finds every record, obtuse angles included', async () => {
      const database = await shared.create();
      await database.upsert([
        { id: 1, data: {}, vector: [-1, 0] },
        { id: 2, data: {}, vector: [0, 1] },
        { id: 3, data: {}, vector: [-1, 0.001] },
      ]);
      expect(await scores(database, [1, 0])).toEqual([
        [1, 0],
        [2, 0],
        [3, 0],
      ]);
    });

    test('follow a record whose vector changes', async () => {
      const database = await shared.create();
      for (const [vector, expected] of [
        [[1, 0], 1],
        [[3, 4], 0.6],
        [[0, 1], 0],
        [[1, 0], 1],
      ] as const) {
        await database.put({ id: 1, data: {}, vector });
        expect(await scores(database, [1, 0])).toEqual([[1, expected]]);
      }
    });

    test('one dimension, and 4,096', async () => {
      const line = await shared.create({ dimensions: 1 });
      await line.upsert([
        { id: 1, data: {}, vector: [-5] },
        { id: 2, data: {}, vector: [0.1] },
      ]);
      expect(await scores(line, [2])).toEqual([
        [2, 1],
        [1, 0],
      ]);
      const wide = await shared.create({ dimensions: 4_096 });
      const random = new Random(74);
      const vectors = [0, 1].map(() => Array.from({ length: 4_096 }, () => random.next() - 0.3));
      await wide.upsert(vectors.map((vector, at) => ({ id: at + 1, data: {}, vector })));
      const [first, second] = vectors as [number[], number[]];
      expect(await scores(wide, first)).toEqual([
        [1, 1],
        [2, relevanceScore(first, second)],
      ]);
    });
  });
}
