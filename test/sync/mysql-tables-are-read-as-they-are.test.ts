import mysql from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { MariaDbServer, NO_MARIADB } from '../../scripts/mariadb/server.js';
import type { CosiftError } from '../../src/errors.js';
import type { Round } from '../../src/sync/source.js';
import type { TableDefinition } from '../../src/sync/sources/definition.js';
import { MysqlSource } from '../../src/sync/sources/mysql/source.js';
import { dataIn, Follower, openedBy } from './follower.js';

describe.skipIf(NO_MARIADB !== undefined)(`a table of MariaDB${NO_MARIADB ? ` (${NO_MARIADB})` : ''}`, () => {
  let server: MariaDbServer;
  let url: string;
  let client: mysql.Connection;
  const sql = async (...statements: string[]) => {
    for (const statement of statements) await client.query(statement);
  };
  const { sourceOf, shapeOf, follow, failure, close } = openedBy(
    (definition: TableDefinition, of?: string) => new MysqlSource(of ?? url, definition),
  );
  /** A URL of another user, with a password. */
  const urlOf = (user: string, password = '') =>
    Object.assign(new URL(url), { username: user, password }).href;

  beforeAll(async () => {
    server = await MariaDbServer.start('--skip-ssl');
    url = await server.createDatabase();
    client = await mysql.createConnection({ uri: url, multipleStatements: true });
    await sql("SET sql_mode = ''", "SET time_zone = '+00:00'");
  });
  afterEach(async () => {
    await close();
    const name = new URL(url).pathname.slice(1);
    await sql(`DROP DATABASE ${name}`, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`, `USE ${name}`);
  });
  afterAll(async () => {
    await client?.end();
    await server?.stop();
  });

  test('has values of every type, which are the same when they are read again', async () => {
    await sql(
      `CREATE TABLE every (
          id int PRIMARY KEY, yes boolean, tiny tinyint, small smallint, medium mediumint, big bigint, huge bigint unsigned,
          filled int(8) zerofill, exact decimal(20, 4), single float, cut float(7, 3), twice double, bits bit(12), flag bit(1),
          day date, local datetime(6), instant timestamp(3) NULL, at_time time(1), in_year year, fixed char(5), words varchar(50),
          western varchar(50) CHARACTER SET latin1, wide text CHARACTER SET utf16, cased varchar(50) COLLATE utf8mb4_bin,
          mood enum('sad', 'y,"z'), tags set('a', 'b"c', 'd'), plain json, uuid uuid, v4 inet4, v6 inet6,
          raw binary(3), blobs blob, spot point, doubled int AS (id * 2) VIRTUAL, kept int AS (id * 3) STORED,
          hidden varchar(9) INVISIBLE DEFAULT 'h', bigger bigint unsigned)`,
      `INSERT INTO every VALUES (1, true, -1, 2, 3, 9007199254740991, 5, 42, 1.1000, 0.1, 1.5, 1e-7, b'101', b'1',
          '2024-02-29', '2024-02-29 10:00:00.123456', '2024-02-29 10:00:00.5', '-838:59:59', 2024, 'ab  ', 'päper 😀 ',
          'ü', 'wïde', 'B', 'y,"z', 'a,b"c', '{ "b": [1, 2], "a": {"c": 1.50} }', '00000000-0000-0000-0000-00000000000A', '10.0.0.1',
          '::1', x'01FF', x'00', point(1, 2), DEFAULT, DEFAULT, 18446744073709551615)`,
      'INSERT INTO every (id, tags, single) VALUES (2, "", 16777216)',
    );
    const [rows] = await client.query(
      "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'every' AND table_schema = database()",
    );
    const columns = (rows as { name: string }[]).map(({ name }) => name);
    const types = { bigger: 'text', raw: 'text', blobs: 'text', spot: 'text' } as const;
    const follower = follow({ table: 'every', columns, types });
    expect(await follower.pass()).toMatchObject({ read: 2, written: 2 });
    expect(dataIn(follower)[1]).toEqual({
      id: 1,
      yes: true,
      tiny: -1,
      small: 2,
      medium: 3,
      big: 9007199254740991,
      huge: 5,
      filled: 42,
      exact: 1.1,
      single: 0.1,
      cut: 1.5,
      twice: 1e-7,
      bits: 5,
      flag: true,
      day: '2024-02-29',
      local: '2024-02-29T10:00:00.123456',
      instant: '2024-02-29T10:00:00.500Z',
      at_time: '-838:59:59.0',
      in_year: 2024,
      fixed: 'ab',
      words: 'päper 😀 ',
      western: 'ü',
      wide: 'wïde',
      cased: 'B',
      mood: 'y,"z',
      tags: ['a', 'b"c'],
      'plain.b': [1, 2],
      'plain.a.c': 1.5,
      uuid: '00000000-0000-0000-0000-00000000000a',
      v4: '10.0.0.1',
      v6: '::1',
      raw: '01ff00',
      blobs: '00',
      spot: 'POINT(1 2)',
      doubled: 2,
      kept: 3,
      hidden: 'h',
      bigger: '18446744073709551615',
    });
    const nothing = Object.fromEntries(columns.map((name) => [name, null]));
    const own = { id: 2, tags: [], single: 16777216, doubled: 4, kept: 6, hidden: 'h' };
    expect(dataIn(follower)[2]).toEqual({ ...nothing, ...own });
    // The settings of the server change no value.
    await sql(
      "SET GLOBAL time_zone = '+09:00'",
      "SET GLOBAL sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES,NO_BACKSLASH_ESCAPES'",
      'SET GLOBAL div_precision_increment = 8',
    );
    const again = follow({ table: 'every', columns, types });
    again.bookmark = follower.bookmark;
    expect(await again.pass()).toBeUndefined();
    for (const [key, record] of follower.records) again.records.set(key, record);
    expect(await again.pass(true)).toMatchObject({ read: 2, written: 0 });
    await sql(
      "SET GLOBAL time_zone = 'SYSTEM'",
      'SET GLOBAL sql_mode = DEFAULT',
      'SET GLOBAL div_precision_increment = 4',
    );
    expect((await shapeOf({ table: 'every', columns: ['huge', 'yes', 'raw'], types })).columns).toEqual([
      { name: 'huge', type: 'bigint unsigned' },
      { name: 'yes', type: 'tinyint(1)' },
      { name: 'raw', type: 'binary' },
    ]);
  });

  test('has rows that are refused, with a reason that says what to do', async () => {
    await sql(
      `CREATE TABLE odd (id int PRIMARY KEY, big bigint unsigned, yes tinyint(1), plain json, single float, created datetime,
          day date)`,
      'INSERT INTO odd (id, big) VALUES (1, 18446744073709551615), (2, 9007199254740993), (9, 5)',
      'INSERT INTO odd (id, yes) VALUES (3, 2)',
      `INSERT INTO odd (id, plain) VALUES (4, '{"a": 1, "a": 2}')`,
      "INSERT INTO odd (id, created) VALUES (5, '0000-00-00'), (6, '2024-00-10 10:00:00')",
      "INSERT INTO odd (id, day) VALUES (7, '0000-00-00'), (8, '2024-02-00')",
    );
    const columns = ['big', 'yes', 'plain', 'day'];
    const follower = follow({ table: 'odd', columns, times: { created: 'created' } });
    await follower.pass();
    const nothing = { big: null, yes: null, plain: null, day: null };
    expect(dataIn(follower)).toEqual({
      7: { ...nothing, day: '0000-00-00' },
      8: { ...nothing, day: '2024-02-00' },
      9: { ...nothing, big: 5 },
    });
    expect(Object.fromEntries(follower.refused)).toMatchObject({
      1: expect.stringMatching(
        /^column "big": 18446744073709551615 cannot .* type text of the column in `types`/,
      ),
      2: expect.stringContaining('"big": 9007199254740993'),
      3: 'column "yes": 2 is neither true nor false; the type number of the column in `types` stores it as a number',
      4: 'column "plain": the member "a" occurs twice',
      5: expect.stringContaining('"created": 0000-00-00 00:00:00 is no time'),
      6: expect.stringContaining('"created": 2024-00-10 10:00:00 is no time'),
    });
    const typed = follow({ table: 'odd', columns: ['yes', 'big'], types: { yes: 'number', big: 'text' } });
    await typed.pass();
    expect(dataIn(typed)[3]).toEqual({ yes: 2, big: null });
    expect(dataIn(typed)[1]).toEqual({ yes: null, big: '18446744073709551615' });
  });

  test('has keys of several parts and of any characters, which collations do not join', async () => {
    await sql(
      'CREATE TABLE parts (b varchar(20), a int, words text, PRIMARY KEY (b, a)) COLLATE utf8mb4_general_ci',
      `INSERT INTO parts SELECT part, number, 'w' FROM
          (SELECT '' AS part UNION SELECT '/' UNION SELECT '%' UNION SELECT '%2F' UNION SELECT 'a/b' UNION SELECT 'A' UNION SELECT '\\t'
            UNION SELECT '😀' UNION SELECT '~' UNION SELECT '10') AS parts,
          (SELECT 8 AS number UNION SELECT 9 UNION SELECT 10) AS numbers`,
    );
    const follower = follow({ table: 'parts', columns: ['words'] });
    await follower.pass();
    expect(follower.records.size).toBe(30);
    expect([...follower.records.keys()]).toEqual(
      expect.arrayContaining(['/8', '%2F/10', '%252F/8', 'a%2Fb/9', '%09/8', 'A/10']),
    );
    await sql(
      "DELETE FROM parts WHERE b = 'a/b' AND a = 9",
      "UPDATE parts SET b = 'a' WHERE b = 'A' AND a = 8",
    );
    expect(await follower.pass()).toMatchObject({ written: 1, deleted: 2 });
    expect(follower.records.has('a/8')).toBe(true);
    expect(follower.records.has('A/8')).toBe(false);

    await sql(
      'CREATE TABLE bytes (id binary(2) PRIMARY KEY, n int)',
      "INSERT INTO bytes VALUES (x'00ff', 1), (x'2F41', 2)",
      'CREATE TABLE flagged (code varchar(9) CHARACTER SET latin1 NOT NULL, n int NULL, UNIQUE (code), UNIQUE (n))',
      "INSERT INTO flagged VALUES ('Ü', 1), ('b ', 2)",
      'CREATE TABLE greek (name varchar(9) CHARACTER SET greek COLLATE greek_bin PRIMARY KEY)',
      "INSERT INTO greek VALUES (_binary x'AE'), (_binary x'FF')",
    );
    const bytes = follow({ table: 'bytes', columns: ['n'] });
    await bytes.pass();
    expect(dataIn(bytes)).toEqual({ '00ff': { n: 1 }, '2f41': { n: 2 } });
    const flagged = follow({ table: 'flagged', key: ['code'], columns: ['n'] });
    await flagged.pass();
    expect(dataIn(flagged)).toEqual({ Ü: { n: 1 }, 'b ': { n: 2 } });
    // Characters that Unicode does not have become the same one.
    await expect(follow({ table: 'greek', columns: ['name'] }).pass()).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('`key` does not identify the rows'),
    });
  });

  test('is read in one snapshot, while its rows and its definition change', async () => {
    await sql(
      'CREATE TABLE many (id int PRIMARY KEY, words varchar(300))',
      "INSERT INTO many SELECT seq, CONCAT('w', seq) FROM seq_1_to_5500",
    );
    const source = sourceOf({ table: 'many', columns: ['words'] });
    const other = await mysql.createConnection(url);
    let altered: Promise<unknown> | undefined;
    const follower = new Follower({
      shape: (signal) => source.shape(signal),
      close: () => source.close(),
      round: async (...args) => {
        const round = await source.round(...args);
        await sql('UPDATE many SET id = id + 10000 WHERE id > 5000', 'DELETE FROM many WHERE id <= 100');
        altered = other.query('TRUNCATE many');
        return round;
      },
    });
    expect(await follower.pass()).toMatchObject({ read: 5500, written: 5500 });
    await altered;
    await other.end();
    expect(follower.records.size).toBe(5500);
    const next = follow({ table: 'many', columns: ['words'] });
    next.bookmark = follower.bookmark;
    for (const [key, record] of follower.records) next.records.set(key, record);
    expect(await next.pass()).toMatchObject({ read: 0, deleted: 5500 });
  });

  test('has values of any length', async () => {
    await sql(
      'CREATE TABLE long_rows (id int PRIMARY KEY, words longtext)',
      'INSERT INTO long_rows SELECT seq, REPEAT(CHAR(64 + seq), 700000) FROM seq_1_to_12',
    );
    const follower = follow({ table: 'long_rows', columns: ['words'] });
    await follower.pass();
    expect(dataIn(follower)[3]).toEqual({ words: 'C'.repeat(700_000) });
    expect(await follower.pass()).toBeUndefined();
    await sql("UPDATE long_rows SET words = CONCAT(words, 'x') WHERE id = 12");
    expect(await follower.pass()).toMatchObject({ read: 12, written: 1 });
  });

  test('is read as a whole after each change that its rows do not show', async () => {
    await sql(
      'CREATE TABLE things (id int PRIMARY KEY, name text)',
      "INSERT INTO things VALUES (1, 'a'), (2, 'b')",
    );
    const follower = follow({ table: 'things', columns: ['name'] });
    await follower.pass();
    const after = async (...statements: string[]) => {
      await sql(...statements);
      return await follower.pass();
    };
    expect(await after("ALTER TABLE things ADD COLUMN more text DEFAULT 'x'")).toBeUndefined();
    expect(await after('ALTER TABLE things MODIFY name varchar(10)')).toMatchObject({ read: 2, written: 0 });
    expect(await after('TRUNCATE things')).toMatchObject({ deleted: 2 });
    await sql("INSERT INTO things (id, name) VALUES (1, 'a'), (2, 'b')");
    await follower.pass();
    await sql('CREATE TABLE other LIKE things', "INSERT INTO other (id, name) VALUES (2, 'b'), (3, 'c')");
    expect(await after('RENAME TABLE things TO old, other TO things')).toMatchObject({
      written: 1,
      deleted: 1,
    });
    await expect(after('ALTER TABLE things RENAME COLUMN name TO label')).rejects.toMatchObject({
      code: 'source_failed',
      message: 'there is no column "name"; things has "id", "label", "more"',
    });
    await expect(after('ALTER TABLE things ADD COLUMN name int DEFAULT 5')).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringMatching(/"name" was text and is number now/),
    });
    await expect(after('DROP TABLE things')).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('the source has no table things'),
    });
    expect(follower.records.size).toBe(2);
  });

  test('is a view or a query, whose key may have several columns', async () => {
    await sql(
      'CREATE TABLE goods (id int PRIMARY KEY, shop int, name text, plain json)',
      `INSERT INTO goods VALUES (1, 1, 'a', '{"x": 1}'), (2, 1, 'b', NULL), (3, 2, 'c', NULL)`,
      'CREATE VIEW offers AS SELECT shop, id, name, plain FROM goods WHERE shop < 3',
    );
    const view = follow({ table: 'offers', key: ['shop', 'id'], columns: ['name', 'plain'] });
    await view.pass();
    expect(dataIn(view)['1/1']).toEqual({ name: 'a', 'plain.x': 1 });
    const text = 'SELECT shop, count(*) AS many, max(name) AS last FROM goods GROUP BY shop -- all';
    const query = follow({ query: text, key: ['shop'], columns: ['many', 'last'], where: 'many > 1 # busy' });
    await query.pass();
    expect(dataIn(query)).toEqual({ 1: { many: 2, last: 'b' } });
    expect(await query.pass()).toBeUndefined();
    await sql("UPDATE goods SET name = 'z' WHERE id = 2", 'DELETE FROM goods WHERE id = 3');
    expect(await query.pass()).toMatchObject({ written: 1 });
    expect(await view.pass()).toMatchObject({ written: 1, deleted: 1 });
    await expect(follow({ table: 'offers', key: ['shop'], columns: ['name'] }).pass()).rejects.toMatchObject({
      message: '`key` does not identify the rows: two have 1',
    });
  });

  test('is refused where it could not be read exactly, with the right that is missing', async () => {
    const name = new URL(url).pathname.slice(1);
    await sql(
      'CREATE TABLE keyless (id int, name varchar(9), UNIQUE (id))',
      'CREATE TABLE prefixed (name varchar(90) NOT NULL, UNIQUE (name(5)))',
      'CREATE TABLE bytes (id int PRIMARY KEY, raw blob, spot point)',
      'CREATE TABLE secret (id int PRIMARY KEY, name text, password text)',
      "INSERT INTO secret VALUES (1, 'a', 'hash')",
      "CREATE OR REPLACE USER reader@'127.0.0.%' IDENTIFIED BY 'hunter2'",
    );
    const reader = urlOf('reader', 'hunter2');
    const failed = (message: string | RegExp) => ({
      code: 'source_failed',
      message: expect.stringMatching(message),
    });
    expect(await failure({ table: 'keyless', columns: ['name'] })).toEqual(failed('no primary key'));
    expect(await failure({ table: 'keyless', columns: ['name'], key: ['id'] })).toEqual(
      failed('no unique index on "id"'),
    );
    expect(await failure({ table: 'prefixed', columns: ['name'], key: ['name'] })).toEqual(
      failed('no unique index'),
    );
    expect(await failure({ table: 'bytes', columns: [] })).toEqual(failed('bytes has "id", "raw", "spot"'));
    expect(await failure({ table: 'bytes', columns: ['raw'] })).toEqual(
      failed('column "raw" has the type blob'),
    );
    expect(await failure({ table: 'bytes', columns: ['spot'] })).toEqual(
      failed('column "spot" has the type geometry'),
    );
    expect(await failure({ table: 'bytes', columns: ['id'], times: { changed: 'id' } })).toEqual(
      failed('needs a date or a time'),
    );
    expect(await failure({ table: 'a.b.c', columns: ['a'] })).toEqual(failed('is no name of a table'));
    expect(await failure({ query: 'SELEC 1', columns: ['id'], key: ['id'] })).toEqual(failed('syntax'));
    for (const [where, reason] of [
      ['id = 1) OR (1 = 1', "near ') OR (1 = 1' at line 1"],
      ['id = 1 ORDER BY id', "near 'ORDER BY id' at line 1"],
      ['(id = 1', 'to use at its end at line 2'],
      ['nothing = 1', "Unknown column 'nothing'"],
    ] as const) {
      const { code, message } = await failure({ table: 'bytes', columns: ['id'], where });
      expect(code).toBe('source_failed');
      expect(message).toContain('`where` of bytes cannot be used as a condition: ');
      expect(message).toContain(reason);
      expect(message).not.toMatch(/CASE|THEN/);
    }
    // The user may not even see the database. The account may be wider than the host that an error names.
    const { message: denied } = await failure({ table: 'secret', columns: ['name'] }, reader);
    expect(denied).toContain(`GRANT SELECT ON \`${name}\`.TABLE TO 'reader'@'127.0.0.%'`);
    await sql(`GRANT SELECT ON ${name}.keyless TO reader@'127.0.0.%'`);
    const { message } = await failure({ table: 'secret', columns: ['name'] }, reader);
    expect(message).toContain(`GRANT SELECT ON \`${name}\`.\`secret\` TO 'reader'@'127.0.0.%'`);
    const query = await failure({ query: 'SELECT * FROM secret', key: ['id'], columns: ['name'] }, reader);
    const remedy = /GRANT SELECT ON .* TO .*$/.exec(query.message)?.[0] as string;
    expect(remedy).toBe(`GRANT SELECT ON \`${name}\`.\`secret\` TO 'reader'@'127.0.0.%'`);
    // The right to the columns that are read is enough.
    await sql(`GRANT SELECT (id, name) ON ${name}.secret TO reader@'127.0.0.%'`);
    const follower = follow({ table: 'secret', columns: ['name'] }, reader);
    await follower.pass();
    expect(dataIn(follower)).toEqual({ 1: { name: 'a' } });
    expect(await failure({ table: 'secret', columns: ['password'] }, reader)).toEqual(
      failed('there is no column "password"; secret has "id", "name"'),
    );
    await sql(remedy);
    const all = follow({ query: 'SELECT * FROM secret', key: ['id'], columns: ['name'] }, reader);
    expect(await all.pass()).toMatchObject({ read: 1 });
    expect(await failure({ table: 'secret', columns: ['name'] }, urlOf('reader', 'wrong'))).toEqual(
      failed('refuses the user or the password'),
    );
    expect(
      await failure(
        { table: 'secret', columns: ['name'] },
        urlOf('reader', 'hunter2').replace(name, 'nowhere'),
      ),
    ).toEqual(failed(/denied|Unknown database/));
    await sql("DROP USER reader@'127.0.0.%'");
  });

  test('is reached by a URL whose parts are what they say', async () => {
    const refused = (text: string) => {
      try {
        new MysqlSource(text, { table: 't', columns: ['a'] });
      } catch (error) {
        return (error as CosiftError).message;
      }
      return undefined;
    };
    const place = 'mysql://me:hunter2@127.0.0.1/shop';
    expect(refused(place)).toBeUndefined();
    expect(refused('mysql://me:hunter2@127.0.0.1')).toContain('it names no database');
    expect(refused(`${place}?sslmode=require`)).toContain('ssl-mode and ssl-ca, not sslmode');
    expect(refused(`${place}?ssl-mode=sometimes`)).toContain(
      'DISABLED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY',
    );
    expect(refused(`${place}?ssl-ca=/no/such/file`)).toContain('ssl-ca: ENOENT');
    expect(refused('mysql://me:%zz@127.0.0.1/shop')).toContain('percent-encoding');
    expect(refused('mysql://me:hunter2@:0x/shop')).toContain('mysql://USER@HOST/DATABASE');
    await sql('CREATE TABLE plain (id int PRIMARY KEY)');
    expect(await failure({ table: 'plain', columns: ['id'] }, `${url}?ssl-mode=REQUIRED`)).toEqual({
      code: 'source_failed',
      message: expect.stringContaining('TLS'),
    });
  });

  test('is reached again after its server was killed, and never named with its password', async () => {
    await sql(
      'CREATE TABLE lasting (id int PRIMARY KEY, name text)',
      "INSERT INTO lasting VALUES (1, 'a')",
      "CREATE OR REPLACE USER reader@'127.0.0.%' IDENTIFIED BY 'hunter2'",
      "GRANT SELECT ON *.* TO reader@'127.0.0.%'",
    );
    const follower = follow({ table: 'lasting', columns: ['name'] }, urlOf('reader', 'hunter2'));
    await follower.pass();
    await server.kill();
    const error = await follower.pass().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'source_unavailable' });
    expect(`${(error as Error).stack}`).not.toContain('hunter2');
    await expect(follower.pass()).rejects.toMatchObject({ code: 'source_unavailable' });
    await server.restart();
    client = await mysql.createConnection({ uri: url, multipleStatements: true });
    expect(await follower.pass()).toBeUndefined();
    await sql("UPDATE lasting SET name = 'b'");
    expect(await follower.pass()).toMatchObject({ written: 1 });
    const [connections] = await client.query(
      "SELECT id FROM information_schema.processlist WHERE user = 'reader'",
    );
    await sql(...(connections as { id: number }[]).map(({ id }) => `KILL ${id}`));
    await expect.poll(() => follower.pass(true).catch(() => undefined)).toMatchObject({ read: 1 });
    await sql("DROP USER reader@'127.0.0.%'");
  });

  test('can be stopped, and is not left half read, while its rows are sent', async () => {
    await sql(
      'CREATE TABLE large (id int PRIMARY KEY, words varchar(3000))',
      "INSERT INTO large SELECT seq, REPEAT('w', 3000) FROM seq_1_to_20000",
    );
    const source = sourceOf({ table: 'large', columns: ['words'] });
    const end = new AbortController();
    const round = await source.round(null, true, end.signal);
    const reading = (async () => {
      for await (const _ of round?.batches ?? []) throw new Error('a row came before all were read');
    })();
    end.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
    await round?.close();
    const reads = async () => {
      const [processes] = await client.query(
        "SELECT id FROM information_schema.processlist WHERE info LIKE '%SHA2%' AND id <> connection_id()",
      );
      return (processes as { id: number }[]).map(({ id }) => id);
    };
    await expect.poll(reads).toEqual([]);
    const cut = await source.round(null, true, new AbortController().signal);
    const first = (cut as Round).batches[Symbol.asyncIterator]().next();
    const failure = first.catch((reason: unknown) => reason);
    let id: number | undefined;
    while (id === undefined) [id] = await reads();
    await sql(`KILL ${id}`);
    expect(await failure).toMatchObject({ code: 'source_unavailable' });
    await cut?.close();
    const follower = new Follower(source);
    expect(await follower.pass()).toMatchObject({ read: 20000 });
  });
});
