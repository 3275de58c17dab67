import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';

const MODEL = fileURLToPath(new URL('../../models/all-MiniLM-L6-v2/', import.meta.url));
const TEXT = 'a feline rested on the rug';

let root: string;
let builtIn: Embedder;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'cosift-models-'));
  builtIn = await createEmbedder({ workers: 1 });
});
afterAll(async () => {
  await builtIn.close();
  rmSync(root, { recursive: true });
});

/** The built-in model's directory under another name, with some of its files replaced (null: left out). */
function variant(name: string, files: Record<string, unknown>): string {
  const path = join(root, name);
  cpSync(MODEL, path, { recursive: true, filter: (source) => !source.endsWith('.onnx') });
  symlinkSync(join(MODEL, 'onnx/model_quantized.onnx'), join(path, 'onnx/model_quantized.onnx'));
  for (const [file, content] of Object.entries(files)) {
    rmSync(join(path, file));
    if (content !== null) {
      writeFileSync(join(path, file), JSON.stringify(content));
    }
  }
  return path;
}

async function withModel(path: string, body: (embedder: Embedder) => Promise<void>): Promise<void> {
  const embedder = await createEmbedder({ model: path, workers: 1 });
  try {
    await body(embedder);
  } finally {
    await embedder.close();
  }
}

test('the same files are the same model wherever they lie', () =>
  withModel(variant('moved', {}), async (embedder) => {
    expect(embedder).toMatchObject({ model: 'moved', dimensions: 384, fingerprint: builtIn.fingerprint });
    expect(await embedder.embedQuery(TEXT)).toEqual(await builtIn.embedQuery(TEXT));
  }));

test('prompts go before the texts of their kind', () => {
  const prompts = { query: 'query: ', document: 'passage: ' };
  return withModel(
    variant('prompts', { 'config_sentence_transformers.json': { prompts } }),
    async (embedder) => {
      expect(embedder.fingerprint).not.toBe(builtIn.fingerprint);
      expect(await embedder.embedQuery(TEXT)).toEqual(await builtIn.embedQuery(`query: ${TEXT}`));
      const { vectors } = await embedder.embedPassages([TEXT]);
      expect(Float64Array.from(vectors)).toEqual(await builtIn.embedQuery(`passage: ${TEXT}`));
    },
  );
});

test('the longest text is what the directory says', () =>
  withModel(variant('short', { 'sentence_bert_config.json': { max_seq_length: 5 } }), async (embedder) => {
    expect(embedder.fingerprint).not.toBe(builtIn.fingerprint);
    expect(await embedder.embedQuery('a feline')).toEqual(await builtIn.embedQuery('a feline'));
    expect(embedder.window).toBe(5);
    const { splits } = await embedder.embedPassages([TEXT]);
    expect(splits[1]).toBeGreaterThan(1);
  }));

test.each(['cls_token', 'max_tokens', 'lasttoken'])('pooling is what the directory says: %s', (mode) => {
  const pooling = { word_embedding_dimension: 384, [`pooling_mode_${mode}`]: true };
  return withModel(variant(mode, { '1_Pooling/config.json': pooling }), async (embedder) => {
    expect(embedder.fingerprint).not.toBe(builtIn.fingerprint);
    const [own, mean] = [await embedder.embedQuery(TEXT), await builtIn.embedQuery(TEXT)];
    expect(Math.hypot(...own)).toBeCloseTo(1, 6);
    const cosine = own.reduce((sum, value, i) => sum + value * mean[i]!, 0);
    expect(cosine).toBeGreaterThan(0.3);
    expect(cosine).toBeLessThan(0.99);
  });
});

const UNUSABLE: [name: string, files: Record<string, unknown>, why: RegExp][] = [
  ['no-modules', { 'modules.json': null }, /there is no model file .*modules\.json/],
  [
    'modules-are-text',
    { 'modules.json': 'text' },
    /modules\.json cannot be read: it is no JSON object or list/,
  ],
  ['modules-are-no-list', { 'modules.json': {} }, /modules\.json is no list of modules/],
  ['a-module-has-no-type', { 'modules.json': [{ path: '' }] }, /modules\.json is no list of modules/],
  [
    'a-window-without-words',
    { 'sentence_bert_config.json': { max_seq_length: -5 } },
    /its texts have at most -5 tokens; at least 5 are needed/,
  ],
  ['no-tokenizer', { 'tokenizer.json': null }, /no tokenizer\.json/],
  ['no-graph', { 'onnx/model_quantized.onnx': null }, /none of onnx\/model\.onnx/],
  ['graph-is-not-onnx', { 'onnx/model_quantized.onnx': 'text' }, /cannot be loaded/],
  ['tokenizer-is-broken', { 'tokenizer.json': 'text' }, /tokenizer\.json cannot be used/],
];

test.each(UNUSABLE)('one that cannot be used is refused with the reason: %s', async (name, files, why) => {
  await expect(createEmbedder({ model: variant(name, files), workers: 1 })).rejects.toMatchObject({
    code: 'invalid_request',
    detail: expect.stringMatching(why),
  });
});
