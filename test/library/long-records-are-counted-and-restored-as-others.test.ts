import { type Database, lessThan, open } from 'cosift';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restore } from '../../src/cli/restore/restore.js';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';
import { bytesOf, chunked, testDirectory } from '../helpers/archives.js';

const TOPICS = [
  'The violin was made in Cremona by Antonio Stradivari.',
  'A lighthouse guides ships past the rocks at night.',
  'Bread is made of flour, water, salt and yeast.',
  'The telescope showed four moons of Jupiter.',
];
const QUESTIONS = ['Who made the violin?', 'a lamp for ships', 'baking bread', 'moons of a planet'];
const FILLER = 'The committee discussed the budget of the next year at length. ';

/** Records 1 to 40; every second one has a text of about 400 tokens. */
const records = Array.from({ length: 40 }, (_, at) => {
  const topic = `${TOPICS[at % 4]} It is number ${at}.`;
  const before = FILLER.repeat(at % 30);
  const text = at % 2 === 0 ? `${before}${topic} ${FILLER.repeat(33 - (at % 30))}` : topic;
  return { id: at + 1, data: { text, kind: `kind ${at % 3}`, n: at } };
});

let embedder: Embedder;

beforeAll(async () => {
  embedder = await createEmbedder({ workers: 1 });
});
afterAll(() => embedder.close());

interface Exported {
  id: number;
  vector?: number[];
  passages?: { vector: number[] }[];
}

/** The vectors of every record: one, or one for each passage. */
async function vectorsOf(database: Database): Promise<Map<number, number[][]>> {
  const lines = String(await bytesOf(database.exportLines({ vectors: true })))
    .trim()
    .split('\n');
  const exported = lines.map((line) => JSON.parse(line) as Exported);
  return new Map(
    exported.map(({ id, vector, passages }) => [id, passages?.map((one) => one.vector) ?? [vector!]]),
  );
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, value, at) => sum + value * b[at]!, 0);

/** All results of a search, over pages of seven. */
async function pagesOf(database: Database, text: string, lexical: number) {
  const results = [];
  const options = { threshold: 0, lexical, passages: true, limit: 7 };
  for await (const { id, relevance_score, passage } of database.searchAll(text, options))
    results.push({ id, relevance_score, passage });
  return results;
}

test('totals, facets and pages are those of the best passages, and the same after a backup and a restore', async () => {
  await using cosift = await open(await testDirectory());
  const database = await cosift.createDatabase('texts', { embed: { columns: ['text'] }, lexical: true });
  await database.upsert(records);
  expect((await database.describe()).passages).toBeGreaterThan(80);
  const vectors = await vectorsOf(database);
  const all = new Map<string, Awaited<ReturnType<typeof pagesOf>>>();
  for (const question of QUESTIONS) {
    const query = await embedder.embedQuery(question);
    for (const lexical of [0, 0.3]) {
      const found = await pagesOf(database, question, lexical);
      all.set(`${question} ${lexical}`, found);
      expect(found.map(({ id }) => id).sort((a, b) => a - b)).toEqual(records.map(({ id }) => id));
      if (lexical === 0) {
        for (const { id, relevance_score, passage } of found) {
          const scores = vectors.get(id)!.map((vector) => Math.max(0, dot(query, vector)));
          expect(relevance_score).toBeCloseTo(Math.max(...scores), 5);
          expect(passage === undefined).toBe(scores.length === 1);
        }
      }
      for (const count of [3, 17, 31]) {
        // Between two scores that differ.
        const threshold = (found[count - 1]!.relevance_score + found[count]!.relevance_score) / 2;
        const passing = found.filter(({ relevance_score }) => relevance_score >= threshold);
        const kept = passing.map(({ id }) => records[id - 1]!.data).filter(({ n }) => n < 30);
        const counts = new Map<string, number>();
        for (const { kind } of kept) counts.set(kind, (counts.get(kind) ?? 0) + 1);
        const page = await database.search(question, {
          threshold,
          lexical,
          filter: lessThan('n', 30),
          limit: 2,
          total: true,
          facets: [{ column: 'kind', type: 'values' }],
        });
        expect(page.total).toMatchObject({ value: kept.length });
        const facet = page.facets![0] as { values: { value: string; count: number }[] };
        expect(new Map(facet.values.map(({ value, count }) => [value, count]))).toEqual(counts);
      }
    }
  }

  const described = await database.describe();
  const directory = await testDirectory();
  await restore(chunked(await bytesOf(cosift.backup())), directory);
  await using restored = await open(directory);
  const copy = restored.database('texts');
  const { passages, lexical, without_text } = await copy.describe();
  expect({ passages, lexical, without_text }).toEqual({
    passages: described.passages,
    lexical: true,
    without_text: 0,
  });
  for (const question of QUESTIONS)
    for (const lexical of [0, 0.3])
      expect(await pagesOf(copy, question, lexical)).toEqual(all.get(`${question} ${lexical}`));
  expect(await vectorsOf(copy)).toEqual(vectors);
});
