import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createEmbedder, readModelDirectory } from '../../src/embedding/index.js';
import { TextTokenizer } from '../../src/embedding/tokenizer.js';

const DIRECTORY = path.resolve(import.meta.dirname, '../../models/multilingual-e5-small');

interface Reference {
  kind: 'query' | 'passage';
  text: string;
  tokens: number[];
  /** Rounded to five decimals. */
  vector: number[];
}

/** Made in Python: tokens by `tokens_of` of models/make_multilingual_e5.py, vectors by `Model.embed` there. */
const REFERENCE: Reference[] = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'multilingual-reference.json'), 'utf8'),
);

// The weights are made by `npm run pack`.
test.skipIf(!existsSync(path.join(DIRECTORY, 'tokenizer.json')))(
  'tokens and vectors of texts in several languages, with the prompt of their kind',
  { timeout: 60_000 },
  async () => {
    const model = await readModelDirectory(DIRECTORY);
    expect(model).toMatchObject({ prompts: { query: 'query: ', passage: 'passage: ' }, pooling: ['mean'] });
    const tokenizer = new TextTokenizer(model);
    const embedder = await createEmbedder({ model: DIRECTORY, workers: 1 });
    for (const { kind, text, tokens, vector } of REFERENCE) {
      expect(tokenizer.encode(`${kind}: ${text}`), text).toEqual(tokens);
      const { vectors } = await embedder.embedTexts(kind, [text], { pointerOf: () => '' });
      const cosine = vectors.reduce((sum, value, at) => sum + value * vector[at]!, 0);
      // Vectors of processors of another kind differ in their last digits.
      expect(cosine, text).toBeGreaterThan(0.999);
      expect(Math.hypot(...vectors), text).toBeCloseTo(1, 5);
    }
    await embedder.close();
  },
);
