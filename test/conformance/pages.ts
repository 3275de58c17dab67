import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { RECORD_FORMS } from '../helpers/forms.js';
import { inFull } from '../helpers/full.js';
import { Random } from '../helpers/random.js';
import type { OpenDatabases } from './open-databases.js';
import { given, type KnownRecord, type OracleRequest } from './oracle.js';
import { randomDatabase } from './random-database.js';
import { identityOf, randomFilter, randomVector, START } from './random-records.js';
import { seedsOn, timesOn } from './rounds.js';
import { SharedDatabases } from './shared-databases.js';
import type { Operation, TestDatabase } from './test-database.js';

const RECORDS = 240;

async function filled(shared: SharedDatabases, seed: number) {
  const random = new Random(seed);
  return { random, ...(await randomDatabase(shared, random, RECORDS)) };
}

function randomRequest(random: Random): [Operation, OracleRequest] {
  const filter = random.chance(40) ? { filter: randomFilter(random, 2) } : {};
  if (random.chance(50)) return ['query', filter];
  const search = { vector: randomVector(random), threshold: random.pick([0, 0.2, 0.4]) };
  return ['search', { ...filter, search }];
}

/** Cursor pagination: every match once, at any page size, whatever is written meanwhile. */
export function describePages(open: OpenDatabases): void {
  describe('pages', () => {
    const shared = SharedDatabases.use(open);

    test.each(seedsOn(open, [11, 12]))(
      'show each match once, at limits that change from page to page (seed %i)',
      async (seed) => {
        const { random, database, oracle } = await filled(shared, seed);
        for (let round = 0; round < timesOn(open, 16, 6); round++) {
          const form = random.pick(RECORD_FORMS);
          const [operation, request] = randomRequest(random);
          const limit = () => random.pick([1, 7, 50, 99, 100]);
          const found = await database.drain(operation, request, { form, limit });
          const told = `round ${round}: ${form} ${JSON.stringify(request)}`;
          expect(found, told).toEqual(oracle.results(request, form));
        }
      },
    );

    test('pages of 1 show each match once, ties included', async () => {
      const { random, database, oracle } = await filled(shared, 13);
      const search = { vector: randomVector(random), threshold: 0 };
      for (const form of inFull(RECORD_FORMS, RECORD_FORMS.slice(0, 1))) {
        for (const [operation, request] of [
          ['search', { search }],
          ['query', {}],
        ].slice(0, timesOn(open, 2, 1)) as [Operation, OracleRequest][]) {
          const expected = oracle.results(request, form);
          if (operation === 'search') {
            const scores = new Set(expected.map((result) => result.relevance_score));
            expect(scores.size, 'most scores tie').toBeLessThan(expected.length / 3);
          }
          const found = await database.drain(operation, request, { form, limit: () => 1 });
          expect(found).toEqual(expected);
        }
      }
    });

    test('a full last page says that there is no more', async () => {
      const database = await shared.create();
      await database.upsert([1, 2, 3, 4].map((id) => ({ id, data: {}, vector: [1, 0] })));
      for (const limit of [4, 5]) {
        const page = await database.search({ search: { vector: [1, 0] }, pagination: { limit } });
        expect(page.results).toHaveLength(4);
        expect(page.pagination).toEqual({ limit, has_more: false });
        expect((await database.query({ pagination: { limit } })).pagination).toEqual({
          limit,
          has_more: false,
        });
      }
    });

    test('an empty database has one page, which is empty', async () => {
      const database = await shared.create();
      const expected = { results: [], pagination: { limit: 50, has_more: false } };
      expect(await database.search({ search: { vector: [1, 0] } })).toEqual(expected);
      expect(await database.query()).toEqual(expected);
      expect((await database.query({ total: true })).total).toEqual({ value: 0 });
    });

    test('go on after the record of the cursor is deleted or changed', async () => {
      const { random, database, oracle } = await filled(shared, 14);
      for (let round = 0; round < 12; round++) {
        const form = round % 2 === 0 ? 'uuid' : 'integer';
        const vector = randomVector(random);
        const request = { search: { vector, threshold: 0 } };
        const expected = oracle.results(request, form).slice(30);
        const first = await database.search({ ...request, pagination: { limit: 30 } }, { form });
        const last = first.results[29]!;
        const record = [...oracle.records.values()].find(
          ({ id, uuid }) => last.id === id || last.id === uuid,
        )!;
        if (round % 4 < 2) {
          expect(await database.delete({ ids: [last.id] })).toBe(1);
          oracle.records.delete(record.id);
        } else {
          // The record moves to the start of the order, or beyond its end. Neither may move the page.
          const sign = random.chance(50) ? 1 : -1;
          const moved = { ...record, vector: vector.map((component) => sign * component) };
          expect(await database.put(given(moved))).toBe('changed');
          oracle.records.set(record.id, moved);
        }
        const pagination = { limit: 100, cursor: first.pagination.next_cursor };
        const next = await database.search({ ...request, pagination }, { form });
        const others = next.results.filter(({ id }) => id !== last.id);
        expect(others.length, 'the page has results').toBeGreaterThan(20);
        expect(others, `round ${round}`).toEqual(expected.slice(0, others.length));
      }
    });

    test('a query goes on after the record of the cursor is deleted', async () => {
      const { database, oracle } = await filled(shared, 15);
      for (const sort of [undefined, { column: 'mixed' }, { column: 'size', direction: 'desc' as const }]) {
        const request = sort === undefined ? {} : { sort };
        const expected = oracle.results(request, 'integer').slice(30);
        const first = await database.query({ ...request, pagination: { limit: 30 } });
        const last = first.results[29]!;
        expect(await database.delete({ ids: [last.id] })).toBe(1);
        oracle.records.delete(Number(last.id));
        const pagination = { limit: 100, cursor: first.pagination.next_cursor };
        expect((await database.query({ ...request, pagination })).results).toEqual(expected.slice(0, 100));
      }
    });

    test('a cursor goes on in a changed request from the same position', async () => {
      const { random, database, oracle } = await filled(shared, 16);
      const vector = randomVector(random);
      const before = { search: { vector, threshold: 0 } };
      const first = await database.search({ ...before, pagination: { limit: 40 } });
      const seen = new Set(first.results.map(({ id }) => id));
      const cursor = first.pagination.next_cursor!;
      const filter = {
        condition: 'OR' as const,
        rules: [{ column: 'open', operator: 'equals' as const, value: true }],
      };
      const after: OracleRequest = { search: { vector, threshold: 0.1 }, filter };
      const expected = oracle.results(after, 'integer').filter(({ id }) => !seen.has(id));
      expect(expected.length).toBeGreaterThan(10);
      const page = await database.search({ ...after, pagination: { limit: 100, cursor } });
      expect(page.results).toEqual(expected.slice(0, 100));
    });

    test('show each record that stays once while others are written', async () => {
      const { random, database, oracle } = await filled(shared, 17);
      const stays = ({ id }: { id: string | number }) => Number(id) % 2 === 0;
      let created = RECORDS;
      const write = async () => {
        const rewritten = Array.from({ length: 6 }, () =>
          randomRecord(random, 1 + 2 * random.below(RECORDS / 2)),
        );
        created += 2;
        rewritten.push(randomRecord(random, created - 1));
        await database.upsert(
          [...new Map(rewritten.map((record) => [record.id, record])).values()].map(given),
        );
        await database.delete({ ids: [1 + 2 * random.below(RECORDS / 2)] });
      };
      const requests: [Operation, OracleRequest][] = [
        ['search', { search: { vector: randomVector(random), threshold: 0 } }],
        ['query', {}],
        ['query', { sort: { column: 'size' } }],
        ['query', { sort: { column: 'mixed', direction: 'desc' } }],
      ];
      for (const [operation, request] of timesOn(open, requests, requests.slice(0, 2))) {
        let pages = 0;
        const found = await database.drain(operation, request, {
          limit: () => random.pick([10, 20]),
          between: async () => {
            pages += 1;
            await write();
          },
        });
        expect(pages).toBeGreaterThan(3);
        expect(found.filter(stays)).toEqual(oracle.results(request, 'integer').filter(stays));
      }
    });

    test('show each record that stays exactly once during constant writes', async () => {
      const { random, database, oracle } = await filled(shared, 18);
      const stays = ({ id }: { id: string | number }) => Number(id) % 2 === 0;
      const vector = randomVector(random);
      const request = { search: { vector, threshold: 0 } };
      let done = false;
      let writes = 0;
      const writer = async () => {
        for (; !done; writes++) {
          await database.put(given(randomRecord(random, 1 + 2 * random.below(RECORDS / 2))));
        }
      };
      const writers = [writer(), writer()];
      try {
        for (let round = 0; round < 4 || writes < 8; round++) {
          const found = await database.drain('search', request, { limit: () => 25 });
          expect(found.filter(stays)).toEqual(oracle.results(request, 'integer').filter(stays));
        }
      } finally {
        done = true;
        await Promise.all(writers);
      }
    });

    test('a reader sees a batch whole or not at all', async () => {
      const database = await shared.create();
      const batch = (version: number) =>
        Array.from({ length: 20 }, (_, at) => ({ id: at + 1, data: { version }, vector: [1, version] }));
      await database.upsert(batch(0));
      const seen = new Set<unknown>();
      let version = 0;
      let done = false;
      const writing = (async () => {
        while (!done) {
          version += 1;
          await database.upsert(batch(version));
        }
      })();
      try {
        while (seen.size < 4) {
          const listed = await database.query();
          const found = await database.search({ search: { vector: [1, 1], threshold: 0 } });
          for (const { results } of [listed, found]) {
            expect(results).toHaveLength(20);
            const versions = new Set(results.map(({ data }) => data.version));
            expect(versions.size, 'a page shows one version').toBe(1);
            for (const version of versions) seen.add(version);
          }
        }
      } finally {
        done = true;
        await writing;
      }
      expect((await database.query()).results[0]!.data.version).toBe(version);
    });
  });

  describe('pages with a limited number of bytes', () => {
    const shared = SharedDatabases.use(open, { limits: { ...LIMITS, page_bytes: 3_000 } });

    test('have fewer records than the limit, at least one, and lose none', async () => {
      const database: TestDatabase = await shared.create();
      const records = Array.from({ length: 12 }, (_, at) => ({
        id: at + 1,
        data: { text: 'x'.repeat(at === 5 ? 5_000 : 900) },
        vector: [1, at],
      }));
      await database.upsert(records);
      for (const [operation, request] of [
        ['search', { search: { vector: [1, 0], threshold: 0 } }],
        ['query', { sort: { column: 'text', direction: 'desc' } }],
      ] as [Operation, object][]) {
        const ids: unknown[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await database.ask(operation, {
            ...request,
            pagination: { limit: 100, ...(cursor && { cursor }) },
          });
          expect(page.results.length).toBeGreaterThan(0);
          expect(page.results.length).toBeLessThanOrEqual(3);
          expect(page.pagination.limit).toBe(100);
          ids.push(...page.results.map(({ id }) => id));
          cursor = page.pagination.next_cursor;
          if (cursor === undefined) break;
        }
        expect(ids).toHaveLength(12);
        expect(new Set(ids).size).toBe(12);
      }
    });
  });
}

function randomRecord(random: Random, id: number): KnownRecord {
  const data = {
    size: random.below(40),
    mixed: random.pick([null, true, 'text', 3]),
    version: random.next(),
  };
  const at = START + random.below(60) * 1_000;
  return { ...identityOf(id), data, vector: randomVector(random), created: at, changed: at, synced: at };
}
