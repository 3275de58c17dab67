import { expect, test } from 'vitest';
import { Models } from '../../src/databases/models.js';
import { DatabaseService } from '../../src/databases/service.js';
import { LIMITS } from '../../src/schema/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { changedStatements } from '../helpers/postgres/around-statements.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';

const SEARCHES = 200;

test('many searches that do not fit their database read its settings a few times, and nothing else', async () => {
  const statements: string[] = [];
  const pglite = await PGliteDatabase.open();
  const database = changedStatements(pglite, () => (text) => {
    statements.push(text);
    return text;
  });
  const store = new PostgresStore(database, LIMITS);
  const databases = new DatabaseService(store, new Models(), { limits: LIMITS, resume: false });
  try {
    await databases.ready;
    await databases.catalog.create('two', { dimensions: 2 });
    const search = (search: object) =>
      databases.reader.search('two', { search } as never, { form: 'integer' }).catch((error) => error.code);
    for (const [misfit, code] of [
      [{ vector: [1, 0, 0] }, 'invalid_dimensions'],
      [{ text: 'a tower' }, 'invalid_request'],
    ] as const) {
      statements.length = 0;
      const codes = await Promise.all(Array.from({ length: SEARCHES }, () => search(misfit)));
      expect(new Set(codes)).toEqual(new Set([code]));
      // The reading that runs when the first search comes, and the one that waits meanwhile.
      expect(statements.length).toBeLessThanOrEqual(2);
      for (const text of statements) expect(text).toBe('SELECT * FROM cosift.databases WHERE id = $1::text');
    }
    // Each search sees what was acknowledged before it.
    await store.dropDatabase('two');
    await store.createDatabase('two', { model: null, fingerprint: null, dimensions: 3 });
    expect(await search({ vector: [1, 0, 0] })).toMatchObject({ body: expect.anything() });
  } finally {
    await databases.close();
    await pglite.destroy();
  }
});
