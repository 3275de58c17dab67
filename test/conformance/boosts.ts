import { describe, expect, test } from 'vitest';
import type { FilterGroup } from '../../src/schema/index.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import { boostedScore, boostOf } from './boost-oracle.js';
import { countFacet } from './facet-oracle.js';
import type { OpenDatabases } from './open-databases.js';
import type { OracleRequest } from './oracle.js';
import { randomBoosts } from './random-boosts.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector, START } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { relevanceScore } from './score.js';
import { SharedDatabases } from './shared-databases.js';

const FACETS = [{ column: 'colour' }, { column: 'size', type: 'histogram' as const, interval: 2.5 }];

/** Boosts: parts of the score that depend on the data and the times of a record. */
export function describeBoosts(open: OpenDatabases): void {
  describe('boosts', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, [111, 112]))(
      'decide scores, order, pages, totals and facets as the published rule says (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database, records, oracle } = await randomDatabase(shared, random, 240);
        for (let round = 0; round < timesOn(open, 24, 8); round++) {
          const form = random.pick(RECORD_FORMS);
          const boosts = randomBoosts(random, form === 'integer');
          const positive = [random.pick(records).id];
          const request: OracleRequest = {
            search: {
              ...(random.chance(20) ? { like: { positive } } : { vector: randomVector(random) }),
              threshold: random.pick([0, 0.1, 0.3, 0.6]),
              boosts,
            },
            ...(random.chance(40) && { filter: randomFilter(random, 2) }),
            ...(random.chance(20) && { time_range: { start_time: new Date(START + 20_000).toISOString() } }),
            ...(random.chance(20) && { columns: ['size'] }),
          };
          const own = request.search?.like === undefined && random.chance(30);
          const forced: FilterGroup | undefined = own ? randomFilter(random, 1) : undefined;
          const asking = { form, ...(forced && { forcedFilter: forced }) };
          const told = `round ${round}: ${form} ${JSON.stringify({ request, forced })}`;
          const expected = oracle.results(request, form, forced);
          const limit = () => random.pick([7, 40, 100]);
          expect(await database.drain('search', request, { ...asking, limit }), told).toEqual(expected);
          const counted = { ...request, total: true, facets: FACETS, pagination: { limit: 5 } };
          const page = await database.search(counted, asking);
          const matches = oracle.matches(request, form, forced);
          expect(page.total, told).toEqual({ value: matches.length });
          expect(page.facets, told).toEqual(FACETS.map((facet) => countFacet(matches, facet)));
          expect(page.results, told).toEqual(expected.slice(0, 5));
        }
      },
    );

    test('explain shows the parts, which add up to the score (seed 113)', async () => {
      const random = new Random(113);
      const { database, records } = await randomDatabase(shared, random, 60);
      for (let round = 0; round < 10; round++) {
        const boosts = [
          { weight: 0.1, filter: randomFilter(random, 1) },
          ...randomBoosts(random, true),
        ].slice(0, 1 + round);
        const left = boosts.reduce((rest, { weight }) => rest - weight, 1);
        if (left < 0) continue;
        const vector = randomVector(random);
        const columns = random.pick([undefined, [], ['size']]);
        const { results } = await database.search({
          search: { vector, threshold: 0, boosts },
          explain: true,
          ...(columns && { columns }),
        });
        expect(results).toHaveLength(50);
        for (const { id, relevance_score, explain } of results) {
          const record = records.find((known) => known.id === id)!;
          const meaning = relevanceScore(vector, record.vector);
          const parts = boosts.map((boost) => boostOf(boost, record));
          expect(explain).toEqual({ score: { meaning, lexical: 0, boosts: parts } });
          expect(relevance_score).toBe(boostedScore(meaning, boosts, record));
        }
      }
    });

    test('with equal weights may have all the weight, however it is divided', async () => {
      const database = await shared.create();
      await database.upsert([
        { id: 1, data: { a: 1 }, vector: [1, 0] },
        { id: 2, data: { a: 2 }, vector: [1, 0] },
      ]);
      for (const count of [2, 3, 6, 7, 8]) {
        const boost = { weight: 1 / count, column: 'a', target: 1, scale: 1 };
        const request = { search: { vector: [1, 0], threshold: 0, boosts: Array(count).fill(boost) } };
        const { results } = await database.search(request);
        const [first, second] = results.map(({ relevance_score }) => relevance_score as number);
        expect(first).toBe(1);
        expect(second).toBeLessThan(1e-8);
      }
    });

    test('count next to words', async () => {
      const database = await shared.create({ dimensions: 2, lexical: true });
      await database.upsert([
        { id: 1, data: { text: 'iron tower', year: 1889 }, vector: [1, 0] },
        { id: 2, data: { text: 'steel bridge', year: 1937 }, vector: [3, 4] },
      ]);
      const search = {
        vector: [1, 0],
        text: 'iron tower',
        lexical: 0.2,
        threshold: 0,
        boosts: [{ weight: 0.5, column: 'year', target: 1937, scale: 96 }],
      };
      const { results } = await database.search({ search, explain: true });
      expect(
        results.map(({ id, relevance_score, explain }) => [id, relevance_score, explain?.score]),
      ).toEqual([
        [1, 0.75, { meaning: 1, lexical: 1, boosts: [0.5] }],
        [2, 0.68, { meaning: 0.6, lexical: 0, boosts: [1] }],
      ]);
    });

    test('without a threshold, a record needs 0.2 times the weight that boosts leave', async () => {
      const database = await shared.create();
      const cosines = [0.3, 0.2, 0.19, 0];
      const vectors = cosines.map((cosine) => [cosine, Math.sqrt(1 - cosine * cosine)]);
      await database.upsert(vectors.map((vector, at) => ({ id: at + 1, data: { at }, vector })));
      const idsOf = async (boosts: object[]) =>
        (await database.search({ search: { vector: [1, 0], boosts } })).results.map(({ id }) => id);
      const nothing = { column: 'none', target: 0, scale: 1 };
      expect(await idsOf([])).toEqual([1, 2]);
      expect(await idsOf([{ weight: 0.6, ...nothing }])).toEqual([1, 2]);
      expect(
        await idsOf([
          { weight: 0.7, ...nothing },
          { weight: 0.3, ...nothing },
        ]),
      ).toEqual([1, 2, 3, 4]);
    });
  });
}
