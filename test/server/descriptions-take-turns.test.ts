import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';

test('a key that asks for many descriptions does not put off those of another', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-descriptions-'));
  const databases = await openDatabases({ directory });
  try {
    await databases.catalog.create('one', { dimensions: 2 });
    const data = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`column ${i}`, i]));
    const body = Buffer.from(JSON.stringify({ records: [{ id: 1, data, vector: [1, 0] }] }));
    await databases.writer.upsertBatch('one', body);
    const ended: string[] = [];
    const describe = async (caller: string) => {
      const { columns } = await databases.catalog.describe('one', { caller });
      expect(columns).toHaveLength(1_000);
      ended.push(caller);
    };
    const list = async (caller: string) => {
      expect(await databases.catalog.list({ caller })).toHaveLength(1);
      ended.push(caller);
    };
    const many = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? describe('a') : list('a')));
    await Promise.all([...many, describe('b'), list('c')]);
    expect(ended.indexOf('b')).toBeLessThan(3);
    expect(ended.indexOf('c')).toBeLessThan(4);
  } finally {
    await databases.close();
    await rm(directory, { recursive: true, force: true });
  }
});
