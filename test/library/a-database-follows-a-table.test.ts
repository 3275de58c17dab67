import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { open } from 'cosift';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { MariaDbServer, NO_MARIADB } from '../../scripts/mariadb/server.js';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';

test.skipIf(NO_SERVER !== undefined)(
  `a committed row is searchable once the sync is in step, and equal rows are not embedded again${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'cosift-follow-'));
    const server = await PostgresServer.start();
    const from = await server.createDatabase();
    const client = new pg.Client(from);
    await client.connect();
    const cosift = await open(directory, { threads: 1 });
    try {
      await client.query(
        "CREATE TABLE notes (id int PRIMARY KEY, text text, at timestamptz, big bigint); INSERT INTO notes VALUES (1, 'red apples', '2024-01-01 10:00:00.123456+00', 1), (2, 'steel bridges', NULL, 2)",
      );
      const notes = await cosift.createDatabase('notes', { embed: { columns: ['text'] } });
      await notes.upsert([{ key: 'other', data: { text: 'not of the source' } }]);
      const source = {
        name: 'notes',
        from,
        table: 'notes',
        columns: ['text', 'big'],
        times: { changed: 'at' },
      };
      await using sync = await notes.sync({ ...source, every: '20ms' });
      await sync.inStep();
      expect((await notes.get('key:notes/1'))?.timestamps.changed_at).toBe('2024-01-01T10:00:00.123Z');
      await client.query("INSERT INTO notes VALUES (3, 'the sea at night'); DELETE FROM notes WHERE id = 2");
      await sync.inStep();
      const { results } = await notes.search('ocean', { limit: 1 });
      expect(results[0]?.key).toBe('notes/3');
      const keys: unknown[] = [];
      for await (const { key } of notes.queryAll()) keys.push(key);
      expect(keys.sort()).toEqual(['notes/1', 'notes/3', 'other']);
      // What is not asked for is followed, too.
      await client.query('UPDATE notes SET big = 9007199254740993 WHERE id = 1');
      await expect.poll(async () => (await sync.status()).refused).toBe(1);
      expect((await sync.status()).refusedRows).toEqual([
        { key: '1', reason: expect.stringContaining('type text of the column in `types`') },
      ]);
      expect(await notes.get('key:notes/1')).toBeUndefined();
      await client.query('UPDATE notes SET big = 5 WHERE id = 1');
      expect(await sync.reconcile()).toMatchObject({ read: 2, refused: 0 });
      expect(await sync.reconcile()).toMatchObject({ read: 2, written: 0, unchanged: 2 });

      // Records never have values of two kinds in a column.
      await client.query(
        "ALTER TABLE notes ALTER COLUMN big TYPE text USING 'x' || big; UPDATE notes SET big = 'y'",
      );
      await sync.close();
      await using reopened = await notes.sync(source);
      await expect(reopened.once()).rejects.toThrow('column "big" was number and is text now');
      expect((await reopened.status()).state).toBe('failed');
      expect((await notes.get('key:notes/1'))?.data.big).toBe(5);
      await reopened.close();
      await using typed = await notes.sync({ ...source, types: { big: 'text' } });
      expect(await typed.once()).toMatchObject({ written: 2 });

      // Other processes learn that nothing has changed meanwhile.
      const query = {
        name: 'query',
        from,
        query: 'SELECT id, text FROM notes',
        key: 'id',
        columns: ['text'],
      };
      const asOf = async (seconds: number, expected: object) => {
        vi.useFakeTimers({ toFake: ['Date'], now: now + seconds * 1_000 });
        await using quiet = await notes.sync(query);
        expect(await quiet.once()).toMatchObject(expected);
        await quiet.close();
        await using other = await notes.sync(query);
        return (await other.status()).inStepAsOf?.getTime();
      };
      const now = Date.now();
      const first = await asOf(0, { read: 2 });
      expect(await asOf(30, { read: 0 })).toBe(first);
      expect(await asOf(90, { read: 0 })).toBe(now + 90_000);
    } finally {
      vi.useRealTimers();
      await cosift.close();
      await client.end();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
);

test.skipIf(NO_MARIADB !== undefined)(
  `a committed row of MariaDB is searchable once the sync is in step${NO_MARIADB ? ` (${NO_MARIADB})` : ''}`,
  async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'cosift-follow-'));
    const server = await MariaDbServer.start();
    const from = await server.createDatabase();
    const client = await mysql.createConnection({ uri: from, multipleStatements: true });
    const cosift = await open(directory, { threads: 1 });
    try {
      await client.query(
        "CREATE TABLE notes (id int PRIMARY KEY, text text, at timestamp(6) NULL); INSERT INTO notes VALUES (1, 'red apples', '2024-01-01 10:00:00'), (2, 'steel bridges', NULL)",
      );
      const notes = await cosift.createDatabase('notes', { embed: { columns: ['text'] } });
      await notes.upsert([{ key: 'other', data: { text: 'not of the source' } }]);
      const source = { name: 'notes', from, table: 'notes', columns: ['text'], times: { changed: 'at' } };
      await using sync = await notes.sync({ ...source, every: '20ms' });
      await sync.inStep();
      expect((await notes.get('key:notes/1'))?.timestamps.changed_at).toMatch(/^2024-01-01T/);
      await client.query(
        "INSERT INTO notes VALUES (3, 'the sea at night', NULL); DELETE FROM notes WHERE id = 2",
      );
      await sync.inStep();
      const { results } = await notes.search('ocean', { limit: 1 });
      expect(results[0]?.key).toBe('notes/3');
      expect(await sync.reconcile()).toMatchObject({ read: 2, written: 0, unchanged: 2 });
      await client.query('TRUNCATE notes');
      await sync.inStep();
      // A source without rows is more likely one that failed than one that is empty.
      await expect.poll(() => sync.status()).toMatchObject({ state: 'withheld', withheld: 2 });
      expect(await sync.confirm()).toMatchObject({ deleted: 2 });
      const keys: unknown[] = [];
      for await (const { key } of notes.queryAll()) keys.push(key);
      expect(keys).toEqual(['other']);
    } finally {
      await cosift.close();
      await client.end();
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
);

test('what is no source is refused with the name of the member', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'cosift-follow-'));
  const cosift = await open(directory, { threads: 1 });
  try {
    const notes = await cosift.createDatabase('notes', { dimensions: 1 });
    const source = { name: 'notes', from: 'sqlite:none.db', table: 'notes', columns: ['text'] };
    for (const [wrong, reason] of [
      [{ ...source, from: 'mongodb://user:hunter2@host/x' }, 'must be postgres://USER@HOST/DATABASE'],
      [{ ...source, columns: [] }, 'columns'],
      [{ ...source, types: { a: 'date' } }, 'types.a'],
      [{ ...source, every: 'often' }, 'every'],
      [{ ...source, tables: 'a' }, 'tables'],
    ] as const) {
      const error = await notes.sync(wrong as typeof source).catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: 'invalid_request', detail: expect.stringContaining(reason) });
      expect(String(error)).not.toContain('hunter2');
    }
    const { table: _table, ...without } = source;
    const elsewhere = { ...source, from: 'mysql://user@host/shop' };
    await expect(notes.sync({ ...elsewhere, stream: 'cosift_notes' })).rejects.toThrow(
      '`stream` needs a table',
    );
    await expect(notes.sync({ ...elsewhere, rls: true })).rejects.toThrow(
      '`rls` needs a table of PostgreSQL',
    );
    await expect(notes.sync(without)).rejects.toThrow('give either `table` or `query`');
    await using sync = await notes.sync(source);
    await expect(sync.once()).rejects.toThrow('there is no file');
    expect(await sync.status()).toMatchObject({
      state: 'failed',
      reason: expect.stringContaining('none.db'),
    });
  } finally {
    await cosift.close();
    await rm(directory, { recursive: true, force: true });
  }
});
