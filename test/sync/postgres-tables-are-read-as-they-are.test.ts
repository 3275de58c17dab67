import { execFileSync } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import type { TableDefinition } from '../../src/sync/sources/definition.js';
import { PostgresSource } from '../../src/sync/sources/postgres/source.js';
import { dataIn, Follower, openedBy } from './follower.js';
import { testOnceOf, VERSIONS } from './postgres-versions.js';

describe.skipIf(NO_SERVER !== undefined).each(VERSIONS)(
  `a table of PostgreSQL %i${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  (version) => {
    let server: PostgresServer;
    let url: string;
    let client: pg.Client;
    const testOnce = testOnceOf(version);
    const sql = async (...statements: string[]) => {
      for (const statement of statements) await client.query(statement);
    };
    const { sourceOf, shapeOf, follow, failure, close } = openedBy(
      (definition: TableDefinition, of?: string) => new PostgresSource(of ?? url, definition),
    );

    beforeAll(async () => {
      server = await PostgresServer.start(version);
      url = await server.createDatabase();
      client = new pg.Client(url);
      await client.connect();
    });
    afterEach(async () => {
      await close();
      await client.query(
        'DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT ALL ON SCHEMA public TO PUBLIC',
      );
    });
    afterAll(async () => {
      await client?.end();
      await server?.stop();
    });

    test('has values of every type, which are the same when they are read again', async () => {
      await sql(
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        'CREATE DOMAIN price AS numeric(10, 2) CHECK (VALUE >= 0)',
        `CREATE TABLE every (
          id int PRIMARY KEY, small smallint, big bigint, single real, double double precision, exact numeric, cost price,
          yes boolean, words text, varying varchar(20), fixed char(5), uuid uuid, feeling mood, span interval, at_time time,
          day date, local timestamp, instant timestamptz, address inet, plain json, binary_json jsonb, tags text[],
          numbers bigint[], flags boolean[], moods mood[], instants timestamptz[], huge numeric)`,
        `INSERT INTO every VALUES (1, 2, 9007199254740991, 0.1, 1e-7, 1.10, 12.50, true, 'päper', 'v', 'ab',
          '00000000-0000-0000-0000-00000000000A', 'happy', '1 day 02:03:04.5', '12:30', '2024-02-29', '2024-02-29 10:00:00.123456',
          '2024-02-29 12:00:00.5+02', '10.0.0.1/8', '{ "b": [1, 2], "a": {"c": 1.50} }', '{"x": {"y": null, "z": "t"}, "e": {}}',
          '{a,"b,c","with \\"quotes\\""}', '{1,2}', '{t,f}', '{sad}', '{2024-01-01 00:00:00+00}', 12345678901234567890)`,
        'INSERT INTO every (id) VALUES (2)',
      );
      const { rows } = await client.query(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'every'::regclass AND attnum > 0",
      );
      const columns = rows.map(({ attname }) => attname as string);
      const types = { huge: 'text' } as const;
      const follower = follow({ table: 'every', columns, types });
      expect(await follower.pass()).toMatchObject({ read: 2, written: 2 });
      expect(dataIn(follower)[1]).toEqual({
        id: 1,
        small: 2,
        big: 9007199254740991,
        single: 0.1,
        double: 1e-7,
        exact: 1.1,
        cost: 12.5,
        yes: true,
        words: 'päper',
        varying: 'v',
        fixed: 'ab',
        uuid: '00000000-0000-0000-0000-00000000000a',
        feeling: 'happy',
        span: 'P1DT2H3M4.5S',
        at_time: '12:30:00',
        day: '2024-02-29',
        local: '2024-02-29T10:00:00.123456',
        instant: '2024-02-29T10:00:00.5Z',
        address: '10.0.0.1/8',
        'plain.b': [1, 2],
        'plain.a.c': 1.5,
        'binary_json.x.y': null,
        'binary_json.x.z': 't',
        tags: ['a', 'b,c', 'with "quotes"'],
        numbers: [1, 2],
        flags: [true, false],
        moods: ['sad'],
        instants: ['2024-01-01T00:00:00Z'],
        huge: '12345678901234567890',
      });
      // The settings of other sessions, users and databases change no value.
      await sql(
        'UPDATE every SET id = id',
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET TimeZone = 'Asia/Tokyo'`,
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET DateStyle = 'SQL, DMY'`,
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET extra_float_digits = -5`,
      );
      const again = follow({ table: 'every', columns, types });
      again.bookmark = follower.bookmark;
      for (const [key, record] of follower.records) again.records.set(key, record);
      expect(await again.pass()).toMatchObject({ read: 2, written: 0, comparedKeys: false });
      expect(await again.pass()).toBeUndefined();
      expect(await again.pass(true)).toMatchObject({ read: 2, written: 0 });
    });

    testOnce('has rows that are refused, with a reason that says what to do', async () => {
      await sql(
        'CREATE TABLE odd (id int PRIMARY KEY, big bigint, number double precision, list text[], plain json, created timestamptz)',
        'INSERT INTO odd (id, big) VALUES (1, 9007199254740993), (7, 5)',
        "INSERT INTO odd (id, number) VALUES (2, 'NaN')",
        "INSERT INTO odd (id, list) VALUES (3, '{{a},{b}}'), (4, '{a,NULL}')",
        `INSERT INTO odd (id, plain) VALUES (5, '{"a": 1, "a": 2}')`,
        "INSERT INTO odd (id, created) VALUES (6, 'infinity')",
      );
      const follower = follow({
        table: 'odd',
        columns: ['big', 'number', 'list', 'plain'],
        times: { created: 'created' },
      });
      await follower.pass();
      expect(dataIn(follower)).toEqual({ 7: { big: 5, number: null, list: null, plain: null } });
      const reasons = Object.fromEntries(follower.refused);
      expect(reasons).toMatchObject({
        1: expect.stringMatching(
          /^column "big": 9007199254740993 cannot .* type text of the column in `types`/,
        ),
        2: expect.stringContaining('"number": NaN'),
        3: expect.stringContaining('"list": the list has a list in it'),
        4: expect.stringContaining('"list": the list has null in it'),
        5: 'column "plain": the member "a" occurs twice',
        6: expect.stringContaining('"created": infinity is no time'),
      });
      await sql('UPDATE odd SET big = 6, list = NULL, number = 1');
      expect(await follower.pass()).toMatchObject({ written: 5, comparedKeys: false });
      expect([...follower.refused.keys()]).toEqual(['5', '6']);
    });

    test('has keys of several parts and of any characters, whose order is that of their bytes', async () => {
      await sql(
        'CREATE TABLE parts (b text, a int, words text, PRIMARY KEY (b, a))',
        `INSERT INTO parts SELECT part, number, 'w' FROM unnest(ARRAY['', ' ', '/', '%', '%2F', 'a/b', 'a', 'A', 'ä', 'z', E'\\t', U&'\\+01F600', U&'\\FFFD', U&'\\0085', '~', '0', '10', '9']) AS part,
          generate_series(8, 11) AS number`,
      );
      const follower = follow({ table: 'parts', columns: ['words'] });
      await follower.pass();
      expect(follower.records.size).toBe(72);
      expect([...follower.records.keys()]).toEqual(
        expect.arrayContaining(['/8', '%2F/10', '%252F/8', 'a%2Fb/9', '%09/8', '%C2%85/8']),
      );
      await sql(
        "DELETE FROM parts WHERE b = 'a/b' AND a = 9",
        "UPDATE parts SET b = 'new' WHERE b = 'A' AND a = 8",
      );
      expect(await follower.pass()).toMatchObject({ read: 1, written: 1, deleted: 2, comparedKeys: true });
      expect(follower.records.has('a%2Fb/9')).toBe(false);
      expect(follower.records.has('new/8')).toBe(true);
    });

    test('is read in chunks, with what changes meanwhile', async () => {
      await sql(
        'CREATE TABLE many (id int, part text, words text, PRIMARY KEY (part, id))',
        "INSERT INTO many SELECT n, 'p' || n % 3, 'w' || n FROM generate_series(1, 5500) AS n",
      );
      const source = sourceOf({ table: 'many', columns: ['words'] });
      let batches = 0;
      const follower = new Follower({
        shape: (signal) => source.shape(signal),
        close: () => source.close(),
        round: async (...args) => {
          const round = await source.round(...args);
          async function* changing() {
            for await (const batch of round?.batches ?? []) {
              yield batch;
              batches += 1;
              if (batches !== 3) continue;
              // A key moves behind the place that is read, others go, and more rows change than the last snapshot reads.
              await sql(
                "UPDATE many SET part = 'p0', id = 100001 WHERE id = 5498",
                'DELETE FROM many WHERE id % 100 = 0',
                "UPDATE many SET words = 'changed' WHERE id % 2 = 1",
              );
            }
          }
          return round && { ...round, batches: changing() };
        },
      });
      await follower.pass();
      const { rows } = await client.query("SELECT part || '/' || id AS key, words FROM many");
      const stored = Object.fromEntries(
        Object.entries(dataIn(follower)).map(([key, { words }]) => [key, words]),
      );
      expect(stored).toEqual(Object.fromEntries(rows.map(({ key, words }) => [key, words])));
      expect(await follower.pass()).toBeUndefined();
      await sql("UPDATE many SET words = words || '!'");
      expect(await follower.pass()).toMatchObject({ read: rows.length, written: rows.length });
    });

    testOnce('is read as a whole after changes that its rows do not show', async () => {
      await sql(
        'CREATE TABLE things (id int PRIMARY KEY, name text)',
        "INSERT INTO things VALUES (1, 'a'), (2, 'b')",
      );
      const follower = follow({ table: 'things', columns: ['name'] });
      await follower.pass();
      const wholeAfter = async (...statements: string[]) => {
        await sql(...statements);
        return await follower.pass();
      };
      expect(await wholeAfter("ALTER TABLE things ADD COLUMN more text DEFAULT 'x'")).toMatchObject({
        read: 2,
        written: 0,
      });
      expect(
        await wholeAfter('ALTER TABLE things ALTER COLUMN name TYPE varchar(10) USING upper(name)'),
      ).toMatchObject({ read: 2, written: 2 });
      expect(await wholeAfter('TRUNCATE things')).toMatchObject({ deleted: 2 });
      await sql("INSERT INTO things VALUES (1, 'a'), (2, 'b')");
      await follower.pass();
      await sql(
        'CREATE TABLE other (LIKE things INCLUDING ALL)',
        "INSERT INTO other VALUES (2, 'b'), (3, 'c')",
      );
      expect(
        await wholeAfter(
          'BEGIN; ALTER TABLE things RENAME TO old; ALTER TABLE other RENAME TO things; COMMIT',
        ),
      ).toMatchObject({ read: 2, written: 1, deleted: 1 });
      expect(await wholeAfter('VACUUM FULL things')).toMatchObject({ read: 2, written: 0, deleted: 0 });
      await expect(wholeAfter('ALTER TABLE things RENAME COLUMN name TO label')).rejects.toMatchObject({
        code: 'source_failed',
        message: 'there is no column "name"; things has "id", "label", "more"',
      });
      await expect(
        wholeAfter(
          'ALTER TABLE things RENAME COLUMN label TO name',
          'ALTER TABLE things ALTER COLUMN name TYPE int USING 5',
        ),
      ).rejects.toMatchObject({
        code: 'source_failed',
        message: expect.stringMatching(/"name" was text and is number now/),
      });
      expect(follower.records.size).toBe(2);
    });

    testOnce('is read as a whole after changes of values whose rows nobody has written', async () => {
      await sql(
        "CREATE TYPE state AS ENUM ('new', 'sold')",
        `CREATE TABLE cars (id int PRIMARY KEY, state state, states state[], price int,
          gross int GENERATED ALWAYS AS (price * 2) ${version === 18 ? 'VIRTUAL' : 'STORED'})`,
        "INSERT INTO cars VALUES (1, 'sold', '{new,sold}', 10)",
      );
      const columns = ['state', 'states', 'gross'];
      const follower = follow({ table: 'cars', columns });
      await follower.pass();
      await sql("ALTER TYPE state RENAME VALUE 'sold' TO 'paid'");
      await follower.pass();
      const renamed = { state: 'paid', states: ['new', 'paid'] };
      expect(dataIn(follower)).toEqual({ 1: { ...renamed, gross: 20 } });
      if (version < 18) return;
      await sql('ALTER TABLE cars ALTER COLUMN gross SET EXPRESSION AS (price * 3)');
      await follower.pass();
      expect(dataIn(follower)).toEqual({ 1: { ...renamed, gross: 30 } });
    });

    testOnce('has values whose texts depend on other tables', async () => {
      await sql(
        'CREATE TABLE target (id int)',
        'CREATE TABLE links (id int PRIMARY KEY, to_table regclass, raw bytea)',
        "INSERT INTO links VALUES (1, 'target', '\\xff')",
      );
      const source = {
        table: 'links',
        columns: ['to_table', 'raw'],
        types: { to_table: 'text', raw: 'text' },
      } as const;
      const follower = follow(source);
      await follower.pass();
      await sql('ALTER TABLE target RENAME TO goal');
      await follower.pass();
      expect(dataIn(follower)).toEqual({ 1: { to_table: 'goal', raw: '\\xff' } });
      expect((await shapeOf(source)).notices).toEqual([
        'column "to_table" has the type regclass, so all rows are read each time',
      ]);
    });

    testOnce('has the rows that the policies of the moment show', async () => {
      await sql(
        'CREATE TABLE shared (id int PRIMARY KEY, name text)',
        "INSERT INTO shared SELECT n, 'n' || n FROM generate_series(1, 4) AS n",
        'ALTER TABLE shared ENABLE ROW LEVEL SECURITY',
        'CREATE POLICY visible ON shared USING (id <= 2)',
        'DROP ROLE IF EXISTS reader',
        'CREATE ROLE reader LOGIN',
        'GRANT SELECT ON shared TO reader',
      );
      const reader = Object.assign(new URL(url), { username: 'reader' }).href;
      const follower = follow({ table: 'shared', columns: ['name'], rls: true }, reader);
      await follower.pass();
      expect([...follower.records.keys()]).toEqual(['1', '2']);
      await sql('ALTER POLICY visible ON shared USING (id > 2)');
      await follower.pass();
      expect([...follower.records.keys()]).toEqual(['3', '4']);
      expect(await follower.pass()).toBeUndefined();
      await sql('DROP OWNED BY reader', 'DROP ROLE reader');
    });

    testOnce('is followed when a view takes its place', async () => {
      await sql('CREATE TABLE seen (id int PRIMARY KEY, name text)', "INSERT INTO seen VALUES (1, 'table')");
      const follower = follow({ table: 'seen', columns: ['name'], key: ['id'] });
      await follower.pass();
      await sql('DROP TABLE seen', "CREATE MATERIALIZED VIEW seen AS SELECT 1 AS id, 'view' AS name");
      await follower.pass();
      expect(dataIn(follower)).toEqual({ 1: { name: 'view' } });
    });

    testOnce(
      'is read once, although a transaction is open that began before its rows were written',
      async () => {
        const other = new pg.Client(url);
        await other.connect();
        await other.query('BEGIN; SELECT pg_current_xact_id()');
        await sql(
          'CREATE TABLE fresh (id int PRIMARY KEY, name text)',
          "INSERT INTO fresh SELECT n, 'n' || n FROM generate_series(1, 30) AS n",
        );
        const follower = follow({ table: 'fresh', columns: ['name'] });
        expect(await follower.pass()).toMatchObject({ read: 30, written: 30, comparedKeys: false });
        await other.end();
      },
    );

    testOnce('is read as a whole after its server was reset to an earlier moment', async () => {
      await sql(
        'CREATE TABLE reset (id int PRIMARY KEY, name text)',
        "INSERT INTO reset SELECT n, 'old' FROM generate_series(1, 3) AS n",
      );
      const follower = follow({ table: 'reset', columns: ['name'] });
      await follower.pass();
      const { rows } = await client.query('SHOW data_directory');
      const data = rows[0].data_directory as string;
      const restarted = async (work: () => Promise<void>) => {
        await client.end();
        await server.shutDown();
        await work();
        await server.restart();
        client = new pg.Client(url);
        await client.connect();
      };
      await restarted(async () => {
        execFileSync('cp', ['-a', data, `${data}.copy`]);
      });
      for (let n = 0; n < 20; n += 1) await sql(`UPDATE reset SET name = 'new${n}' WHERE id < 3`);
      await expect.poll(() => follower.pass().catch(() => undefined)).toMatchObject({ written: 2 });
      await restarted(async () => {
        await rm(data, { recursive: true });
        await rename(`${data}.copy`, data);
      });
      await sql("UPDATE reset SET name = 'other' WHERE id = 3");
      await expect.poll(() => follower.pass().catch(() => undefined)).toMatchObject({ read: 3 });
      expect(dataIn(follower)).toEqual({ 1: { name: 'old' }, 2: { name: 'old' }, 3: { name: 'other' } });
      // The same without a start: a machine was restored with its memory.
      const { snapshot } = follower.bookmark as { snapshot: string };
      const [, next = ''] = snapshot.split(':');
      follower.bookmark = { ...follower.bookmark, snapshot: `${next}:${BigInt(next) + 100n}:` };
      expect(await follower.pass()).toMatchObject({ read: 3, written: 0 });
      expect(await follower.pass()).toBeUndefined();
    });

    testOnce('has partitions, which are attached and detached with their rows', async () => {
      await sql(
        'CREATE TABLE split (id int PRIMARY KEY, name text) PARTITION BY RANGE (id)',
        'CREATE TABLE low PARTITION OF split FOR VALUES FROM (0) TO (10)',
        'CREATE TABLE high (id int PRIMARY KEY, name text)',
        "INSERT INTO high VALUES (11, 'old')",
        "INSERT INTO split VALUES (1, 'a')",
      );
      const follower = follow({ table: 'split', columns: ['name'] });
      await follower.pass();
      expect([...follower.records.keys()]).toEqual(['1']);
      await sql('ALTER TABLE split ATTACH PARTITION high FOR VALUES FROM (10) TO (20)');
      await follower.pass();
      expect([...follower.records.keys()]).toEqual(['1', '11']);
      await sql('TRUNCATE low', 'ALTER TABLE split DETACH PARTITION high');
      await follower.pass();
      expect([...follower.records.keys()]).toEqual([]);
    });

    testOnce('can be a view or a query, which are compared as a whole', async () => {
      await sql(
        'CREATE TABLE base (id int PRIMARY KEY, name text, deleted boolean DEFAULT false)',
        "INSERT INTO base VALUES (1, 'a'), (2, 'b')",
        'CREATE VIEW visible AS SELECT id, name FROM base WHERE NOT deleted',
      );
      const view = follow({ table: 'visible', columns: ['name'], key: ['id'] });
      const query = follow({
        query: 'SELECT id AS n, name FROM base -- all',
        columns: ['name'],
        key: ['n'],
        where: 'n < 10',
      });
      expect(await view.pass()).toMatchObject({ kind: 'complete', read: 2, written: 2 });
      expect(await query.pass()).toMatchObject({ kind: 'complete', read: 2, written: 2 });
      expect([await view.pass(), await query.pass()]).toEqual([undefined, undefined]);
      await sql('UPDATE base SET deleted = true WHERE id = 1');
      expect(await view.pass()).toMatchObject({ kind: 'complete', read: 1, written: 0, deleted: 1 });
      expect(await query.pass()).toBeUndefined();
      expect(await query.pass(true)).toMatchObject({ kind: 'complete', read: 2, written: 0 });
      const twice = follow({ query: 'SELECT 1 AS id, name FROM base', columns: ['name'], key: ['id'] });
      await expect(twice.pass()).rejects.toMatchObject({
        code: 'source_failed',
        message: '`key` does not identify the rows: two have 1',
      });
      const alike = 'SELECT id::numeric AS id FROM (VALUES (1.0), (1.00), (1.0)) AS numbers (id)';
      await expect(follow({ query: alike, columns: ['id'], key: ['id'] }).pass()).rejects.toMatchObject({
        message: '`key` does not identify the rows: two have 1.0',
      });
      const keyless = follow({
        query: 'SELECT NULL::int AS id FROM base',
        columns: ['id'],
        key: ['id'],
      });
      await keyless.pass();
      expect([...keyless.refused.keys()]).toEqual(['row 1', 'row 2']);
    });

    testOnce('has rows that leave and enter the condition', async () => {
      await sql(
        'CREATE TABLE shop (id int PRIMARY KEY, name text, deleted_at timestamptz)',
        "INSERT INTO shop SELECT n, 'n' || n FROM generate_series(1, 10) AS n",
      );
      const follower = follow({ table: 'shop', columns: ['name'], where: 'deleted_at IS NULL' });
      await follower.pass();
      await sql('UPDATE shop SET deleted_at = now() WHERE id = 3', "INSERT INTO shop VALUES (11, 'new')");
      expect(await follower.pass()).toMatchObject({ read: 1, written: 1, deleted: 1 });
      await sql('UPDATE shop SET deleted_at = NULL');
      expect(await follower.pass()).toMatchObject({ written: 1, deleted: 0 });
      expect(follower.records.size).toBe(11);
    });

    testOnce('is refused where it could not be read exactly', async () => {
      await sql(
        'CREATE TABLE keyless (id int, name text)',
        'CREATE TABLE bytes (id int PRIMARY KEY, raw bytea, spot point)',
        'CREATE TABLE secret (id int PRIMARY KEY, name text)',
        'CREATE TABLE guarded (id int PRIMARY KEY, name text)',
        "INSERT INTO guarded VALUES (1, 'mine'), (2, 'theirs')",
        'ALTER TABLE guarded ENABLE ROW LEVEL SECURITY',
        'CREATE POLICY mine ON guarded USING (id = 1)',
        'DROP ROLE IF EXISTS reader',
        'CREATE ROLE reader LOGIN',
        'GRANT SELECT ON guarded TO reader',
      );
      const reader = Object.assign(new URL(url), { username: 'reader' }).href;
      const failed = (message: string | RegExp) => ({
        code: 'source_failed',
        message: expect.stringMatching(message),
      });
      expect(await failure({ table: 'keyless', columns: ['name'] })).toEqual(failed('no primary key'));
      expect(await failure({ table: 'keyless', columns: ['name'], key: ['id'] })).toEqual(
        failed('no unique index on "id"'),
      );
      expect(await failure({ table: 'bytes', columns: [] })).toEqual(failed('bytes has "id", "raw", "spot"'));
      expect(await failure({ table: 'bytes', columns: ['raw'] })).toEqual(
        failed('column "raw" has the type bytea'),
      );
      expect(await failure({ table: 'bytes', columns: ['spot'] })).toEqual(
        failed('column "spot" has the type point'),
      );
      expect(await failure({ table: 'nothing', columns: ['a'] })).toEqual(failed('no table nothing'));
      expect(await failure({ table: 'secret', columns: ['name'] }, reader)).toEqual(failed('GRANT SELECT'));
      expect(await failure({ table: 'bytes', columns: ['id'], times: { changed: 'id' } })).toEqual(
        failed('needs a date or a time'),
      );
      expect(await failure({ query: 'SELEC 1', columns: ['id'], key: ['id'] })).toEqual(
        failed('syntax error'),
      );
      for (const [where, reason] of [
        ['id = 1) OR (1 = 1', 'syntax error at or near ")"'],
        ['id = 1 ORDER BY id', 'syntax error at or near "ORDER"'],
        ['(id = 1', 'syntax error at its end'],
        ['nothing = 1', 'column "nothing" does not exist'],
        ['id', 'must be type boolean'],
      ] as const) {
        const { code, message } = await failure({ table: 'bytes', columns: ['id'], where });
        expect(code).toBe('source_failed');
        expect(message).toContain('`where` of bytes cannot be used as a condition: ');
        expect(message).toContain(reason);
      }
      const guarded = follow({ table: 'guarded', columns: ['name'] }, reader);
      await expect(guarded.pass()).rejects.toMatchObject(failed('row-level security .* `rls`'));
      const allowed = follow({ table: 'guarded', columns: ['name'], rls: true }, reader);
      await allowed.pass();
      expect(dataIn(allowed)).toEqual({ 1: { name: 'mine' } });
      await sql('DROP OWNED BY reader', 'DROP ROLE reader');
    });

    testOnce('is reached again after its server was killed, and never named with its password', async () => {
      await sql(
        'CREATE TABLE lasting (id int PRIMARY KEY, name text)',
        "INSERT INTO lasting VALUES (1, 'a')",
      );
      const secret = Object.assign(new URL(url), { password: 'hunter2' }).href;
      const follower = follow({ table: 'lasting', columns: ['name'] }, secret);
      await follower.pass();
      await client.end();
      await server.kill();
      let error: unknown;
      // The process of a connection may live on for a moment.
      await expect
        .poll(async () => {
          error = await follower.pass(true).catch((reason: unknown) => reason);
          return error;
        })
        .toMatchObject({ code: 'source_unavailable' });
      expect(`${(error as Error).stack}`).not.toContain('hunter2');
      await server.restart();
      client = new pg.Client(url);
      await client.connect();
      await sql("UPDATE lasting SET name = 'b'");
      await expect.poll(() => follower.pass().catch(() => undefined)).toMatchObject({ written: 1 });
      await sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cosift sync'",
      );
      await expect.poll(() => follower.pass(true).catch(() => undefined)).toMatchObject({ read: 1 });
    });
  },
);
