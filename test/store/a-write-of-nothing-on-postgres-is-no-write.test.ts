import { expect, test } from 'vitest';
import { LIMITS } from '../../src/schema/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';

test('an empty batch and a deletion of no record leave the time of the last write', async () => {
  const pglite = await PGliteDatabase.open();
  try {
    const store = new PostgresStore(pglite, LIMITS);
    await store.load();
    await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    // Any other write would set it to the present.
    await pglite.write((sql) => sql.run('UPDATE cosift.databases SET last_write_at = created_at - 5000'));
    const { times } = await store.describeDatabase('db');
    const empty = await store.prepareBatch('db', Buffer.from('{"records":[]}'));
    await store.commit('db', empty, { vectors: new Float32Array() });
    expect(await store.deleteRecords('db', { ids: [7] })).toBe(0);
    expect((await store.describeDatabase('db')).times).toEqual(times);
  } finally {
    await pglite.destroy();
  }
});
