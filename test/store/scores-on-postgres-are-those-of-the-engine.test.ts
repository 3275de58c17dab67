import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import type { EmbeddedVectors } from '../../src/store/embedded-vectors.js';
import { LocalStore } from '../../src/store/local/index.js';
import { Catalog } from '../../src/store/postgres/catalog.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { RecordReader } from '../../src/store/postgres/record-reader.js';
import { marginOf } from '../../src/store/postgres/scores.js';
import { Searcher } from '../../src/store/postgres/searcher.js';
import { Servers } from '../../src/store/postgres/servers.js';
import type { RecordForm, RecordStore, StoreSearchRequest } from '../../src/store/record-store.js';
import { uuidOf } from '../conformance/random-records.js';
import { inFull } from '../helpers/full.js';
import { changedStatements } from '../helpers/postgres/around-statements.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { Random } from '../helpers/random.js';
import { searchStore } from '../helpers/search-store.js';

const DIMENSIONS = 64;
const RECORDS = inFull(1_200, 400);
const MARGIN = marginOf(DIMENSIONS);
const FINGERPRINT = 'a model';
const random = new Random(20_261_122);

const unit = (): number[] => {
  const vector = Array.from({ length: DIMENSIONS }, () => random.next() * 2 - 1);
  const length = Math.hypot(...vector);
  return vector.map((component) => component / length);
};
const dot = (a: number[], b: number[]) => a.reduce((sum, component, at) => sum + component * b[at]!, 0);

const query = unit();
/** A unit vector that is orthogonal to the query. */
const orthogonal = (() => {
  const other = unit();
  const part = dot(other, query);
  const rest = other.map((component, at) => component - part * query[at]!);
  const length = Math.hypot(...rest);
  return rest.map((component) => component / length);
})();
/** A vector with a given score. */
const withScore = (score: number) =>
  query.map((component, at) => score * component + Math.sqrt(1 - score * score) * orthogonal[at]!);

/** Data that a store with scores in single precision confuses. */
function hostileVector(at: number): number[] {
  // Exact duplicates, near and far.
  if (at % 8 < 3) return withScore([0.9, 0.5, 0.2][at % 3]!);
  // Scores that differ by 1 to 200 steps of 1e-9, which single precision does not tell apart.
  if (at % 8 < 5) return withScore(0.7 + ((at * 37) % 200) * 1e-9);
  // At the threshold, and a step beside it.
  if (at % 8 === 5) return withScore(0.2 + ((at % 3) - 1) * 1e-9);
  // Not similar at all, or less than that.
  if (at % 8 === 6) return at % 2 === 0 ? orthogonal : withScore(-0.3);
  return unit();
}

/** The vectors of each record: every third record has two to five. */
const VECTORS = Array.from({ length: RECORDS }, (_, at) => {
  const count = at % 3 === 0 ? 2 + (at % 4) : 1;
  return Array.from({ length: count }, (_, passage) => hostileVector(at + passage * 5));
});

/** The vectors of the texts of records from `first` on, as a model would give them. */
function embedded(first: number, count: number): EmbeddedVectors {
  const vectors: number[] = [];
  const splits: number[] = [];
  for (let text = 0; text < count; text++) {
    const own = VECTORS[first + text] as number[][];
    vectors.push(...own.flat());
    if (own.length === 1) continue;
    splits.push(text, own.length, own.length, ...own.flatMap((_, passage) => [0, passage, passage + 1]));
  }
  return { vectors: Float32Array.from(vectors), splits: Uint32Array.from(splits), fingerprint: FINGERPRINT };
}

/** Compares pages; a failure shows the first difference, because a page is long. */
function expectSame(pages: string[], expected: string[]): void {
  for (const [at, page] of expected.entries()) {
    const found = pages[at] ?? '';
    const same = [...page].findIndex((character, place) => character !== found[place]);
    if (same !== -1) {
      const around = (text: string) => text.slice(Math.max(0, same - 80), same + 200);
      expect(`page ${at}: ${around(found)}`).toBe(`page ${at}: ${around(page)}`);
    }
  }
  expect(pages).toHaveLength(expected.length);
}

// Thousands of statements, which take long on a busy machine.
describe('searches of hostile data (seed 20261122)', () => {
  let directory: string;
  let local: LocalStore;
  let pglite: PGliteDatabase;
  let postgres: PostgresStore;

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'cosift-scores-'));
    local = LocalStore.open(directory, LIMITS, { threads: 1 });
    pglite = await PGliteDatabase.open();
    postgres = new PostgresStore(pglite, LIMITS);
    const records = Array.from({ length: RECORDS }, (_, at) => ({
      id: at + 1,
      uuid: uuidOf(at + 1),
      data: { word: `w${at % 7} and more`, group: at % 5 },
      timestamps: {
        created_at: '2026-01-01',
        changed_at: '2026-01-01',
        synced_at: new Date(Date.UTC(2026, 0, 1) + at * 2000).toISOString(),
      },
    }));
    for (const store of [local, postgres]) {
      await store.load();
      await store.createDatabase('db', {
        model: 'model',
        fingerprint: FINGERPRINT,
        dimensions: DIMENSIONS,
        embed: { columns: ['word'] },
        lexical: true,
      });
      for (let at = 0; at < RECORDS; at += 400) {
        const body = Buffer.from(JSON.stringify({ records: records.slice(at, at + 400) }));
        await store.commit('db', await store.prepareBatch('db', body), embedded(at, 400));
      }
    }
  });

  afterAll(async () => {
    await local.close();
    await pglite.destroy();
    await rm(directory, { recursive: true });
  });

  const requests: [string, Partial<StoreSearchRequest>][] = [
    ['everything', { threshold: 0, passages: true }],
    ['the default threshold', { threshold: 0.2 }],
    ['a threshold among near-duplicates', { threshold: 0.7000001 }],
    ['only copies of the query', { threshold: 1 }],
    [
      'a filter',
      {
        threshold: 0,
        filter: { condition: 'AND', rules: [{ column: 'group', operator: 'equals', value: 3 }] },
      },
    ],
    ['exact words', { threshold: 0.1, lexical: { weight: 0.3, text: 'w3 w5' } }],
    ['the beginning of a word', { threshold: 0.1, lexical: { weight: 0.3, text: 'w3', prefix: true } }],
    ['a time range', { threshold: 0, time_range: { start_time: '2026-01-01T00:10:00Z' } }],
  ];

  const walk = async (
    store: Pick<RecordStore, 'searches'>,
    request: Partial<StoreSearchRequest>,
    form: RecordForm,
    limits: () => number,
  ): Promise<string[]> => {
    const pages: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const asked = {
        threshold: 0,
        ...request,
        form,
        limit: limits(),
        embedded_by: FINGERPRINT,
        ...(cursor && { cursor }),
      };
      const { body } = await searchStore(store, 'db', asked, Float64Array.from(query));
      pages.push(Buffer.from(body).toString('utf8'));
      cursor = JSON.parse(pages.at(-1)!).pagination.next_cursor;
      if (cursor === undefined) return pages;
    }
  };
  /** Page sizes that are the same for both stores. */
  const sizes = (seed: number) => {
    const sizes = new Random(seed);
    return () => 30 + sizes.below(170);
  };

  const few = requests.filter(([name]) => /^(everything|exact words|a time range)$/.test(name));
  test.each(inFull(requests, few))('%s: every byte of every page is the same', async (_, request) => {
    for (const form of inFull(['integer', 'uuid'] as const, ['uuid'])) {
      const expected = await walk(local, { ...request, total: true }, form, sizes(7));
      expectSame(await walk(postgres, { ...request, total: true }, form, sizes(7)), expected);
    }
  });

  /** Searches with scores that are off by up to `error`, by other amounts on each page. */
  const disturbed = (error: number, margin?: () => number) => {
    let salt = 1;
    const database = changedStatements(pglite, () => {
      salt += 7_919;
      const noise = `hashint8(id * ${salt}) / 2147483648.0::float8 * ${error}::float8`;
      return (text) =>
        text.replaceAll(/-\((passage_)?emb <#> (\$\d+)::vector\)/g, `(-($1emb <#> $2::vector) + ${noise})`);
    });
    const servers = new Servers(database, undefined);
    const catalog = new Catalog(LIMITS, servers);
    return new Searcher(new RecordReader(servers, catalog), catalog, margin);
  };

  test.each(inFull(requests, few))('%s: the same with disturbed scores', async (_, request) => {
    const expected = await walk(local, request, 'integer', sizes(11));
    expectSame(await walk(disturbed(0.9 * MARGIN), request, 'integer', sizes(11)), expected);
  });

  test('control: without a margin, the disturbed scores lose records', async () => {
    const request = { threshold: 0.2 };
    const expected = (await walk(local, request, 'integer', sizes(11))).flatMap(
      (page) => JSON.parse(page).results,
    );
    const pages = await walk(
      disturbed(0.9 * MARGIN, () => 0),
      request,
      'integer',
      sizes(11),
    );
    const found = pages.flatMap((page) => JSON.parse(page).results);
    expect(found.length).toBeLessThan(expected.length);
  });

  test('control: scores outside of the margin are noticed', async () => {
    await expect(walk(disturbed(20 * MARGIN), { threshold: 0 }, 'integer', sizes(11))).rejects.toMatchObject({
      code: 'damaged',
    });
  });
});
