import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';
import { REFERENCES } from './texts.js';

let embedder: Embedder;

beforeAll(async () => {
  embedder = await createEmbedder({ workers: 1 });
});
afterAll(() => embedder.close());

test.each(REFERENCES)('within what int8 allows of the float32 vector: $text', async ({ text, vector }) => {
  const found = await embedder.embedQuery(text);
  const cosine = vector.reduce((sum, value, i) => sum + value * found[i]!, 0);
  expect(cosine).toBeGreaterThan(0.985);
  expect(cosine).toBeLessThan(1.000_01);
});

test('vectors are of unit length, that of no text too', async () => {
  for (const text of ['', 'a', 'word '.repeat(400)]) {
    const vector = await embedder.embedQuery(text);
    expect(vector).toHaveLength(384);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  }
});

test('a text too long is cut after 254 words and keeps its end mark', async () => {
  const cut = await embedder.embedQuery('word '.repeat(254));
  expect(await embedder.embedQuery('word '.repeat(255))).toEqual(cut);
  expect(await embedder.embedQuery('word '.repeat(2_000))).toEqual(cut);
  expect(await embedder.embedQuery('word '.repeat(253))).not.toEqual(cut);
});

test('a record and a query of the same text have the same vector', async () => {
  const text = REFERENCES[4]!.text;
  expect((await embedder.embedPassages([text])).vectors).toEqual(await embedder.embedQuery(text));
});

test('no texts give no vectors', async () => {
  expect((await embedder.embedPassages([])).vectors).toHaveLength(0);
});
