import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openBackend } from '../../src/backend/index.js';

test('a key that reads a feed through its filter many times does not put off the reads of another', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-feeds-'));
  const backend = await openBackend({ directory });
  try {
    await backend.createDatabase('one', { dimensions: 2 });
    const records = Array.from({ length: 1_000 }, (_, i) => ({ id: i + 1, data: { n: i }, vector: [1, i] }));
    await backend.upsertBatch('one', Buffer.from(JSON.stringify({ records })));
    const ended: string[] = [];
    const read = async (caller: string) => {
      const forcedFilter = {
        condition: 'AND' as const,
        rules: [{ column: 'n', operator: 'equals' as const, value: -1 }],
      };
      const scope = { caller, forcedFilter };
      const feed = await backend.changes('one', { after: 0, limit: 100, waitMs: 0 }, { scope });
      expect(JSON.parse(Buffer.from(feed).toString())).toMatchObject({ changes: [], position: 1_000 });
      ended.push(caller);
    };
    await Promise.all([...Array.from({ length: 100 }, () => read('a')), read('b')]);
    // Six of the first key run at once, and those that began before may end before.
    expect(ended.indexOf('b')).toBeLessThan(14);
  } finally {
    await backend.close();
    await rm(directory, { recursive: true, force: true });
  }
});
