import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Cosift, type Database, open } from 'cosift';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDatabases } from '../../src/databases/index.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'cosift-close-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const own = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    data: { rank: i },
    vector: Float32Array.from([Math.cos(i), Math.sin(i)]),
  }));
const query = { vector: [1, 0] };
const options = { threshold: 0 };

async function opened(): Promise<{ cosift: Cosift; database: Database }> {
  const cosift = await open(directory);
  return { cosift, database: await cosift.createDatabase('own', { dimensions: 2 }) };
}

async function reopened<T>(read: (cosift: Cosift) => Promise<T>): Promise<T> {
  const cosift = await open(directory);
  try {
    return await read(cosift);
  } finally {
    await cosift.close();
  }
}

test('upserts, searches and deletes in progress finish, and waits end at once', async () => {
  const { cosift, database } = await opened();
  const facts = await cosift.createDatabase('facts');
  const quiet = await cosift.createDatabase('quiet', { dimensions: 2 });
  await database.upsert([...own(100), { id: 3_000, data: {}, vector: [0, 1] }]);
  const { position } = await database.changes();
  const texts = Array.from({ length: 60 }, (_, i) => ({ id: i + 1, data: { text: `fact number ${i}` } }));
  const begun = {
    written: database.upsert(own(2_500)),
    embedded: facts.upsert(texts),
    deleted: database.delete({ ids: [3_000] }),
    found: database.search(query, {
      ...options,
      filter: { rules: [{ column: 'rank', operator: 'equals', value: 3 }] },
    }),
    asked: facts.search('a fact', { threshold: 0 }),
    // Far longer than the test may take.
    changes: quiet.changes({ waitMs: 3_600_000 }),
    described: database.describe(),
  };
  const closing = cosift.close();
  expect(cosift.close()).toBe(closing);
  const [written, embedded, deleted, found, asked, changes, described] = await Promise.all([
    begun.written,
    begun.embedded,
    begun.deleted,
    begun.found,
    begun.asked,
    begun.changes,
    begun.described,
  ]);
  expect(written.results).toHaveLength(2_500);
  expect(embedded.created).toBe(60);
  expect(deleted).toBe(1);
  expect(found.results.map(({ id }) => id)).toEqual([4]);
  expect(asked.pagination).toBeDefined();
  expect(changes.changes).toEqual([]);
  expect(described.id).toBe('own');
  await closing;

  for (const late of [
    () => database.upsert(own(1)),
    () => database.search(query, options),
    () => database.changes({ after: position }),
    () => database.delete({ ids: [1] }),
    () => cosift.createDatabase('late'),
    () => cosift.databases(),
  ]) {
    await expect(late()).rejects.toMatchObject({
      code: 'not_ready',
      message: expect.stringMatching(/closed/),
    });
  }
  await reopened(async (cosift) => {
    const counts = await Promise.all(['own', 'facts'].map((id) => cosift.database(id).describe()));
    expect(counts.map(({ records }) => records)).toEqual([2_500, 60]);
  });
});

test('iterators end at the next page, and an asynchronous source is read no further', async () => {
  const { cosift, database } = await opened();
  await database.upsert(own(150));
  const pages = database.searchAll(query, { ...options, limit: 40 });
  expect((await pages.next()).done).toBe(false);
  let asked!: () => void;
  const asking = new Promise<void>((resolve) => {
    asked = resolve;
  });
  async function* source() {
    yield* own(1_500).map((record) => ({ ...record, id: record.id + 1_000 }));
    asked();
    await new Promise(() => undefined);
  }
  const writing = database.upsert(source());
  await asking;
  const closing = cosift.close();
  await expect(writing).rejects.toMatchObject({ code: 'not_ready', fields: { committed: 1_000 } });
  await closing;
  const rest = async () => {
    for await (const _ of pages);
  };
  await expect(rest()).rejects.toMatchObject({ code: 'not_ready' });
  await reopened(async (cosift) => {
    expect((await cosift.database('own').describe()).records).toBe(1_150);
  });
});

test('lines that were read are committed, and a stream that has ended gets all its events', async () => {
  const databases = await openDatabases({ directory });
  await databases.catalog.create('lines', { embed: { columns: ['text'] } });
  const lines = (first: number, count: number) =>
    Buffer.from(
      Array.from(
        { length: count },
        (_, i) => `{"id":${first + i},"data":{"text":"line ${first + i}"}}\n`,
      ).join(''),
    );
  async function* paused() {
    yield lines(1, 20);
    await new Promise(() => undefined);
  }
  let end!: () => void;
  const hasEnded = new Promise<void>((resolve) => {
    end = resolve;
  });
  async function* ended() {
    yield lines(101, 30);
    end();
  }
  const drain = async (chunks: AsyncIterable<Uint8Array>) => {
    const events = [];
    try {
      for await (const event of databases.writer.upsertLines('lines', chunks)) events.push(event);
    } catch (error) {
      events.push(error);
    }
    return events;
  };
  const first = drain(paused());
  // The lines of a stream that pauses are taken after a moment; they are part of what was begun from then on.
  let taken = 0;
  while (taken < 20) taken = (await databases.catalog.describe('lines')).records;
  const second = drain(ended());
  await hasEnded;
  // The databases hears of the end in microtasks.
  await new Promise(setImmediate);
  await databases.close();
  expect((await first).at(-1)).toMatchObject({ code: 'not_ready' });
  expect(await first).toContainEqual({ type: 'progress', lines: 20, committed: 20 });
  expect((await second).at(-1)).toMatchObject({ type: 'summary', lines: 30, created: 30 });
  await reopened(async (cosift) => {
    expect((await cosift.database('lines').describe()).records).toBe(50);
  });
});
