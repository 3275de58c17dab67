import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';

test('the next start does not continue it', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-back-'));
  try {
    let works = false;
    const model = (fingerprint: string) => ({
      dimensions: 2,
      fingerprint,
      async embed(texts: readonly string[]) {
        if (fingerprint === 'other' && !works) throw new Error('the model is broken');
        return texts.map((_, at) => [1, at]);
      },
    });
    const models = { own: model('own'), other: model('other') };
    const open = () => openDatabases({ directory, models });
    const first = await open();
    await first.catalog.create('db', { model: 'own' });
    const records = [{ id: 1, data: { text: 'a' } }];
    await first.writer.upsertBatch('db', Buffer.from(JSON.stringify({ records })));
    await first.catalog.configure('db', { model: 'other' });
    await expect.poll(async () => (await first.reembeddings.find('db')).state).toBe('failed');
    expect(await first.catalog.configure('db', { model: 'own' })).toMatchObject({ model: 'own' });
    await first.close();

    works = true;
    const second = await open();
    try {
      await expect(second.reembeddings.find('db')).rejects.toMatchObject({ code: 'reembedding_not_found' });
      expect((await second.catalog.describe('db')).model).toBe('own');
    } finally {
      await second.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
