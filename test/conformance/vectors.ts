import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { given, type OracleRequest } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { randomFilter, randomVector } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { relevanceScore } from './score.js';
import { SharedDatabases } from './shared-databases.js';
import type { Operation, Result, TestDatabase } from './test-database.js';

type Vectors = Pick<Result, 'vector' | 'passages' | 'embedded_by'>;

const SEEDS = [31, 32];

/** `vectors`: results with the vectors that are stored, as an export has them. */
export function describeVectors(open: OpenDatabases): void {
  describe('vectors', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, SEEDS))(
      'are those of the export in any request, on any pages (seed %i)',
      async (seed) => {
        const random = new Random(seed);
        const { database, records, oracle } = await randomDatabase(shared, random, 120);
        for (let round = 0; round < timesOn(open, 24, 12); round++) {
          if (round % 6 === 5) {
            // A record with another vector.
            const changed = { ...random.pick(records), vector: randomVector(random) };
            oracle.records.set(changed.id, changed);
            await database.upsert([given(changed)]);
          }
          const stored = await storedIn(database);
          const form = random.pick(RECORD_FORMS);
          const forcedFilter = random.chance(30) ? randomFilter(random, 1) : undefined;
          const isSearch = random.chance(50);
          const request: OracleRequest = {
            ...(isSearch && { search: { vector: randomVector(random), threshold: random.pick([0, 0.3]) } }),
            ...(random.chance(40) && { filter: randomFilter(random, 2) }),
            ...(!isSearch && random.chance(50) && { sort: { column: random.pick(['size', 'mixed']) } }),
            ...(random.chance(40) && { columns: random.pick([[], ['size'], ['colour', '__proto__']]) }),
          };
          const asking = {
            form,
            limit: () => random.pick([3, 20, 100]),
            ...(forcedFilter && { forcedFilter }),
          };
          const found = await database.drain(
            isSearch ? 'search' : 'query',
            { ...request, vectors: true },
            asking,
          );
          const expected = oracle.results(request, form, forcedFilter);
          expect(found, JSON.stringify(request)).toEqual(
            expected.map((result) => ({ ...result, ...stored.get(result.id) })),
          );
          const [first] = found;
          if (first === undefined) continue;
          const one = await database.record(first.id, formOf(first), undefined, true);
          expect(one).toMatchObject({ id: first.id, vector: first.vector });
          await expect(database.record(first.id, formOf(first), NOBODY, true)).rejects.toMatchObject({
            code: 'record_not_found',
          });
        }
      },
    );

    test('are not shown unless they are asked for', async () => {
      const database = await shared.create();
      await database.upsert([{ id: 1, data: {}, vector: [1, 1] }]);
      for (const request of [{}, { vectors: false }]) {
        const [found] = (await database.query(request)).results;
        expect(found).not.toHaveProperty('vector');
      }
      expect(await database.record(1)).not.toHaveProperty('vector');
      expect(await database.record(1, 'integer', undefined, true)).toHaveProperty('vector');
      await expect(async () => await database.query({ vectors: 'yes' })).rejects.toMatchObject({
        code: 'invalid_request',
        problems: [{ pointer: '/vectors' }],
      });
    });

    test('of a model name it, and those of a long record are its passages; an upsert takes them back', async () => {
      const settings = { embed: { columns: ['text'] }, lexical: true };
      const [database, copy] = [await shared.create(settings), await shared.create(settings)];
      const long = 'The committee met on a Tuesday and discussed the budget. '.repeat(40);
      await database.upsert([
        { id: 1, data: { text: long, n: 1 } },
        { id: 2, data: { text: 'a tower', n: 2 } },
        { id: 3, data: { n: 3 } },
      ]);
      const stored = await storedIn(database);
      const { fingerprint } = await database.describe();
      const { results } = await database.query({ sort: { column: 'n' }, vectors: true }, { form: 'both' });
      expect(results.map(vectorsOf)).toEqual([1, 2, 3].map((id) => stored.get(id)));
      expect(results[0]?.passages?.length).toBeGreaterThan(1);
      expect(results[0]).not.toHaveProperty('vector');
      expect(results[1]).toMatchObject({ embedded_by: fingerprint });
      expect(results[2]).not.toHaveProperty('embedded_by');
      const search = { text: 'the budget', threshold: 0, lexical: 0.3 };
      for (const extras of [{}, { passages: true }, { explain: true }, { columns: [] }, { columns: ['n'] }]) {
        const found = await database.search({ search, vectors: true, ...extras });
        expect(found.results).toHaveLength(2);
        for (const result of found.results) expect(vectorsOf(result)).toEqual(stored.get(result.id));
      }
      const before = (await database.databases.monitor.stats()).embedder!.inferences;
      await copy.upsert(results);
      expect((await database.databases.monitor.stats()).embedder!.inferences).toBe(before);
      expect(await copy.export({ vectors: true })).toEqual(await database.export({ vectors: true }));
    });
  });

  describe('a search by vector in a database with a model', () => {
    const shared = SharedDatabases.use(open);

    test('is that of the oracle over the stored vectors, in any request', async () => {
      const random = new Random(34);
      const database = await shared.create({ embed: { columns: ['text'] }, lexical: true });
      const [things, places] = ['tower violin ice falcon'.split(' '), 'Paris sea night'.split(' ')];
      await database.upsert(
        things.flatMap((thing, at) =>
          places.flatMap((place, to) => [
            { data: { text: `a ${thing} of ${place}`, thing, place } },
            // A record of the same text, so that scores tie, and one with several passages.
            { data: { text: `a ${thing} of ${place}`, thing: 'twin', place } },
            ...(at === to ? [{ data: { text: `the ${thing} of ${place} `.repeat(120), thing, place } }] : []),
          ]),
        ),
      );
      const before = (await database.databases.monitor.stats()).embedder!.inferences;
      const stored = await storedIn(database);
      const records = await database.drain('query', {}, { form: 'both' });
      const vectorsOfRecord = (id: number | string) => {
        const { vector, passages = [] } = stored.get(id) as Vectors;
        return vector === undefined ? passages.map((passage) => passage.vector) : [vector];
      };
      for (let round = 0; round < timesOn(open, 30, 6); round++) {
        const form = random.pick(RECORD_FORMS);
        const near = random.pick(vectorsOfRecord(random.pick(records).id));
        const vector = near.map((part) => 3 * part + (random.next() - 0.5) * random.pick([0, 0.1]));
        const threshold = random.pick([0, 0.2, 0.6]);
        const place = random.pick([undefined, ...places]);
        const filter = { condition: 'AND', rules: [{ column: 'place', operator: 'equals', value: place }] };
        const request = { search: { vector, threshold }, ...(place !== undefined && { filter }) };
        const found = await database.drain('search', request, { form, limit: () => random.pick([2, 9]) });
        const expected = records
          .filter(({ data }) => place === undefined || data.place === place)
          .map(({ id, uuid }) => {
            const scores = vectorsOfRecord(id).map((stored) => relevanceScore(vector, stored));
            return { id: form === 'uuid' ? uuid! : id, relevance_score: Math.max(...scores) };
          })
          .filter(({ relevance_score }) => relevance_score >= threshold)
          .sort((a, b) => b.relevance_score - a.relevance_score || (a.id < b.id ? -1 : 1));
        expect(found.map(({ id, relevance_score }) => ({ id, relevance_score }))).toEqual(expected);
        // Words count as beside a text: L is the score of a search for them alone.
        const text = `${random.pick(things)} ${random.pick(places)}`;
        const blended = { search: { vector, text, lexical: 0.4, threshold: 0 } };
        const words = { search: { vector, text, lexical: 1, threshold: 0 } };
        const meaning = { search: { vector, threshold: 0 } };
        const [score, l, cosine] = await Promise.all(
          [blended, words, meaning].map(async (asked) => {
            const results = await database.drain('search', asked);
            return new Map(results.map(({ id, relevance_score }) => [id, relevance_score!]));
          }),
        );
        expect(score!.size).toBe(records.length);
        for (const [id, value] of score!) {
          expect(value).toBeCloseTo(0.6 * cosine!.get(id)! + 0.4 * l!.get(id)!, 8);
        }
      }
      expect((await database.databases.monitor.stats()).embedder!.inferences).toBe(before);
    });
  });

  describe('pages of vectors', () => {
    const shared = SharedDatabases.use(open, { limits: { ...LIMITS, page_bytes: 30_000 } });

    test('hold a limited number of bytes, and every record once', async () => {
      const random = new Random(33);
      const database = await shared.create({ dimensions: 300 });
      const records = Array.from({ length: 24 }, (_, at) => ({
        id: at + 1,
        data: { n: at, text: 'x'.repeat(at % 3 === 0 ? 20_000 : 10) },
        vector: Array.from({ length: 300 }, () => random.next()),
      }));
      await database.upsert(records);
      const stored = await storedIn(database);
      const search = { vector: records[0]!.vector, threshold: 0 };
      for (const [operation, request] of [
        ['search', { search }],
        ['search', { search, columns: ['n'] }],
        ['query', {}],
        ['query', { columns: [], sort: { column: 'n' } }],
      ] as [Operation, object][]) {
        const ids: unknown[] = [];
        for (let cursor: string | undefined; ; ) {
          const pagination = { limit: 100, ...(cursor && { cursor }) };
          const page = await database.ask(operation, { ...request, vectors: true, pagination });
          for (const result of page.results) expect(vectorsOf(result)).toEqual(stored.get(result.id));
          expect(page.results.length).toBeLessThan(8);
          ids.push(...page.results.map(({ id }) => id));
          cursor = page.pagination.next_cursor;
          if (cursor === undefined) break;
        }
        expect(ids).toHaveLength(24);
        expect(new Set(ids).size).toBe(24);
      }
    });
  });
}

const NOBODY = { condition: 'AND', rules: [{ column: 'none', operator: 'equals', value: 1 }] } as const;

/** A record of both ids is read by either. */
function formOf({ id, uuid }: Result) {
  return uuid !== undefined ? 'both' : typeof id === 'string' ? 'uuid' : 'integer';
}

/** The members with vectors of the lines of an export, by both ids. */
async function storedIn(database: TestDatabase): Promise<Map<number | string, Vectors>> {
  const lines = await database.export({ vectors: true });
  return new Map(
    lines.flatMap((line) => {
      const record = JSON.parse(line) as Result & { uuid: string };
      return [record.id, record.uuid].map((id) => [id, vectorsOf(record)] as const);
    }),
  );
}

function vectorsOf({ vector, passages, embedded_by }: Vectors): Vectors {
  return { ...(vector && { vector }), ...(passages && { passages }), ...(embedded_by && { embedded_by }) };
}
