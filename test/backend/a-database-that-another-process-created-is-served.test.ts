import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddingBackend } from '../../src/backend/embedding-backend.js';
import { Models } from '../../src/backend/models.js';
import { LIMITS } from '../../src/schema/index.js';
import { LocalStore } from '../../src/store/local/index.js';

// Several services may share a store; here the test itself is the other process.
test('and one that it dropped is not found', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-store-'));
  const store = LocalStore.open(directory, LIMITS);
  const backend = new EmbeddingBackend(store, new Models(), { limits: LIMITS, resume: true });
  try {
    await backend.ready;
    await store.createDatabase('one', { model: null, fingerprint: null, dimensions: 2 });
    const records = [{ id: 7, data: { name: 'a' }, vector: [1, 0] }];
    await backend.upsertBatch('one', Buffer.from(JSON.stringify({ records })));
    const search = () => backend.search('one', { search: { vector: [1, 0] } }, { form: 'integer' });
    const page = JSON.parse(Buffer.from((await search()).body).toString());
    expect(page.results.map(({ id }: { id: number }) => id)).toEqual([7]);
    await expect(backend.reembedding('one')).rejects.toMatchObject({ code: 'reembedding_not_found' });
    await store.dropDatabase('one');
    await expect(search()).rejects.toMatchObject({ code: 'database_not_found' });
    await expect(backend.deleteRecords('two', { ids: [1] })).rejects.toMatchObject({
      code: 'database_not_found',
    });
  } finally {
    await backend.close();
    await rm(directory, { recursive: true, force: true });
  }
});
