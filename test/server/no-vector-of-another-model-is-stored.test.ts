import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createEmbedder, type Embedder } from '../../src/embedding/index.js';
import { inFull } from '../helpers/full.js';
import { firstTokenModel } from '../helpers/model-variant.js';
import { Service } from './service.js';

const root = mkdtempSync(path.join(tmpdir(), 'cosift-models-'));
afterAll(() => rmSync(root, { recursive: true }));

const SWITCHES = inFull(8, 2);
const WRITERS = inFull(8, 4);
const READERS = 2;
const RECORDS = 24;

const SUBJECTS = ['a tower', 'a river', 'an engine', 'a comet', 'a falcon', 'a violin', 'a glacier'];
const text = (id: number, kind: number) => `${SUBJECTS[(id + kind) % 7]}, number ${id}`;
const QUERY = 'music in the mountains';
const SEARCH = { search: { text: QUERY, threshold: 0 }, pagination: { limit: 100 } };

interface Hit {
  id: number;
  relevance_score: number;
  data: { text: string };
}

/** One embedder's scores of texts; each is embedded once. */
class Scores {
  readonly #embedder: Embedder;
  readonly #scores = new Map<string, number>();
  #query: ReturnType<Embedder['embedQuery']> | undefined;

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /** How many of `hits` have another score than their text, embedded again. */
  async misfits(hits: readonly Hit[]): Promise<number> {
    const texts = [...new Set(hits.map(({ data }) => data.text))].filter((text) => !this.#scores.has(text));
    this.#query ??= this.#embedder.embedQuery(QUERY);
    const query = await this.#query;
    const { vectors } = await this.#embedder.embedPassages(texts.map((text) => `text: ${text}`));
    for (const [at, text] of texts.entries()) {
      const vector = vectors.subarray(at * query.length, (at + 1) * query.length);
      const cosine = vector.reduce((sum, value, i) => sum + value * query[i]!, 0);
      this.#scores.set(text, Math.max(0, cosine));
    }
    const differs = (hit: Hit) => Math.abs(hit.relevance_score - this.#scores.get(hit.data.text)!) > 1e-5;
    return hits.filter(differs).length;
  }
}

test('however often the model changes under writers and readers', async () => {
  const models = { first: firstTokenModel(path.join(root, 'first')) };
  const embedders: Record<string, Embedder> = {
    'all-MiniLM-L6-v2': await createEmbedder({ workers: 1 }),
    first: await createEmbedder({ model: models.first, workers: 1 }),
  };
  const scores = Object.fromEntries(
    Object.entries(embedders).map(([model, embedder]) => [model, new Scores(embedder)]),
  );
  const service = await Service.start({ models });
  try {
    await service.call('PUT', '/v1/databases/db', {});
    const acknowledged = new Map<number, string>();
    let over = false;
    let unchanged = 0;
    let writes = 0;
    const writing = async (writer: number) => {
      while (!over) {
        const i = writes++;
        // Two records that this writer alone writes, one of them seldom, and one that all write.
        const records = [
          { id: 1000 + writer, data: { text: text(writer, i % 2) } },
          { id: 2000 + writer, data: { text: text(writer, (i >> 6) % 2) } },
          { id: 1 + (i % RECORDS), data: { text: text(i % RECORDS, (i >> 5) % 2) } },
        ];
        const answer = await service.call('POST', '/v1/databases/db/records', { records });
        expect(answer.status, answer.text).toBe(200);
        for (const { id, data } of records.slice(0, 2)) acknowledged.set(id, data.text);
        unchanged += answer.body.unchanged;
      }
    };
    const pages: Hit[][] = [];
    const reading = async () => {
      while (!over) {
        const answer = await service.call('POST', '/v1/databases/db/search', SEARCH);
        expect(answer.status, answer.text).toBe(200);
        pages.push(answer.body.results);
      }
    };
    for (let change = 1; change <= SWITCHES; change += 1) {
      over = false;
      const running = Promise.all([
        ...Array.from({ length: WRITERS }, (_, i) => writing(i)),
        ...Array.from({ length: READERS }, reading),
      ]);
      const model = change % 2 === 1 ? 'first' : 'all-MiniLM-L6-v2';
      const begun = await service.call('POST', '/v1/databases/db/reembedding', { model });
      expect(begun.status, begun.text).toBe(202);
      for (let state = begun.body.state; state !== 'done'; ) {
        const told = await service.call('GET', '/v1/databases/db/reembedding');
        state = told.body.state;
        expect(state, told.text).not.toBe('failed');
      }
      // At once: a later write of the same record would cover a wrong vector.
      over = true;
      await running;

      const { body } = await service.call('POST', '/v1/databases/db/search', SEARCH);
      const described = await service.call('GET', '/v1/databases/db');
      expect(body.results).toHaveLength(described.body.records);
      expect(await scores[model]!.misfits(body.results), `vectors not of ${model}`).toBe(0);
      const stored = new Map((body.results as Hit[]).map(({ id, data }) => [id, data.text]));
      for (const [id, text] of acknowledged) expect(stored.get(id)).toBe(text);
    }
    expect(unchanged).toBeGreaterThan(0);
    // A page is of one model or of the other, never of both.
    for (const page of pages) {
      const found = await Promise.all(Object.values(scores).map((scores) => scores.misfits(page)));
      expect(found).toContain(0);
    }
  } finally {
    await service.stop();
    await Promise.all(Object.values(embedders).map((embedder) => embedder.close()));
  }
});
