import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../helpers/processes.js';

test('require and import give the same library', async () => {
  const required = createRequire(import.meta.url)('cosift') as typeof import('../../src/index.cjs');
  const cosift = await required.open(await temporaryDirectory());
  try {
    const facts = await cosift.createDatabase('facts');
    await facts.upsert([{ id: 1, data: { text: 'The Eiffel Tower is in Paris', height_m: 330 } }]);
    const { results } = await facts.search({ search: { text: 'a tower in France' } });
    expect(results.map(({ id }) => id)).toEqual([1]);
  } finally {
    await cosift.close();
  }
});
