import { describe, expect, test } from 'vitest';
import { satisfies } from '../../bench/data/predicate.js';
import type { Data } from '../../src/schema/index.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import { countFacet } from './facet-oracle.js';
import type { OpenDatabases } from './open-databases.js';
import { given, type KnownRecord, type Like, type OracleRequest } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector } from './random-records.js';
import { expectRefusal as refused } from './refusal.js';
import { seedsOn, timesOn } from './rounds.js';
import { exampleVector, relevanceScore } from './score.js';
import { SharedDatabases } from './shared-databases.js';
import type { Result } from './test-database.js';

const SEEDS = [61, 62];

/** `search.like`: records that are examples of what a search is for. */
export function describeExamples(open: OpenDatabases): void {
  describe('a search by examples', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, SEEDS))(
      'is that of the oracle in any request, on any pages (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database, records, oracle } = await randomDatabase(shared, random, 150);
        for (let round = 0; round < timesOn(open, 40, 12); round++) {
          const form = random.pick(RECORD_FORMS);
          const forcedFilter = random.chance(30) ? randomFilter(random, 1) : undefined;
          const seen = records.filter(
            ({ data }) => forcedFilter === undefined || satisfies(data, forcedFilter),
          );
          if (seen.length === 0) continue;
          const request: OracleRequest = {
            search: { like: randomLike(random, seen), threshold: random.pick([0, 0.2, 0.6]) },
            ...(random.chance(40) && { filter: randomFilter(random, 2) }),
            ...(random.chance(30) && { time_range: { start_time: '2026-01-01T00:00:20Z' } }),
            ...(random.chance(30) && { columns: ['size', 'colour'] }),
          };
          const counting = random.chance(40);
          const extras = { ...(counting && { total: true, explain: true }), vectors: random.chance(30) };
          const asking = { form, ...(forcedFilter && { forcedFilter }) };
          const limit = () => random.pick([3, 20, 100]);
          const found = await database.drain('search', { ...request, ...extras }, { ...asking, limit });
          const expected = oracle.results(request, form, forcedFilter);
          expect(found.map(withoutExtras), JSON.stringify(request)).toEqual(expected);
          if (!counting) continue;
          const facets = [{ column: 'open' }];
          const counted = await database.search({ ...request, total: true, facets }, asking);
          expect(counted.total).toEqual({ value: expected.length });
          const matches = oracle.matches(request, form, forcedFilter);
          expect(counted.facets).toEqual([countFacet(matches, { column: 'open' })]);
        }
      },
    );

    test('for one record is a search by its vector, bit for bit, without the record', async () => {
      const random = new Random(63);
      const { database, records } = await randomDatabase(shared, random, 60);
      const { id } = random.pick(records);
      const { vector } = await database.record(id, 'integer', undefined, true);
      const byVector = await database.drain('search', { search: { vector, threshold: 0 } });
      const like = await database.drain('search', { search: { like: { positive: [id] }, threshold: 0 } });
      expect(like).toEqual(byVector.filter((result) => result.id !== id));
      expect(like).toHaveLength(byVector.length - 1);
    });

    test.each(['changed', 'deleted'])(
      'is the same on all its pages, though an example is %s meanwhile',
      async (what) => {
        const random = new Random(64);
        const { database, records, oracle } = await randomDatabase(shared, random, 90);
        const [first, second, third] = records as [KnownRecord, KnownRecord, KnownRecord];
        const like = { positive: [first.id, second.uuid], negative: [third.id] };
        const request = { search: { like, threshold: 0 } };
        for (const form of RECORD_FORMS) {
          await database.upsert([first, third].map(given));
          const expected = oracle.results(request, form);
          const change = async () => {
            if (what === 'deleted') await database.delete({ ids: [first.id] });
            else
              await database.upsert(
                [first, third].map((example) => ({ ...given(example), vector: randomVector(random) })),
              );
          };
          let pages = 0;
          const found = await database.drain('search', request, {
            form,
            limit: () => 7,
            between: async () => {
              pages += 1;
              if (pages % 3 === 1) await change();
            },
          });
          expect(found).toEqual(expected);
        }
      },
    );

    test('takes the position alone from the cursor of another search', async () => {
      const random = new Random(65);
      const { database, records, oracle } = await randomDatabase(shared, random, 60);
      const [first, second] = records as [KnownRecord, KnownRecord];
      const search = (id: number) => ({ search: { like: { positive: [id] }, threshold: 0 } });
      const { pagination } = await database.search({ ...search(first.id), pagination: { limit: 5 } });
      const cursor = pagination.next_cursor as string;
      expect(cursor).toMatch(/^[01](\.\d+)?_\d+~[\w-]+$/);
      const [position] = cursor.split('~') as [string];
      const ofOthers = search(second.id);
      const pages = [cursor, position].map((cursor) =>
        database.search({ ...ofOthers, pagination: { cursor } }).then(({ results }) => results),
      );
      const [continued, expected] = await Promise.all(pages);
      expect(continued).toEqual(expected);
      expect(continued!.length).toBeLessThan(oracle.results(ofOthers, 'integer').length);
      const byVector = { search: { vector: second.vector, threshold: 0 }, pagination: { cursor } };
      await refused(database.search(byVector), 'invalid_cursor', '/pagination/cursor', 'invalid_value');
    });

    test('seals its query in the cursor: it tells no vector, and is refused once it was changed', async () => {
      const random = new Random(66);
      const database = await shared.create({ dimensions: 8 });
      await database.upsert(
        Array.from({ length: 9 }, (_, at) => ({
          id: at + 1,
          data: {},
          vector: Array.from({ length: 8 }, () => random.next() - 0.3),
        })),
      );
      const search = { like: { positive: [1] }, threshold: 0 };
      const { pagination } = await database.search({ search, pagination: { limit: 2 } });
      const cursor = pagination.next_cursor as string;
      const [position, suffix] = cursor.split('~') as [string, string];
      const bytes = Buffer.from(suffix, 'base64url');
      const { vector } = await database.record(1, 'integer', undefined, true);
      for (const component of vector!) {
        const step = Buffer.alloc(4);
        step.writeInt32LE(component * 2 ** 30);
        expect(bytes.includes(step)).toBe(false);
      }
      for (let at = 16; at < bytes.length; at++) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 1;
        const cursor = `${position}~${changed.toString('base64url')}`;
        const request = { search, pagination: { cursor } };
        await refused(database.search(request), 'invalid_cursor', '/pagination/cursor', 'invalid_value');
      }
      for (const length of [16, 20, 28, bytes.length - 1]) {
        const cursor = `${position}~${bytes.subarray(0, length).toString('base64url')}`;
        const request = { search, pagination: { cursor } };
        await refused(database.search(request), 'invalid_cursor', '/pagination/cursor', 'invalid_value');
      }
      const again = await database.search({ search, pagination: { limit: 2 } });
      expect(again.pagination.next_cursor).toBe(cursor);
    });

    test('counts the words of no text: a weight of words takes its part of the score', async () => {
      const database = await shared.create({ embed: { columns: ['text'] }, lexical: true });
      await database.upsert(
        ['an iron tower', 'a stone tower', 'a violin'].map((text, at) => ({ id: at + 1, data: { text } })),
      );
      const scores = async (lexical: number) => {
        const search = { like: { positive: [1] }, lexical, threshold: 0 };
        const { results } = await database.search({ search, explain: true });
        return results.map(({ relevance_score }) => relevance_score as number);
      };
      const [meaning, half] = [await scores(0), await scores(0.5)];
      expect(meaning).toHaveLength(2);
      expect(half).toEqual(meaning.map((score) => expect.closeTo(score / 2, 8)));
      expect(await scores(1)).toEqual([0, 0]);
    });

    test('takes the mean of the passages of a long record', async () => {
      const database = await shared.create({ embed: { columns: ['text'] } });
      const long = 'The committee met on a Tuesday and discussed the budget. A violin was made in Cremona. ';
      await database.upsert([
        { id: 1, data: { text: long.repeat(40) } },
        { id: 2, data: { text: 'a violin of Cremona' } },
        { id: 3, data: { text: 'the budget of a committee' } },
        { id: 4, data: { text: 'a lighthouse' } },
      ]);
      const vectors = await Promise.all(
        [1, 2, 3, 4].map((id) => database.record(id, 'integer', undefined, true)),
      );
      const passages = vectors[0]!.passages!.map(({ vector }) => vector);
      expect(passages.length).toBeGreaterThan(1);
      const mean = exampleVector([exampleVector(passages, [])], []);
      const query = exampleVector([mean, vectors[1]!.vector!], [vectors[3]!.vector!]);
      const like = { positive: [1, 2], negative: [4] };
      const { results } = await database.search({ search: { like, threshold: 0 }, passages: true });
      expect(results.map(({ id, relevance_score }) => [id, relevance_score])).toEqual([
        [3, relevanceScore(query, vectors[2]!.vector!)],
      ]);
      const map = await database.databases.reader.map(
        database.id,
        { search: { like, threshold: 0 } },
        { form: 'integer' },
      );
      expect(JSON.parse(Buffer.from(map.body).toString()).points).toMatchObject([{ id: 3 }]);
    });

    test('refuses records that the caller does not see as records that there are not', async () => {
      const database = await shared.create();
      const data: Data = { colour: 'red' };
      await database.upsert([
        { id: 1, data, vector: [1, 0] },
        { id: 2, data: { colour: 'blue' }, vector: [0, 1] },
        { id: 4, key: 'four', data, vector: [-1, 0] },
      ]);
      const forcedFilter = {
        condition: 'AND',
        rules: [{ column: 'colour', operator: 'equals', value: 'red' }],
      } as const;
      const refusal = async (like: Like) => {
        const error = await database.search({ search: { like } }, { forcedFilter }).catch((error) => error);
        return { code: error.code, problems: error.problems };
      };
      const [hidden, missing] = [await refusal({ positive: [1, 2] }), await refusal({ positive: [1, 3] })];
      expect(hidden).toEqual({
        code: 'invalid_request',
        problems: [
          { pointer: '/search/like/positive/1', code: 'invalid_value', detail: 'no record has the id 2' },
        ],
      });
      expect(JSON.stringify(missing)).toBe(JSON.stringify(hidden).replace('id 2', 'id 3'));
      expect((await refusal({ positive: [1], negative: ['key:none'] })).problems).toMatchObject([
        { pointer: '/search/like/negative/0', detail: 'no record has the id key:none' },
      ]);
      expect((await refusal({ positive: [1, 'key:four'] })).problems).toMatchObject([
        { pointer: '/search/like' },
      ]);
    });

    test('refuses a record without a vector', async () => {
      const database = await shared.create({ embed: { columns: ['text'] } });
      await database.upsert([{ id: 1, data: { n: 1 } }]);
      await expect(database.search({ search: { like: { positive: [1] } } })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/search/like/positive/0', detail: 'record 1 has no vector' }],
      });
    });

    test.each<[string, object, string]>([
      ['a text, too', { like: { positive: [1] }, text: 'x' }, '/search'],
      ['a text whose words count', { like: { positive: [1] }, text: 'x', lexical: 0.5 }, '/search'],
      ['a vector, too', { like: { positive: [1] }, vector: [1, 0] }, '/search'],
      ['negative examples alone', { like: { negative: [1] } }, '/search/like'],
      ['no example', { like: { positive: [] } }, '/search/like/positive'],
      ['an id that is none', { like: { positive: [1, 'one'] } }, '/search/like/positive/1'],
      [
        '101 examples',
        { like: { positive: Array(60).fill(1), negative: Array(41).fill(2) } },
        '/search/like',
      ],
      ['a list of ids', { like: [1] }, '/search/like'],
    ])('refuses %s', async (_, search, pointer) => {
      const database = await shared.create();
      await expect(async () => await database.search({ search })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer }],
      });
    });
  });
}

function randomLike(random: Random, records: readonly KnownRecord[]): Like {
  const name = ({ id, uuid, key }: KnownRecord) =>
    random.pick([id, uuid, key === undefined ? id : `key:${key}`]);
  const names = (count: number) => Array.from({ length: count }, () => name(random.pick(records)));
  const positive = names(1 + random.below(random.pick([1, 3, 40])));
  return random.chance(50) ? { positive } : { positive, negative: names(random.below(4)) };
}

function withoutExtras({ explain, vector, ...result }: Result): Result {
  return result;
}
