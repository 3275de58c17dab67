import { describe, expect, test } from 'vitest';
import { CosiftError } from '../../src/errors.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { randomBoosts } from './random-boosts.js';
import { randomDatabase } from './random-database.js';
import { DIMENSIONS, randomFilter, randomVector } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { Asking, Page, TestDatabase } from './test-database.js';

/** What a single search results in, as an outcome of a batch. */
async function alone(database: TestDatabase, request: object, asking: Asking): Promise<Page | CosiftError> {
  return await database.search(request, asking).catch((error) => error);
}

/** What can be compared: an explanation has times, and an error its code and its places. */
function comparable(outcome: Page | CosiftError): unknown {
  if (outcome instanceof CosiftError) {
    return { code: outcome.code, problems: outcome.problems, detail: outcome.detail };
  }
  const { explain, ...page } = outcome;
  return { ...page, isExplained: explain !== undefined };
}

const VECTOR = Array(DIMENSIONS).fill(1);
const HALF = { weight: 0.6, column: 'size', target: 1, scale: 1 };

/** Requests that are refused although their schema allows them. */
const INVALID = [
  { search: { vector: [1] } },
  { search: { vector: Array(DIMENSIONS).fill(0) } },
  { search: { text: 'a text, in a database without a model' } },
  { search: { vector: VECTOR, lexical: 0.5 } },
  { search: { vector: VECTOR, text: 'words', lexical: 0.5 } },
  { search: { vector: VECTOR, boosts: [HALF, HALF] } },
  { search: { vector: VECTOR }, pagination: { cursor: 'not a cursor' } },
  { search: { like: { positive: [999_999] } } },
];

async function randomRequest(random: Random, database: TestDatabase, asking: Asking): Promise<object> {
  if (random.chance(15)) return random.pick(INVALID);
  const request = {
    search: {
      // An example may be hidden from the caller.
      ...(asking.forcedFilter === undefined && random.chance(30)
        ? { like: { positive: [1, 2 + random.below(20)] } }
        : { vector: randomVector(random) }),
      threshold: random.pick([0, 0.2, 0.4]),
      ...(random.chance(30) && { boosts: randomBoosts(random, asking.form === 'integer') }),
    },
    ...(random.chance(40) && { filter: randomFilter(random, 2) }),
    ...(random.chance(30) && { total: true }),
    ...(random.chance(30) && { facets: [{ column: 'size' }, { column: 'mixed' }] }),
    ...(random.chance(20) && { columns: ['size'] }),
    ...(random.chance(20) && { vectors: true }),
    ...(random.chance(10) && { explain: true }),
    pagination: { limit: random.pick([1, 7, 50]) },
  };
  if (random.chance(70)) return request;
  const { next_cursor: cursor } = (await database.search(request, asking)).pagination;
  return cursor === undefined ? request : { ...request, pagination: { ...request.pagination, cursor } };
}

const SEEDS = [61, 62];

/** Batches of searches: each page is that of the single search, and all pages show the same moment. */
export function describeBatches(open: OpenDatabases): void {
  describe('batches of searches', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, SEEDS))(
      'have the pages and the errors of single searches (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database } = await randomDatabase(shared, random, 240);
        let failed = 0;
        for (let round = 0; round < timesOn(open, 8, 3); round++) {
          const forced = random.chance(30) && { forcedFilter: randomFilter(random, 1) };
          const asking = { form: random.pick(RECORD_FORMS), ...forced };
          const requests: object[] = [];
          const count = random.pick([1, 2, 17, 64]);
          while (requests.length < count) requests.push(await randomRequest(random, database, asking));
          const outcomes = await database.searches(requests, asking);
          expect(outcomes).toHaveLength(count);
          for (const [at, outcome] of outcomes.entries()) {
            const expected = await alone(database, requests[at] as object, asking);
            const told = `round ${round}: ${asking.form} ${JSON.stringify(requests[at])}`;
            expect(comparable(outcome), told).toEqual(comparable(expected));
            failed += Number(outcome instanceof CosiftError);
          }
        }
        expect(failed).toBeGreaterThan(3);
      },
    );

    test('show one moment, whatever is written meanwhile', async () => {
      const database = await shared.create();
      const record = (id: number) => ({ id, data: { id }, vector: [1, id / 1000] });
      await database.put(record(1));
      let isDone = false;
      const write = async () => {
        for (let id = 2; !isDone; id++) await database.put(record(id));
      };
      const written = write();
      const request = { search: { vector: [1, 0] }, total: true };
      const totals = new Set<number>();
      while (totals.size < 3) {
        const outcomes = (await database.searches(Array(16).fill(request))) as Page[];
        for (const page of outcomes) expect(page).toEqual(outcomes[0]);
        totals.add(outcomes[0]?.total?.value ?? 0);
      }
      isDone = true;
      await written;
    });

    test('share the size of a page', async () => {
      const database = await shared.create();
      const text = 'x'.repeat(400_000);
      await database.upsert([1, 2, 3, 4].map((id) => ({ id, data: { text }, vector: [1, 0] })));
      const request = { search: { vector: [1, 0] } };
      const [first, second] = (await database.searches(Array(8).fill(request))) as Page[];
      expect(first).toEqual(second);
      expect(first?.results).toHaveLength(1);
      expect(first?.pagination.has_more).toBe(true);
      expect((await database.search(request)).results).toHaveLength(4);
      const pagination = { limit: 50, cursor: first?.pagination.next_cursor };
      expect((await database.search({ ...request, pagination })).results).toHaveLength(3);
    });

    test('fail as a whole where there is no database', async () => {
      const database = await shared.create();
      await shared.databases.catalog.drop(database.id);
      for (const request of [{ search: { vector: [1, 0] } }, { search: { vector: [1] } }]) {
        const searches = database.searches([request, request]);
        await expect(searches).rejects.toMatchObject({ code: 'database_not_found' });
      }
      await expect(database.searches([])).rejects.toMatchObject({ code: 'database_not_found' });
    });
  });
}
