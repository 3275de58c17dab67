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

test('vectors are of unit length, and no text has none', async () => {
  for (const text of ['', ' ']) {
    await expect(embedder.embedQuery(text)).rejects.toMatchObject({ code: 'invalid_request' });
  }
  for (const text of ['a', 'word '.repeat(250)]) {
    const vector = await embedder.embedQuery(text);
    expect(vector).toHaveLength(384);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 6);
  }
});

test('a text beyond the window is split, and a query has the mean direction of its passages', async () => {
  expect(await embedder.embedQuery('word '.repeat(254))).toHaveLength(embedder.dimensions);
  const text = REFERENCES.map(({ text }) => `${text} means nothing. `)
    .join('')
    .repeat(6);
  const mean = await embedder.embedQuery(text);
  const { vectors: parts } = await embedder.embedPassages([text]);
  expect(parts.length).toBeGreaterThan(3 * embedder.dimensions);
  const sum = new Float64Array(embedder.dimensions);
  for (const [at, value] of parts.entries()) sum[at % sum.length]! += value;
  const length = Math.hypot(...sum);
  for (const [at, value] of sum.entries()) expect(mean[at]).toBeCloseTo(value / length, 7);
  expect(await embedder.embedQuery(text)).toEqual(mean);
  const { vectors: both } = await embedder.embedTexts('query', ['a', text], { pointerOf: String });
  expect(Float64Array.from(both.subarray(embedder.dimensions))).toEqual(mean);
  const refused = { code: 'invalid_request', problems: [{ code: 'value_too_long' }] };
  await expect(embedder.embedQuery('word '.repeat(9_000))).rejects.toMatchObject(refused);
  const { vectors, splits } = await embedder.embedPassages(['a', 'word '.repeat(255), 'b']);
  expect(splits.slice(0, 3)).toEqual(Uint32Array.of(1, 3, 3));
  expect(vectors).toHaveLength(5 * embedder.dimensions);
  const { vectors: first } = await embedder.embedPassages(['a']);
  expect(vectors.subarray(0, embedder.dimensions)).toEqual(first);
});

test('a record and a query of the same text have the same vector', async () => {
  const text = REFERENCES[4]!.text;
  const { vectors } = await embedder.embedPassages([text]);
  expect(Float64Array.from(vectors)).toEqual(await embedder.embedQuery(text));
});

test('no texts give no vectors', async () => {
  expect((await embedder.embedPassages([])).vectors).toHaveLength(0);
});
