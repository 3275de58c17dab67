import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';
import { shaOf, shasOf, TEXTS } from './texts.js';

let alone: Embedder;
let pair: Embedder;
let expected: string[];

beforeAll(async () => {
  alone = await createEmbedder({ workers: 1 });
  pair = await createEmbedder({ workers: 2 });
  expected = shasOf((await alone.embedPassages(TEXTS)).vectors, alone.dimensions);
});
afterAll(() => Promise.all([alone.close(), pair.close()]));

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

test('different texts have different vectors', () => {
  expect(TEXTS).toHaveLength(30);
  // The model knows nothing of no text, of spaces, and of a word that is too long: they have no vector.
  expect(new Set(expected).size).toBe(28);
});

test('in any order, on two workers', async () => {
  const { vectors: reversed } = await pair.embedPassages([...TEXTS].reverse());
  expect(shasOf(reversed, pair.dimensions).reverse()).toEqual(expected);
  // Seed: a fixed step that has no factor in common with the number of texts.
  const order = TEXTS.map((_, i) => (i * 7 + 3) % TEXTS.length);
  const { vectors } = await pair.embedPassages(order.map((i) => TEXTS[i]!));
  const mixed = shasOf(vectors, pair.dimensions);
  expect(mixed).toEqual(order.map((i) => expected[i]));
});

test('as queries and records at the same time', async () => {
  const [queries, records] = await Promise.all([
    Promise.allSettled(TEXTS.map((text) => pair.embedQuery(text))),
    Promise.all(TEXTS.map((text) => pair.embedPassages([text, text]))),
  ]);
  const zeros = shaOf(new Float32Array(pair.dimensions));
  for (const [i, query] of queries.entries()) {
    // A query of which the model knows nothing is refused; such a record has no vector.
    if (query.status === 'rejected') {
      expect(query.reason).toMatchObject({ code: 'invalid_request' });
      expect(expected[i]).toBe(zeros);
    } else expect(shaOf(new Float32Array(query.value))).toBe(expected[i]);
  }
  expect(queries.filter(({ status }) => status === 'rejected')).toHaveLength(3);
  for (const [i, { vectors }] of records.entries()) {
    expect(shasOf(vectors, pair.dimensions)).toEqual([expected[i], expected[i]]);
  }
});

test('in another process, which neither connects nor writes usage reports', () => {
  const home = mkdtempSync(join(tmpdir(), 'cosift-home-'));
  try {
    const output = execFileSync(
      process.execPath,
      ['--import', 'tsx', '--import', here('refuse-network.mjs'), here('print-shas.mjs'), '2'],
      // Not our environment: with CI set, onnxruntime would be silent by itself.
      { input: JSON.stringify(TEXTS), encoding: 'utf8', env: { HOME: home } },
    );
    expect(JSON.parse(output)).toEqual(expected);
    // Reports would leave a device id and a store of unsent events here.
    expect(readdirSync(home)).toEqual([]);
  } finally {
    rmSync(home, { recursive: true });
  }
});
