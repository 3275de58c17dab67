import { describe, expect, test } from 'vitest';
import type { RecordForm } from '../../src/store/record-store.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { given, type KnownRecord, type OracleRequest } from './oracle.js';
import { randomBoosts } from './random-boosts.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector, START } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { Operation, TestDatabase } from './test-database.js';

const COLUMNS = ['colour', 'size', 'open', 'mixed', 'visited', '__proto__', 'rare', 'never given'];
const SEARCH = { search: { vector: [1, 0], threshold: 0 } };

/** `distinct`: only the first of the records with an equal value is a result. */
export function describeDistinct(open: OpenDatabases): void {
  describe('distinct', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, [31, 32, 33]))(
      'results are those of the oracle in any request, on any pages (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database, records, oracle } = await randomDatabase(shared, random, 200);
        for (let round = 0; round < timesOn(open, 40, 12); round++) {
          const form = random.pick(RECORD_FORMS);
          const [operation, request] = randomRequest(random, records, form);
          // The examples of a search must be visible.
          const isLike = request.search?.like !== undefined;
          const forcedFilter = !isLike && random.chance(30) ? randomFilter(random, 1) : undefined;
          const asked = {
            ...request,
            ...(random.chance(30) && { explain: true }),
            ...(random.chance(50) && { total: true }),
            ...(random.chance(20) && { facets: [{ column: 'colour' }] }),
          };
          const asking = { form, ...(forcedFilter && { forcedFilter }) };
          const told = `${form} ${JSON.stringify(asked)}`;
          const expected = oracle.results(request, form, forcedFilter);
          let pages = 0;
          const found = await database.drain(operation, asked, {
            ...asking,
            limit: () => random.pick([1, 7, 20, 100]),
            between: ({ total }) => {
              pages += 1;
              expect(total?.value, told).toBe(asked.total && expected.length);
            },
          });
          for (const result of found) delete result.explain;
          expect(found, told).toEqual(expected);
          if (pages === 0) continue;
          const { distinct: _, ...all } = request;
          const facets = [{ column: 'colour' }];
          const limit = { pagination: { limit: 1 } };
          const [some, whole] = await Promise.all(
            [request, all].map((one) => database.ask(operation, { ...one, ...limit, facets }, asking)),
          );
          expect(some?.facets, 'facets count all matches').toEqual(whole?.facets);
        }
      },
    );

    test('searches of a batch are distinct each by its column', async () => {
      const random = new Random(34);
      const { database, records, oracle } = await randomDatabase(shared, random, 120);
      const requests = Array.from({ length: 12 }, () => randomRequest(random, records, 'uuid', 'search')[1]);
      const asked = requests.map((request) => ({ ...request, total: true, pagination: { limit: 30 } }));
      const pages = await database.searches(asked, { form: 'uuid' });
      for (const [at, request] of requests.entries()) {
        const expected = oracle.results(request, 'uuid');
        expect(pages[at], JSON.stringify(request)).toMatchObject({
          results: expected.slice(0, 30),
          total: { value: expected.length },
        });
      }
    });

    test('a page that is read again after writes has the first records of that moment', async () => {
      const database = await shared.create();
      const record = (id: number, kind: string | null, at: number) => ({
        id,
        data: { kind },
        vector: [1, at],
      });
      await database.upsert([record(1, 'a', 0), record(2, 'b', 1), record(3, 'a', 2), record(4, null, 3)]);
      const request = { ...SEARCH, distinct: { column: 'kind', counts: true } };
      const first = await database.search({ ...request, pagination: { limit: 1 } });
      expect(first.results).toMatchObject([{ id: 1, group: { value: 'a', count: 2 } }]);
      // The first record of the group leaves it: its next one becomes a result at its own place.
      await database.put(record(1, 'c', 0));
      const pagination = { limit: 10, cursor: first.pagination.next_cursor };
      const next = await database.search({ ...request, pagination });
      expect(next.results.map(({ id, group }) => [id, group])).toEqual([
        [2, { value: 'b', count: 1 }],
        [3, { value: 'a', count: 1 }],
        [4, { value: null, count: 1 }],
      ]);
      // A record before the cursor takes the place of the group: the group is on an earlier page.
      await database.put(record(5, 'b', 0));
      const later = await database.search({ ...request, pagination });
      expect(later.results.map(({ id }) => id)).toEqual([5, 3, 4]);
    });

    test('each group that is not written comes once while others are written', async () => {
      const random = new Random(35);
      const { database, oracle } = await randomDatabase(shared, random, 200);
      const stays = ({ data }: { data: KnownRecord['data'] }) => !String(data.colour).startsWith('written');
      const requests: [Operation, OracleRequest][] = [
        ['search', { search: { vector: randomVector(random), threshold: 0 } }],
        ['query', { sort: { column: 'size' } }],
        ['query', {}],
      ];
      let written = 1_000;
      for (const [operation, request] of timesOn(open, requests, requests.slice(0, 2))) {
        const asked = { ...request, distinct: { column: 'colour', counts: true } };
        const found = await database.drain(operation, asked, {
          limit: () => 3,
          between: async () => {
            written += 1;
            const data = { colour: `written ${random.below(9)}`, size: random.below(50) };
            const times = { created: START, changed: START, synced: START + random.below(60_000) };
            const uuid = crypto.randomUUID();
            await database.put(given({ id: written, uuid, data, vector: randomVector(random), ...times }));
          },
        });
        expect(found.filter(stays)).toEqual(oracle.results(asked, 'integer').filter(stays));
      }
    });

    test('a key with a filter learns nothing of the records that are hidden from it', async () => {
      const database = await shared.create();
      const records = Array.from({ length: 40 }, (_, at) => ({
        id: at + 1,
        data: { kind: `kind ${at % 5}`, secret: at % 2 === 0 },
        vector: [1, at],
      }));
      await database.upsert(records);
      const forcedFilter = { rules: [{ column: 'secret', operator: 'equals', value: false }] } as const;
      for (const operation of ['search', 'query'] as const) {
        const request = {
          ...(operation === 'search' ? SEARCH : { sort: { column: 'kind' } }),
          distinct: { column: 'kind', counts: true },
          total: true,
        };
        const page = await database.ask(operation, request, { forcedFilter: forcedFilter as never });
        expect(page.total).toEqual({ value: 5 });
        for (const { id, group } of page.results) {
          expect(Number(id) % 2).toBe(0);
          expect(group?.count).toBe(4);
        }
      }
    });

    test('is refused if it is no column', async () => {
      const database = await shared.create();
      for (const [distinct, pointer, code] of [
        [5, '/distinct', 'wrong_type'],
        [null, '/distinct', 'wrong_type'],
        ['', '/distinct', 'invalid_column'],
        ['a\u0000', '/distinct', 'invalid_column'],
        ['é'.repeat(129), '/distinct', 'invalid_column'],
        [['kind'], '/distinct', 'wrong_type'],
        [{}, '/distinct', 'missing_member'],
        [{ column: 5 }, '/distinct/column', 'wrong_type'],
        [{ column: 'x'.repeat(257) }, '/distinct/column', 'invalid_column'],
        [{ column: 'é'.repeat(129) }, '/distinct/column', 'invalid_column'],
        [{ column: 'kind', counts: 1 }, '/distinct/counts', 'wrong_type'],
        [{ column: 'kind', count: true }, '/distinct/count', 'unknown_member'],
      ] as const) {
        for (const operation of ['search', 'query'] as const) {
          const request = { ...(operation === 'search' && SEARCH), distinct };
          const asked = async () => await database.ask(operation, request);
          await expect(asked(), JSON.stringify(distinct)).rejects.toMatchObject({
            code: 'invalid_request',
            problems: [{ pointer, code }],
          });
        }
      }
    });
  });

  describe('distinct in searches for words and among long records', () => {
    const shared = SharedDatabases.use(open);

    test('takes the first of each group, page by page', async () => {
      const database = await shared.create({ embed: { columns: ['text'] }, lexical: true });
      const filler = 'The committee met on a Tuesday and discussed the budget. ';
      const topics = [
        'The violin was made in Cremona.',
        'A tower with a lamp guides ships.',
        'Bread needs flour.',
      ];
      await database.upsert(
        Array.from({ length: 30 }, (_, at) => ({
          id: at + 1,
          data: { text: `${filler.repeat((at % 4) * 9)}${topics[at % 3]} ${at % 7}`, kind: (at * 7) % 5 },
        })),
      );
      for (const lexical of [undefined, 0.4, 1]) {
        const search = { text: 'a violin from Cremona', threshold: 0, ...(lexical && { lexical }) };
        const all = await database.drain('search', { search });
        const firsts = firstsOf(all);
        for (const limit of timesOn(open, [1, 2, 10], [2])) {
          const request = { search, distinct: { column: 'kind', counts: true }, total: true, passages: true };
          const found = await database.drain('search', request, {
            limit: () => limit,
            between: ({ total }) => expect(total).toEqual({ value: firsts.length }),
          });
          expect(found.map(({ id, relevance_score, group }) => [id, relevance_score, group])).toEqual(firsts);
        }
      }
    });
  });
}

function firstsOf(all: Awaited<ReturnType<TestDatabase['drain']>>) {
  const seen = new Set<unknown>();
  return all.flatMap(({ id, relevance_score, data: { kind } }) => {
    if (seen.has(kind)) return [];
    seen.add(kind);
    const count = all.filter((other) => other.data.kind === kind).length;
    return [[id, relevance_score, { value: kind, count }]];
  });
}

function randomRequest(
  random: Random,
  records: readonly KnownRecord[],
  form: RecordForm,
  operation: Operation = random.pick(['search', 'query']),
): [Operation, OracleRequest] {
  const column = random.pick(COLUMNS);
  const common: OracleRequest = {
    distinct: random.chance(30) ? column : { column, counts: random.chance(70) },
    ...(random.chance(40) && { filter: randomFilter(random, 2) }),
    ...(random.chance(20) && { time_range: { start_time: new Date(START + 20_000).toISOString() } }),
    ...(random.chance(30) && { columns: COLUMNS.filter(() => random.chance(30)) }),
  };
  if (operation === 'query') {
    const sort = random.chance(50)
      ? { column: random.pick(COLUMNS), direction: random.pick(['asc', 'desc'] as const) }
      : undefined;
    return ['query', { ...common, ...(sort && { sort }) }];
  }
  const query = random.chance(20)
    ? { like: { positive: [random.pick(records).id], negative: [random.pick(records).id] } }
    : { vector: randomVector(random) };
  const boosts = random.chance(30) ? { boosts: randomBoosts(random, form === 'integer') } : {};
  return ['search', { ...common, search: { ...query, ...boosts, threshold: random.pick([0, 0.2, 0.4]) } }];
}
