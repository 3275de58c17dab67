import { mkdir, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';

test('also if the database could not be opened at the start', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-later-'));
  try {
    let allowed = 1;
    const other = {
      dimensions: 2,
      fingerprint: 'other',
      async embed(texts: readonly string[], { signal }: { signal: AbortSignal }) {
        // The second batch waits for the end of the process.
        allowed -= 1;
        if (allowed < 0) await new Promise((_, reject) => signal.addEventListener('abort', reject));
        return texts.map((_, at) => [1, at]);
      },
    };
    const open = () => openDatabases({ directory, models: { other } });
    const first = await open();
    await first.catalog.create('db', { dimensions: 2 });
    const records = Array.from({ length: 900 }, (_, at) => ({
      id: at + 1,
      data: { text: `text ${at}` },
      vector: [1, at],
    }));
    await first.writer.upsertBatch('db', Buffer.from(JSON.stringify({ records })));
    await first.reembeddings.start('db', 'other');
    await expect.poll(() => allowed).toBeLessThan(0);
    await first.close();

    // SQLite cannot open its log.
    const log = path.join(directory, 'databases/db/records.sqlite-wal');
    await rm(log, { force: true });
    await mkdir(log);
    allowed = Number.POSITIVE_INFINITY;
    const second = await open();
    try {
      expect(await second.monitor.states()).toMatchObject([{ id: 'db', loaded: false }]);
      await rmdir(log);
      await expect.poll(async () => (await second.monitor.states())[0]?.loaded).toBe(true);
      await expect.poll(async () => (await second.catalog.describe('db')).model).toBe('other');
    } finally {
      await second.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
