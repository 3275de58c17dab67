import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import type { StoreSearchRequest } from '../../src/store/record-store.js';
import { ExplainedStatements } from '../helpers/postgres/explained-statements.js';
import { Random } from '../helpers/random.js';

const DIMENSIONS = 16;
const RECORDS = 6_000;
interface Page {
  results: { id: number; relevance_score: number }[];
  pagination: { next_cursor: string | null };
  approximate?: true;
  explain?: object;
}

/** Records with the same vector. */
const EQUAL = 300;

describe.skipIf(NO_SERVER !== undefined)(
  `an HNSW index of the operator${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    const random = new Random(17);
    const randomVector = () => Float64Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
    const common = randomVector();
    let server: PostgresServer;
    let explained: ExplainedStatements;
    let store: PostgresStore;

    const search = async (vector: Float64Array, request: Partial<StoreSearchRequest> = {}) => {
      const asked = { form: 'integer', limit: 10, threshold: 0.1, embedded_by: null, ...request } as const;
      const { body } = await store.search('db', asked, vector);
      return JSON.parse(Buffer.from(body).toString()) as Page;
    };
    /** The ids and scores of all pages. */
    const drain = async (vector: Float64Array, request: Partial<StoreSearchRequest>, pages: number) => {
      const found: [number, number][] = [];
      for (let cursor: string | undefined, page = 0; page < pages; page++) {
        const { results, pagination } = await search(vector, { ...request, ...(cursor && { cursor }) });
        found.push(
          ...results.map(({ id, relevance_score }) => [id, relevance_score as number] as [number, number]),
        );
        cursor = pagination.next_cursor ?? undefined;
        if (cursor === undefined) break;
      }
      return found;
    };
    const approximate = true;
    const partIs = (value: number) => ({
      condition: 'AND' as const,
      rules: [{ column: 'part', operator: 'equals' as const, value }],
    });

    beforeAll(async () => {
      server = await PostgresServer.start();
      explained = new ExplainedStatements(new NodePostgres({ url: await server.createDatabase() }));
      store = new PostgresStore(explained, LIMITS);
      await store.load();
      await store.createDatabase('db', {
        ...{ model: null, fingerprint: null },
        ...{ dimensions: DIMENSIONS, approximate },
      });
      for (let first = 1; first <= RECORDS; first += 1_000) {
        const records = Array.from({ length: 1_000 }, (_, at) => ({
          id: first + at,
          data: { part: (first + at) % 20 },
          vector: [...(first + at <= EQUAL ? common : randomVector())],
        }));
        const prepared = await store.prepareBatch('db', Buffer.from(JSON.stringify({ records })));
        await store.commit('db', prepared, { vectors: new Float32Array() });
      }
    }, 120_000);
    afterAll(async () => {
      await store?.close();
      await server?.stop();
    });

    test('without one, approximate searches are exact and say why', async () => {
      for (let query = 0; query < 5; query++) {
        const vector = randomVector();
        const { explain } = await search(vector, { approximate, explain: true });
        expect(explain).toMatchObject({ approximate: { not_used: 'the table has no HNSW index' } });
        const { approximate: isApproximate, ...page } = await search(vector, { approximate });
        expect(isApproximate).toBe(true);
        expect(page).toEqual(await search(vector));
      }
    });

    describe('once it is made', () => {
      beforeAll(async () => {
        await server.run(
          'CREATE INDEX by_vector ON cosift.records_1_1 USING hnsw (emb vector_ip_ops); ANALYZE cosift.records_1_1',
          'test_1',
        );
      }, 120_000);

      test('plain searches never use it', async () => {
        for (const request of [{}, { threshold: 0 }, { total: true }]) {
          const statements = await explained.of(() => search(randomVector(), request));
          expect(statements.length).toBeGreaterThan(0);
          for (const { text, plan } of statements) expect(plan, text).not.toContain('by_vector');
        }
      });

      test('approximate searches use it, find nearly all, and show exact scores in order', async () => {
        let [found, wanted] = [0, 0];
        for (let query = 0; query < 30; query++) {
          const vector = randomVector();
          let page: Page | undefined;
          const [scan] = await explained.of(async () => {
            page = await search(vector, { approximate, explain: true });
          });
          expect(scan?.plan, scan?.text).toContain('by_vector');
          expect(page?.explain).toMatchObject({ plan: 'approximate', approximate: { candidates: 38 } });
          const exact = new Map(
            (await search(vector, { limit: 100 })).results.map(({ id, relevance_score }) => [
              id,
              relevance_score,
            ]),
          );
          const first = [...exact.keys()].slice(0, 10);
          const results = page?.results ?? [];
          expect(results.map(({ id }) => id)).toEqual(
            [...exact.keys()].filter((id) => results.some((of) => of.id === id)),
          );
          for (const { id, relevance_score } of results) expect(relevance_score).toBe(exact.get(id));
          wanted += first.length;
          found += first.filter((id) => results.some((of) => of.id === id)).length;
        }
        // The levels of the graph are random.
        expect(found / wanted).toBeGreaterThan(0.9);
      });

      test('pages repeat no record, keep filter and threshold, and find nearly all matches', async () => {
        const filter = partIs(3);
        for (const request of [{}, { filter }, { form: 'uuid' as const, limit: 25 }]) {
          const vector = randomVector();
          const exact = await drain(vector, { threshold: 0.3, ...request }, 100);
          const drained = await drain(vector, { threshold: 0.3, ...request, approximate }, 100);
          const known = new Set(exact.map(String));
          expect(new Set(drained.map(String)).size).toBe(drained.length);
          for (const match of drained) expect(known.has(String(match)), String(match)).toBe(true);
          expect(drained.length / exact.length).toBeGreaterThan(0.9);
          expect(drained.map(([, score]) => score)).toEqual(
            drained.map(([, score]) => score).toSorted((a, b) => b - a),
          );
        }
      });

      test('equal vectors are all found, in the order of their ids', async () => {
        const drained = await drain(common, { approximate, limit: 40, threshold: 0.999 }, 100);
        expect(drained.map(([id]) => id)).toEqual(Array.from({ length: EQUAL }, (_, at) => at + 1));
      });

      test('all records are scanned where the index finds too few', async () => {
        const filter = partIs(99);
        const { explain } = await search(randomVector(), { approximate, filter, explain: true });
        expect(explain).toMatchObject({
          approximate: { not_used: 'the index finds too few records: all of them were scanned' },
        });
      });

      test('a page of scores of 0 says that it needs no index', async () => {
        const vector = randomVector();
        let page: Page;
        let cursor: string | undefined;
        do {
          page = await search(vector, { limit: 1_000, threshold: 0, ...(cursor && { cursor }) });
          cursor = page.pagination.next_cursor as string;
        } while (page.results.at(-1)?.relevance_score !== 0);
        const request = { threshold: 0, cursor };
        const {
          approximate: isApproximate,
          explain,
          ...rest
        } = await search(vector, {
          ...{ ...request, approximate, explain: true },
        });
        expect(isApproximate).toBe(true);
        expect(explain).toMatchObject({
          approximate: { not_used: 'the page has only scores of 0: all records were scanned' },
        });
        const exact = await search(vector, request);
        expect(rest.results.map(({ id }) => id)).toEqual(exact.results.map(({ id }) => id));
      });

      test('an index is used unless none of the vectors are read from one', async () => {
        await store.createDatabase('long', {
          ...{ model: 'm', fingerprint: 'm' },
          ...{ dimensions: DIMENSIONS, approximate },
        });
        const put = async (first: number, count: number, passages: number) => {
          const records = Array.from({ length: count }, (_, at) => ({
            id: first + at,
            data: { text: `${at}` },
          }));
          const prepared = await store.prepareBatch('long', Buffer.from(JSON.stringify({ records })));
          const vectors = records.flatMap(() => Array.from({ length: passages }, () => [...randomVector()]));
          const splits = records.flatMap((_, at) => [at, passages, passages, 0, 0, 1, 0, 1, 2]);
          await store.commit('long', prepared, {
            vectors: Float32Array.from(vectors.flat()),
            ...(passages > 1 && { splits: Uint32Array.from(splits) }),
            fingerprint: 'm',
          });
        };
        const long = async () => {
          const request = { limit: 10, threshold: 0.01, approximate, explain: true } as const;
          const asked = { form: 'integer', ...request, embedded_by: 'm' } as const;
          const { body } = await store.search('long', asked, randomVector());
          return JSON.parse(Buffer.from(body).toString()).explain.approximate;
        };
        for (let first = 1; first <= 2_000; first += 1_000) await put(first, 1_000, 1);
        await put(3_000, 3, 2);
        await server.run('CREATE INDEX ON cosift.records_2_1 USING hnsw (emb vector_ip_ops)', 'test_1');
        await server.run('ANALYZE cosift.records_2_1', 'test_1');
        // All vectors of long records are scanned, and the others are found by the index.
        expect(await long()).toEqual({ candidates: 38 });
        const index = 'CREATE INDEX ON cosift.passages_2_1 USING hnsw (passage_emb vector_ip_ops)';
        await server.run(index, 'test_1');
        // The index finds fewer vectors than the page needs.
        expect(await long()).toEqual({ candidates: 38 });
        await server.run('DROP INDEX cosift.records_2_1_emb_idx', 'test_1');
        expect(await long()).toEqual({
          not_used: 'the index finds too few records: all of them were scanned',
        });
      });

      test('a record is found once its write is acknowledged, and a deleted one is not', async () => {
        const vector = randomVector();
        const body = Buffer.from(
          JSON.stringify({ records: [{ id: 99_999, data: {}, vector: [...vector] }] }),
        );
        await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
        expect((await search(vector, { approximate })).results[0]).toMatchObject({
          id: 99_999,
          relevance_score: 1,
        });
        await store.deleteRecords('db', { ids: [99_999] });
        expect((await search(vector, { approximate })).results.map(({ id }) => id)).not.toContain(99_999);
      });
    });
  },
);
