import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Models } from '../../src/databases/models.js';
import { DatabaseService } from '../../src/databases/service.js';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';

// Several services may share a store; here the test itself is the other process.
test('and one that it dropped is not found', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-store-'));
  const store = LocalStore.open(directory, LIMITS);
  const databases = new DatabaseService(store, new Models(), { limits: LIMITS, resume: true });
  try {
    await databases.ready;
    await store.createDatabase('one', { model: null, fingerprint: null, dimensions: 2 });
    const records = [{ id: 7, data: { name: 'a' }, vector: [1, 0] }];
    await databases.writer.upsertBatch('one', Buffer.from(JSON.stringify({ records })));
    const search = () => databases.reader.search('one', { search: { vector: [1, 0] } }, { form: 'integer' });
    const page = JSON.parse(Buffer.from((await search()).body).toString());
    expect(page.results.map(({ id }: { id: number }) => id)).toEqual([7]);
    await expect(databases.reembeddings.find('one')).rejects.toMatchObject({ code: 'reembedding_not_found' });
    await store.dropDatabase('one');
    await expect(search()).rejects.toMatchObject({ code: 'database_not_found' });
    await expect(databases.writer.deleteRecords('two', { ids: [1] })).rejects.toMatchObject({
      code: 'database_not_found',
    });
  } finally {
    await databases.close();
    await rm(directory, { recursive: true, force: true });
  }
});
