import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';
import { LocalStore } from '../../src/store/local/index.js';

test('a key that reads a feed through its filter many times does not put off the reads of another', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-feeds-'));
  const databases = await openDatabases({ directory });
  try {
    await databases.catalog.create('one', { dimensions: 2 });
    const records = Array.from({ length: 1_000 }, (_, i) => ({ id: i + 1, data: { n: i }, vector: [1, i] }));
    await databases.writer.upsertBatch('one', Buffer.from(JSON.stringify({ records })));
    // The filters differ, so that a read of the store tells its caller. No record passes them.
    const values: Record<string, number> = { a: -1, b: -2 };
    const read = async (caller: string) => {
      const forcedFilter = {
        condition: 'AND' as const,
        rules: [{ column: 'n', operator: 'equals' as const, value: values[caller]! }],
      };
      const scope = { caller, forcedFilter };
      const feed = await databases.feed.read('one', { after: 0, limit: 100, waitMs: 0 }, { scope });
      expect(JSON.parse(Buffer.from(feed).toString())).toMatchObject({ changes: [], position: 1_000 });
    };
    const reads = vi.spyOn(LocalStore.prototype, 'changes');
    await Promise.all([...Array.from({ length: 100 }, () => read('a')), read('b')]);
    const filters = reads.mock.calls.map(([, { forced_filter }]) => JSON.stringify(forced_filter));
    expect(filters).toHaveLength(101);
    // Six reads of the first key run at once, so there is room for the read of the other key.
    expect(filters.findIndex((filter) => filter.includes('-2'))).toBe(6);
  } finally {
    await databases.close();
    await rm(directory, { recursive: true, force: true });
  }
});
