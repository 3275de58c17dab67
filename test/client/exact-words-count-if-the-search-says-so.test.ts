import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CosiftError, type Database, type Databases } from '../../src/api/index.js';
import { Client } from '../../src/client/index.js';
import { open } from '../../src/library/cosift.js';
import { Service } from '../server/service.js';

interface Package {
  name: string;
  description: string;
}

const PACKAGES: Package[] = [
  { name: 'gcc', description: 'GNU C compiler' },
  { name: 'gcc-doc', description: 'documentation of the GNU compilers' },
  { name: 'clang', description: 'C, C++ and Objective-C compiler' },
  { name: 'firefox', description: 'a web browser' },
  { name: 'chromium', description: 'a web browser, as free as a fox' },
  { name: 'libgtk-3-0', description: 'a toolkit for graphical user interfaces' },
];

const sides = new Map<string, Databases>();
const packages = new Map<string, Database<Package>>();
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-words-'));
  const service = await Service.start();
  sides.set('library', await open(directory));
  sides.set('client', new Client({ url: service.url, key: service.adminKey }));
  for (const [side, databases] of sides) {
    const database = await databases.createDatabase<Package>('packages', {
      embed: { columns: ['name', 'description'] },
      lexical: true,
    });
    await database.upsert(PACKAGES.map((data, at) => ({ id: at + 1, data })));
    packages.set(side, database);
    ends.push(() => databases.close());
  }
  ends.push(
    () => service.stop(),
    () => rm(directory, { recursive: true }),
  );
});
afterAll(async () => {
  for (const end of ends) await end();
});

const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CosiftError);
  const { code, problems } = error as CosiftError;
  return [code, problems.map(({ pointer }) => pointer)];
};

describe.each(['library', 'client'])('over the %s', (side) => {
  const database = () => packages.get(side) as Database<Package>;

  test.each([
    ['gcc', 'gcc'],
    ['GCC', 'gcc'],
    ['firefxo', 'firefox'],
    ['libgtk-3-0', 'libgtk-3-0'],
    ['libgt-k3-0', 'libgtk-3-0'],
    ['firef', 'firefox'],
  ])('%s finds the package %s first', async (text, name) => {
    const { results } = await database().search(text, { lexical: 0.4, threshold: 0 });
    expect(results[0]?.data.name).toBe(name);
  });

  test('the score is the weighted sum of the two parts that explain shows', async () => {
    const { results } = await database().search('gcc compiler', {
      lexical: 0.3,
      threshold: 0,
      explain: true,
    });
    expect(results).toHaveLength(PACKAGES.length);
    const plain = await database().search('gcc compiler', { threshold: 0 });
    const meaning = new Map(plain.results.map(({ id, relevance_score }) => [id, relevance_score]));
    let matches = 0;
    for (const { id, relevance_score, explain } of results) {
      const parts = (explain as { score: { meaning: number; lexical: number } }).score;
      expect(parts.meaning).toBe(meaning.get(id));
      const steps = 7 * Math.round(parts.meaning * 1e9) + 3 * Math.round(parts.lexical * 1e9);
      expect(Math.round(relevance_score * 1e9)).toBe(Math.floor((steps + 5) / 10));
      matches += parts.lexical > 0 ? 1 : 0;
    }
    expect(matches).toBeGreaterThan(1);
    expect(matches).toBeLessThan(PACKAGES.length);
  });

  test.each([{}, { explain: true }, { passages: true }])(
    'words that the model does not know are searched for with all the weight on words (%j)',
    async (more) => {
      const search = { threshold: 0, ...more };
      const { results } = await database().search('🎉', { ...search, lexical: 1 });
      expect(results.map(({ relevance_score }) => relevance_score)).toEqual(PACKAGES.map(() => 0));
      expect(await refusal(database().search('🎉', { ...search, lexical: 0.9 }))).toEqual([
        'invalid_request',
        ['/query'],
      ]);
    },
  );

  test('the words that match are shown where they are asked for', async () => {
    const page = await database().search('gcc compilers', { lexical: 0.4, limit: 2, highlights: true });
    const shown = page.results.map(({ data, highlights = {} }) => {
      const places = Object.entries(highlights) as [keyof Package, [number, number][]][];
      return places.map(([column, found]) => found.map(([start, end]) => data[column].slice(start, end)));
    });
    expect(shown).toEqual([
      [['gcc'], ['compiler']],
      [['gcc'], ['compilers']],
    ]);
    expect(await refusal(database().search('gcc', { highlights: true }))).toEqual([
      'invalid_request',
      ['/highlights'],
    ]);
    expect(await refusal(database().query({ highlights: true } as object))).toEqual([
      'invalid_request',
      ['/highlights'],
    ]);
    const [one] = await database().searchMany([
      { search: 'gcc', lexical: 1, limit: 1, highlights: true, columns: [] },
    ]);
    expect(one).toMatchObject({ page: { results: [{ data: {}, highlights: {} }] } });
  });

  test('a weight of 0 is a search by meaning', async () => {
    const plain = await database().search('a compiler', { threshold: 0 });
    expect(await database().search('a compiler', { lexical: 0, threshold: 0 })).toEqual(plain);
  });

  test('pages are complete, and totals and facets count what they find', async () => {
    const search = { lexical: 0.5, threshold: 0.1 };
    const whole = await database().search('browser', {
      ...search,
      total: true,
      facets: [{ column: 'name' }],
    });
    const found: unknown[] = [];
    for await (const { id } of database().searchAll('browser', { ...search, limit: 1 })) found.push(id);
    expect(found).toEqual(whole.results.map(({ id }) => id));
    expect(whole.total?.value).toBe(found.length);
    expect(whole.facets?.[0]).toMatchObject({ column: 'name' });
  });

  test('the description tells that words are indexed, and their size', async () => {
    const described = await database().describe();
    expect(described.lexical).toBe(true);
    expect(described.lexical_records).toBeLessThanOrEqual(PACKAGES.length);
    expect(described.sizes.lexical_bytes).toBeGreaterThan(0);
  });

  test('what cannot be done is refused', async () => {
    const databases = sides.get(side) as Databases;
    const plain = await databases.createDatabase('plain');
    await plain.upsert([{ id: 1, data: { text: 'a tower' } }]);
    expect(await refusal(plain.search('tower', { lexical: 0.3 }))).toEqual(['invalid_request', ['/lexical']]);
    expect(await refusal(database().search('gcc', { lexical: 1.5 }))).toEqual([
      'invalid_request',
      ['/lexical'],
    ]);
    expect(await refusal(database().search('gcc', { prefix: true }))).toEqual([
      'invalid_request',
      ['/prefix'],
    ]);
    expect((await plain.configure({ lexical: true })).lexical).toBe(true);
    await databases.createDatabase('plain');
    const { results } = await plain.search('tower', { lexical: 0.3 });
    expect(results).toHaveLength(1);
  });

  test('a search by vector takes a text for its words alone', async () => {
    const databases = sides.get(side) as Databases;
    const own = await databases.createDatabase('own', { dimensions: 2, lexical: true });
    await own.upsert([
      { id: 1, data: { name: 'gcc' }, vector: [1, 0] },
      { id: 2, data: { name: 'clang' }, vector: [1, 0] },
    ]);
    const page = await own.search({ vector: [1, 0], text: 'clang' }, { lexical: 0.5 });
    expect(page.results.map(({ id, relevance_score }) => [id, relevance_score])).toEqual([
      [2, 1],
      [1, 0.5],
    ]);
    expect(await refusal(own.search({ vector: [1, 0] }, { lexical: 0.5 }))).toEqual([
      'invalid_request',
      ['/lexical'],
    ]);
    expect(await refusal(own.search({ vector: [1, 0], text: 'clang' }))).toEqual([
      'invalid_request',
      ['/query'],
    ]);
    const unweighted = await own.search({ vector: [1, 0], text: 'clang' }, { lexical: 0 });
    expect(unweighted.results.map(({ id, relevance_score }) => [id, relevance_score])).toEqual([
      [1, 1],
      [2, 1],
    ]);
    const { vector = [] } = (await database().get(1, { vectors: true })) ?? {};
    const withModel = await database().search({ vector, text: 'gcc' }, { lexical: 1, threshold: 0.5 });
    const words = await database().search('gcc', { lexical: 1, threshold: 0.5 });
    expect(withModel.results).toEqual(words.results);
    expect(await refusal(database().search({ vector }, { lexical: 0.5 }))).toEqual([
      'invalid_request',
      ['/lexical'],
    ]);
  });

  test.each([
    // Each of these words is one token of the model, whose window a text must not exceed.
    ['8 kB of text', `${'g'.repeat(200)} `.repeat(39)],
    ['one letter', 'c'],
    ['punctuation', '++ --- !?'],
    ['ideographs', '日本語'],
    ['a long word', 'x'.repeat(7_900)],
    ['combining marks', 'e\u0301\u0301\u0301'],
    ['NUL', 'gcc\u0000gcc'],
  ])('%s is searched for', async (_, text) => {
    const { results } = await database().search(text, { lexical: 1, threshold: 0 });
    expect(results).toHaveLength(PACKAGES.length);
  });
});
