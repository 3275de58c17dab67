import { CosiftError, type ModelFunction, open } from 'cosift';
import { expect, test } from 'vitest';
import { lettersOf } from '../helpers/embeddings-server.js';
import { temporaryDirectory } from '../helpers/processes.js';

const RECORDS = ['aaa bbb', 'bbb', 'bbb ccc bbb', 'ddd'].map((text, at) => ({ id: at + 1, data: { text } }));

test('a search with all the weight on words is embedded only to explain the meaning', async () => {
  const queries: string[] = [];
  const letters: ModelFunction = {
    dimensions: 26,
    embed: (texts, { kind }) => {
      if (kind === 'query') queries.push(...texts);
      return texts.map((text) => lettersOf(text));
    },
  };
  const cosift = await open(await temporaryDirectory(), { models: { letters } });
  const words = await cosift.createDatabase('words', { model: 'letters', lexical: true });
  await words.upsert(RECORDS);
  const options = { lexical: 1, threshold: 0, limit: 2 };
  const scores: [unknown, number][] = [];
  for await (const { id, relevance_score } of words.searchAll('bbb', options)) {
    scores.push([id, relevance_score]);
  }
  expect(queries).toEqual([]);
  const { results } = await words.search('bbb', { ...options, limit: 100, explain: true });
  expect(queries).toEqual(['bbb']);
  expect(results.map(({ id, relevance_score }) => [id, relevance_score])).toEqual(scores);
  expect(scores.map(([id]) => id)).toEqual([2, 3, 1, 4]);
  await words.search('ccc', { ...options, passages: true });
  await words.search('ddd', { ...options, lexical: 0.999 });
  expect(queries).toEqual(['bbb', 'ccc', 'ddd']);
  await cosift.close();
});

test.each([' ', '\n\t\u{a0}', '\u{200b}\u{0}'])(
  'the blank text %j is refused at any weight',
  async (text) => {
    const letters: ModelFunction = { dimensions: 26, embed: (texts) => texts.map((text) => lettersOf(text)) };
    const cosift = await open(await temporaryDirectory(), { models: { letters } });
    const words = await cosift.createDatabase('words', { model: 'letters', lexical: true });
    for (const lexical of [0, 0.3, 1]) {
      const error = await words.search(text, { lexical }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CosiftError);
      const { code, problems } = error as CosiftError;
      expect([code, problems.map(({ pointer }) => pointer)]).toEqual(['invalid_request', ['/query']]);
    }
    await cosift.close();
  },
);
