import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { TableDefinition } from '../../src/sync/sources/definition.js';
import { SqliteSource } from '../../src/sync/sources/sqlite/source.js';
import { dataIn, openedBy } from './follower.js';
import { NO_SQLITE, sqlite } from './sqlite.js';

describe.skipIf(NO_SQLITE !== undefined)(`a SQLite file${NO_SQLITE ? ` (${NO_SQLITE})` : ''}`, () => {
  let directory: string;
  let file: string;
  let number = 0;
  const { sourceOf, follow, failure, close } = openedBy(
    (definition: TableDefinition) => new SqliteSource(file, definition),
  );
  const create = async (...statements: string[]) => {
    number += 1;
    file = path.join(directory, `shop-${number}.db`);
    await sqlite(file, 'PRAGMA journal_mode = WAL', ...statements);
  };

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'cosift-sqlite-'));
  });
  afterEach(close);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('has refused rows whose keys and reasons can be read', async () => {
    await create(
      'CREATE TABLE odd (id TEXT PRIMARY KEY, plain JSON)',
      "INSERT INTO odd VALUES (CAST(x'ff' AS TEXT), NULL)",
      `INSERT INTO odd VALUES ('long', '{"number": ${'1'.repeat(300)}}')`,
    );
    const follower = follow({ table: 'odd', columns: ['plain'] });
    await follower.pass();
    expect([...follower.refused].map(([key, reason]) => [key, reason.slice(0, 200)]).sort()).toEqual([
      [expect.stringMatching(/^[^{]*UTF-8/), expect.stringContaining('column "id" of the key has')],
      ['long', expect.stringMatching(/111… cannot be stored as a number .* `types` stores it as text$/)],
    ]);
  });

  test('has values of every kind, which are the same when they are read again', async () => {
    await create(
      'CREATE TABLE every (id INTEGER PRIMARY KEY, int INT, big INTEGER, real REAL, num NUMERIC, flag BOOLEAN, words TEXT, plain JSON, any_value, huge INTEGER, day DATE)',
      `INSERT INTO every VALUES (1, 2, 9007199254740991, 0.1, 12.50, 1, 'ä "q"' || char(10) || char(8232), '{ "a": {"b": 1.0}, "c": [1, 2] }', 'x', 9223372036854775807, '2024-02-29 10:00:00')`,
      'INSERT INTO every (id, any_value) VALUES (2, 3.5)',
      "INSERT INTO every (id, any_value) VALUES (3, x'00')",
      "INSERT INTO every (id, plain) VALUES (4, '{')",
      'INSERT INTO every (id, big) VALUES (5, 9007199254740993)',
    );
    const columns = ['int', 'big', 'real', 'num', 'flag', 'words', 'plain', 'any_value', 'huge', 'day'];
    const follower = follow({ table: 'every', columns, types: { huge: 'text' } });
    expect(await follower.pass()).toMatchObject({ kind: 'complete', read: 2 });
    expect(dataIn(follower)[1]).toEqual({
      int: 2,
      big: 9007199254740991,
      real: 0.1,
      num: 12.5,
      flag: true,
      words: 'ä "q"\n\u2028',
      'plain.a.b': 1,
      'plain.c': [1, 2],
      any_value: 'x',
      huge: '9223372036854775807',
      day: '2024-02-29 10:00:00',
    });
    expect(dataIn(follower)[2]).toMatchObject({ int: null, any_value: 3.5 });
    expect(Object.fromEntries(follower.refused)).toEqual({
      3: 'column "any_value" has a blob',
      4: expect.stringContaining('column "plain": is not JSON'),
      5: expect.stringContaining('type text of the column in `types`'),
    });
    expect(await follower.pass()).toBeUndefined();
    expect(await follower.pass(true)).toMatchObject({ read: 2, written: 0 });
  });

  test('is closed while it has rows that nobody reads', async () => {
    await create(
      'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)',
      "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 50000) INSERT INTO notes SELECT n, 'note ' || n FROM n",
    );
    const source = sourceOf({ table: 'notes', columns: ['text'] });
    const { signal } = new AbortController();
    const begun = async () => {
      const round = await source.round(null, true, signal);
      return { round, batches: round?.batches[Symbol.asyncIterator]() };
    };
    const { round, batches } = await begun();
    expect((await batches?.next())?.value.rows).toHaveLength(1_000);
    await batches?.return?.();
    await round?.close();
    // It is replaced.
    expect((await (await begun()).batches?.next())?.value.rows).toHaveLength(1_000);
    await source.close();
  });

  test('is read after each commit of another process, and only then', async () => {
    await create(
      'CREATE TABLE things (sku TEXT PRIMARY KEY, name TEXT) WITHOUT ROWID',
      "INSERT INTO things VALUES ('a/b', 'one'), ('c', 'two')",
    );
    const follower = follow({ table: 'things', columns: ['name'] });
    await follower.pass();
    expect([...follower.records.keys()]).toEqual(['a%2Fb', 'c']);
    await sqlite(file, 'BEGIN', "UPDATE things SET name = 'lost'", 'ROLLBACK');
    expect(await follower.pass()).toBeUndefined();
    await sqlite(file, "REPLACE INTO things VALUES ('c', 'three')", "DELETE FROM things WHERE sku = 'a/b'");
    expect(await follower.pass()).toMatchObject({ written: 1, deleted: 1 });
    await sqlite(file, 'ALTER TABLE things ADD COLUMN more TEXT');
    expect(await follower.pass()).toMatchObject({ written: 0, deleted: 0 });
  });

  test('is read again as a whole when another file takes its place', async () => {
    await create(
      'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)',
      "INSERT INTO things VALUES (1, 'old')",
    );
    const follower = follow({ table: 'things', columns: ['name'] });
    await follower.pass();
    const first = file;
    await create(
      'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)',
      "INSERT INTO things VALUES (1, 'new')",
    );
    await rename(file, first);
    expect(await follower.pass()).toMatchObject({ written: 1 });
    expect(dataIn(follower)).toEqual({ 1: { name: 'new' } });
  });

  test('is read again when another file is written over it', async () => {
    const statements = [
      'PRAGMA journal_mode = DELETE',
      'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)',
    ];
    await create(...statements, "INSERT INTO things VALUES (1, 'old')");
    const follower = follow({ table: 'things', columns: ['name'] });
    await follower.pass();
    const first = file;
    await create(...statements, "INSERT INTO things VALUES (1, 'new')");
    await copyFile(file, first);
    expect(await follower.pass()).toMatchObject({ written: 1 });
    expect(dataIn(follower)).toEqual({ 1: { name: 'new' } });
    expect(await follower.pass()).toBeUndefined();
  });

  test('keeps the locks of a program that has it open, and is read while that writes', async () => {
    await create(
      'CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT)',
      "INSERT INTO things VALUES (1, 'a')",
    );
    const writer = spawn('sqlite3', [file], { stdio: ['pipe', 'pipe', 'inherit'] });
    const run = async (statement: string) => {
      writer.stdin.write(`${statement};\n.print done\n`);
      await once(writer.stdout, 'data');
    };
    try {
      await run("BEGIN IMMEDIATE; INSERT INTO things VALUES (2, 'uncommitted')");
      const follower = follow({ table: 'things', columns: ['name'] });
      await follower.pass();
      expect([...follower.records.keys()]).toEqual(['1']);
      await close();
      await expect(sqlite(file, 'BEGIN IMMEDIATE', 'COMMIT')).rejects.toThrow('database is locked');
      await run('COMMIT');
      const again = follow({ table: 'things', columns: ['name'] });
      await again.pass();
      expect([...again.records.keys()]).toEqual(['1', '2']);
    } finally {
      writer.stdin.end();
      await once(writer, 'close');
    }
  });

  test('can be a view or a query, whose rows need a key', async () => {
    await create(
      'CREATE TABLE base (id INTEGER PRIMARY KEY, name TEXT, deleted_at TEXT, changed TEXT)',
      "INSERT INTO base VALUES (1, 'a', NULL, '2024-01-01 10:00:00'), (2, 'b', '2024-01-01', '2024-01-01T10:00:00.5+02:00'), (3, 'c', NULL, 'soon')",
      'CREATE VIEW visible AS SELECT id, name FROM base WHERE deleted_at IS NULL',
    );
    const view = follow({ table: 'visible', columns: ['name'], key: ['id'] });
    await view.pass();
    expect([...view.records.keys()]).toEqual(['1', '3']);
    const query = follow({
      query: 'SELECT id AS n, name FROM base',
      columns: ['name'],
      key: ['n'],
      where: 'n < 3',
    });
    await query.pass();
    expect([...query.records.keys()]).toEqual(['1', '2']);
    const timed = follow({ table: 'base', columns: ['name'], times: { changed: 'changed' } });
    await timed.pass();
    expect([...timed.records.values()].map((text) => JSON.parse(text).changed)).toEqual([
      '2024-01-01T10:00:00Z',
      '2024-01-01T10:00:00.5+02:00',
    ]);
    expect(timed.refused.get('3')).toContain('"changed": soon is no time');
    const keyless = follow({ query: 'SELECT NULL AS n FROM base', columns: ['n'], key: ['n'] });
    await keyless.pass();
    expect([...keyless.refused.keys()]).toEqual(['row 1', 'row 2', 'row 3']);
    const twice = follow({ query: 'SELECT 1 AS n, name FROM base', columns: ['name'], key: ['n'] });
    await expect(twice.pass()).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('two have 1'),
    });
  });

  test('is refused where it could not be read exactly', async () => {
    await create(
      'CREATE TABLE keyless (name TEXT, raw BLOB)',
      'CREATE TABLE raws (id INTEGER PRIMARY KEY, raw BLOB)',
    );
    const failed = (message: string) => ({
      code: 'source_failed',
      message: expect.stringContaining(message),
    });
    expect(await failure({ table: 'keyless', columns: ['name'] })).toEqual(failed('no primary key'));
    expect(await failure({ table: 'raws', columns: [] })).toEqual(failed('raws has "id", "raw"'));
    expect(await failure({ table: 'raws', columns: ['raw'] })).toEqual(failed('"raw" has the type BLOB'));
    expect(await failure({ table: 'raws', columns: ['nothing'] })).toEqual(failed('no column "nothing"'));
    expect(await failure({ table: 'nothing', columns: ['a'] })).toEqual(failed('no table nothing'));
    expect(await failure({ query: 'SELECT id FROM raws', columns: ['nothing'], key: ['id'] })).toEqual(
      failed('no such column'),
    );
    expect(await failure({ query: 'DELETE FROM raws', columns: ['a'], key: ['a'] })).toEqual(
      failed('syntax error'),
    );
    for (const [where, reason] of [
      ['id = 1) OR (1 = 1', 'near ")": syntax error'],
      ['id = 1 ORDER BY id', 'near "ORDER": syntax error'],
      ['(id = 1', 'at its end: syntax error'],
      ['absent = 1', 'no such column: absent'],
    ] as const) {
      const { code, message } = await failure({ table: 'raws', columns: ['id'], where });
      expect(code).toBe('source_failed');
      expect(message).toContain('`where` of raws cannot be used as a condition: ');
      expect(message).toContain(reason);
      expect(message).not.toMatch(/CASE|THEN|SELECT/);
    }
    file = path.join(directory, 'missing.db');
    expect(await failure({ table: 'a', columns: ['a'] })).toEqual({
      code: 'source_failed',
      message: `there is no file ${file}`,
    });
  });
});
