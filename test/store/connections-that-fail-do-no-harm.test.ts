import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { CosiftError } from '../../src/errors.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { limitedDatabase } from '../../src/store/postgres/limited-database.js';
import { testInFull } from '../helpers/full.js';
import { changedStatements } from '../helpers/postgres/around-statements.js';
import { SilentProxy } from '../helpers/postgres/silent-proxy.js';
import { searchStore } from '../helpers/search-store.js';

const PASSWORD = 'hidden-password';

describe.skipIf(NO_SERVER !== undefined)(`a PostgreSQL server${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  let url: string;
  let administrator: pg.Client;
  const opened: NodePostgres[] = [];
  const connect = (url: string, maxConnections = 2) => {
    const database = new NodePostgres({ url, maxConnections });
    opened.push(database);
    return database;
  };

  beforeAll(async () => {
    server = await PostgresServer.start();
    url = await server.createDatabase();
    administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await administrator?.end();
    await server?.stop();
  });

  const changed = (change: (target: URL) => void) => {
    const target = new URL(url);
    change(target);
    return target.href;
  };

  test.each<[string, (target: URL) => void, string, string]>([
    [
      'a user that does not exist',
      (target) => Object.assign(target, { username: 'someone', password: PASSWORD }),
      'refuses the user or the password',
      'role "someone" does not exist',
    ],
    [
      'a database that does not exist',
      (target) => Object.assign(target, { password: PASSWORD, pathname: '/none' }),
      'no database of the name',
      'database "none" does not exist',
    ],
    [
      'a port that nothing listens on',
      (target) => Object.assign(target, { password: PASSWORD, port: '9' }),
      'cannot be reached',
      'ECONNREFUSED',
    ],
    [
      'a user without privileges',
      (target) => Object.assign(target, { username: 'plain', password: PASSWORD }),
      'lacks a privilege',
      'permission denied',
    ],
    [
      'a database of another encoding',
      (target) => Object.assign(target, { password: PASSWORD, pathname: '/ascii' }),
      'has the encoding SQL_ASCII; create one with UTF8',
      '',
    ],
  ])('%s is explained, without the password', async (_, change, detail, text) => {
    await administrator.query("SELECT set_config('client_min_messages', 'error', false)");
    const existing = await administrator.query("SELECT 1 FROM pg_roles WHERE rolname = 'plain'");
    if (existing.rowCount === 0) {
      await administrator.query('CREATE ROLE plain LOGIN');
      await administrator.query("CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0");
    }
    const error = await new PostgresStore(connect(changed(change)), LIMITS).load().catch((error) => error);
    expect(error).toMatchObject({ code: 'store_failed', detail: expect.stringContaining(detail) });
    expect(String(error.cause?.detail ?? '')).toContain(text);
    for (let cause = error; cause !== undefined; cause = cause.cause) {
      expect(JSON.stringify([cause.message, cause.stack, { ...cause }])).not.toContain(PASSWORD);
    }
  });

  test('a transaction fails with its first error, whichever statement is waited for', async () => {
    const failure = connect(url).read(async (sql) => {
      await sql.run('SET LOCAL statement_timeout = 10');
      const slow = sql.run('SELECT pg_sleep(600)');
      slow.catch(() => undefined);
      return await sql.run('SELECT 1');
    });
    await expect(failure).rejects.toMatchObject({ code: 'timed_out' });
  });

  test('a password that is wrong, and one that is missing, are explained', async () => {
    await administrator.query("CREATE ROLE guarded LOGIN PASSWORD 'right'");
    await administrator.query('GRANT ALL ON DATABASE test_1 TO guarded');
    const [{ hba_file }] = (await administrator.query('SHOW hba_file')).rows;
    await administrator.query(
      `COPY (VALUES ('host all guarded all scram-sha-256'), ('host all all all trust')) TO '${hba_file}'`,
    );
    await administrator.query('SELECT pg_reload_conf()');
    const failure = async (password: string) => {
      const target = changed((target) => Object.assign(target, { username: 'guarded', password }));
      const error = await new PostgresStore(connect(target), LIMITS).load().catch((error) => error);
      expect(inspect(error, { depth: 9 })).not.toContain(PASSWORD);
      return error?.detail;
    };
    // The server reads the file a moment later.
    await expect.poll(() => failure(PASSWORD)).toMatch(/refuses the user or the password/);
    expect(await failure('')).toMatch(/asks for a password: set PGPASSWORD/);
  });

  test.each<[string, string, string]>([
    ['a certificate that does not exist', 'sslmode=disable&sslrootcert=/none.pem', 'ENOENT'],
    ['a mode of TLS that does not exist', 'sslmode=requires', 'sslmode must be one of disable'],
  ])('%s in the URL is explained, without the password', (_, search, text) => {
    const target = changed((target) => Object.assign(target, { password: PASSWORD, search }));
    let error: CosiftError | undefined;
    try {
      connect(target);
    } catch (thrown) {
      error = thrown as CosiftError;
    }
    expect(error).toMatchObject({ code: 'store_failed', detail: 'the URL of the store cannot be used' });
    expect(String((error?.cause as CosiftError | undefined)?.detail)).toContain(text);
    expect(inspect(error, { depth: 9 })).not.toContain(PASSWORD);
  });

  test('a certificate that is removed later ends no connection, and not the process', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'cosift-certificate-'));
    const certificate = path.join(directory, 'root.pem');
    writeFileSync(certificate, '');
    const search = `sslmode=disable&sslrootcert=${certificate}&application_name=certified`;
    const database = connect(changed((target) => Object.assign(target, { search })));
    let messages = 0;
    database.listen('some', () => {
      messages += 1;
    });
    await expect.poll(() => messages).toBe(1);
    rmSync(directory, { recursive: true });
    await administrator.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'certified'",
    );
    // The listener tells that it lost its connection, and that it has another one.
    await expect.poll(() => messages).toBe(3);
    expect(await database.read((sql) => sql.run('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  });

  test('a user that owns the schema needs no other privilege', async () => {
    const owned = await server.createDatabase();
    const name = new URL(owned).pathname.slice(1);
    await administrator.query('CREATE ROLE owner LOGIN');
    await server.run('CREATE EXTENSION vector', name);
    await server.run('CREATE SCHEMA cosift AUTHORIZATION owner', name);
    const target = changed((target) => Object.assign(target, { username: 'owner', pathname: `/${name}` }));
    const store = new PostgresStore(connect(target), LIMITS);
    await store.load();
    await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    expect(await store.listDatabases()).toMatchObject([{ id: 'db', records: 0 }]);
  });

  test('a server without pgvector, and tables of a later version, are explained', async () => {
    const without = changedStatements(connect(url), () => (text) => text.replace("'vector'", "'absent'"));
    await expect(new PostgresStore(without, LIMITS).load()).rejects.toMatchObject({
      code: 'store_failed',
      detail: expect.stringContaining('no pgvector'),
    });
    const later = await server.createDatabase();
    const database = connect(later);
    await new PostgresStore(database, LIMITS).load();
    await database.write((sql) => sql.run('UPDATE cosift.schema_version SET version = 1000'));
    await expect(new PostgresStore(connect(later), LIMITS).load()).rejects.toMatchObject({
      code: 'store_failed',
      detail: expect.stringContaining('version 1000'),
    });
  });

  test('an aborted statement ends on the server while all connections are in use', async () => {
    const database = connect(url, 1);
    const stop = new AbortController();
    const sleeping = async () => {
      const { rows } = await administrator.query(
        "SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'",
      );
      return rows.length;
    };
    const asleep = database.read((sql) => sql.run('SELECT pg_sleep(600)'), stop.signal);
    const ended = expect(asleep).rejects.toThrow('the caller left');
    await expect.poll(sleeping).toBe(1);
    const waiting = new AbortController();
    const never = database.read(() => Promise.reject(new Error('it ran')), waiting.signal);
    const left = expect(never).rejects.toThrow('left while it waited');
    waiting.abort(new Error('left while it waited'));
    stop.abort(new Error('the caller left'));
    await ended;
    await left;
    await expect.poll(sleeping).toBe(0);
    expect(await database.read((sql) => sql.run('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  });

  test('a connection that ends as soon as it is made is replaced', async () => {
    const proxy = await SilentProxy.listen(Number(new URL(url).port));
    const database = connect(changed((target) => Object.assign(target, { port: String(proxy.port) })));
    let ended = 0;
    // The end comes with the message that the server is ready, before the program goes on.
    proxy.change = (bytes) => {
      if (ended === 2 || !bytes.subarray(-6).equals(READY)) return bytes;
      ended += 1;
      return Buffer.concat([bytes, TERMINATED]);
    };
    expect(await database.read((sql) => sql.run('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    expect(ended).toBe(2);
    await database.close();
    proxy.close();
  });

  testInFull('calls of a server that stops to answer end with their signals, and a close ends', async () => {
    const proxy = await SilentProxy.listen(Number(new URL(url).port));
    const database = connect(changed((target) => Object.assign(target, { port: String(proxy.port) })));
    let messages = 0;
    database.listen('some', () => {
      messages += 1;
    });
    // It tells once that it listens.
    await expect.poll(() => messages).toBe(1);
    expect(await database.read((sql) => sql.run('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    proxy.isSilent = true;
    const stop = new AbortController();
    const call = database.write((sql) => sql.run('SELECT 2'), stop.signal);
    const limited = limitedDatabase(database, 50);
    await expect(limited.read((sql) => sql.run('SELECT 3'))).rejects.toMatchObject({ code: 'timed_out' });
    stop.abort(new Error('the caller left'));
    await expect(call).rejects.toThrow('the caller left');
    const unlimited = expect(database.read((sql) => sql.run('SELECT 4'))).rejects.toBeInstanceOf(CosiftError);
    await database.close();
    await unlimited;
    proxy.close();
  });

  testInFull('a cancellation that is lost does not keep later ones from the server', async () => {
    const proxy = await SilentProxy.listen(Number(new URL(url).port));
    const database = connect(changed((target) => Object.assign(target, { port: String(proxy.port) })));
    const asleep = async () => {
      const { rows } = await administrator.query(
        "SELECT pid FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(601)' AND state = 'active'",
      );
      return rows.length;
    };
    const cancel = async (before: () => void) => {
      const stop = new AbortController();
      const sleeping = database.read((sql) => sql.run('SELECT pg_sleep(601)'), stop.signal);
      const ended = expect(sleeping).rejects.toThrow('the caller left');
      await expect.poll(asleep).toBe(1);
      before();
      stop.abort(new Error('the caller left'));
      await ended;
    };
    // The connection of the cancellations is made, and then one is lost.
    await cancel(() => undefined);
    await expect.poll(asleep).toBe(0);
    await cancel(() => {
      proxy.isSilent = true;
    });
    await expect.poll(() => proxy.swallowed).toBeGreaterThan(0);
    await administrator.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(601)'",
    );
    await expect.poll(asleep).toBe(0);
    proxy.isSilent = false;
    await cancel(() => undefined);
    await expect.poll(asleep).toBe(0);
    await database.close();
    proxy.close();
  });

  test('an aborted call ends its connection to a server that does not answer', async () => {
    const proxy = await SilentProxy.listen(Number(new URL(url).port));
    const database = connect(changed((target) => Object.assign(target, { port: String(proxy.port) })));
    const stop = new AbortController();
    const call = database.read(async (sql) => {
      await sql.run('SELECT 1');
      proxy.isSilent = true;
      await sql.run('SELECT 2');
    }, stop.signal);
    await expect.poll(() => proxy.swallowed).toBeGreaterThan(0);
    expect(proxy.callers[0]?.destroyed).toBe(false);
    stop.abort(new Error('the caller left'));
    await expect(call).rejects.toThrow('the caller left');
    await expect.poll(() => proxy.callers[0]?.destroyed).toBe(true);
    proxy.close();
  });

  test('a read whose transaction does not begin fails', async () => {
    const proxy = await SilentProxy.listen(Number(new URL(url).port));
    const database = connect(changed((target) => Object.assign(target, { port: String(proxy.port) })));
    // The statement after it succeeds.
    proxy.changeSent = (bytes) => Buffer.from(bytes.toString('latin1').replace('BEGIN', 'BEGUN'), 'latin1');
    let rows: unknown;
    const read = database.read(async (sql) => {
      rows = await sql.run('SELECT 1 AS one');
      return rows;
    });
    await expect(read).rejects.toBeInstanceOf(CosiftError);
    expect(rows).toEqual([{ one: 1 }]);
    proxy.close();
  });

  test('a commit that is not confirmed is reported as such, in its time', async () => {
    const proxy = await SilentProxy.listen(Number(new URL(url).port));
    const target = changed((target) => Object.assign(target, { port: String(proxy.port) }));
    const database = new NodePostgres({ url: target, maxConnections: 1, commitTimeoutMs: 50 });
    opened.push(database);
    await administrator.query('CREATE TABLE confirmed (n integer)');
    const commit = database.write(async (sql) => {
      await sql.run('INSERT INTO confirmed VALUES (1)');
      proxy.isSilent = true;
    });
    await expect(commit).rejects.toMatchObject({
      code: 'store_failed',
      detail: expect.stringContaining('whether a write took effect is not known'),
    });
    // The only connection was given up.
    proxy.isSilent = false;
    expect(await database.read((sql) => sql.run('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    proxy.close();
  });

  testInFull('a read has its result, also when its transaction cannot be ended', async () => {
    const proxy = await SilentProxy.listen(Number(new URL(url).port));
    const target = changed((target) => Object.assign(target, { port: String(proxy.port) }));
    const database = connect(target, 1);
    const read = async (isSilent: boolean) =>
      await database.read(async (sql) => {
        const rows = await sql.run('SELECT 1 AS one');
        proxy.isSilent = isSilent;
        return rows;
      });
    expect(await read(true)).toEqual([{ one: 1 }]);
    // The end of the transaction.
    await expect.poll(() => proxy.swallowed).toBeGreaterThan(0);
    proxy.isSilent = false;
    expect(await read(false)).toEqual([{ one: 1 }]);
    proxy.close();
  });

  test('a service and a reader of a replica need the privileges of the guide, and no more', async () => {
    const guide = readFileSync(new URL('../../docs/how-to/postgresql.md', import.meta.url), 'utf8');
    const [, statements = ''] = /<<'END'\n(CREATE ROLE[^`]*)END\n```/.exec(guide) ?? [];
    const [, grants = ''] = /<<'END'\n(DO [^`]*)END\n```/.exec(guide) ?? [];
    const own = await server.createDatabase();
    const name = new URL(own).pathname.slice(1);
    await server.run(statements.replaceAll(/\bDATABASE cosift\b/g, `DATABASE ${name}`), name);
    const as = (user: string) => connect(own.replace('cosift@', `${user}@`), 4);
    const service = new PostgresStore(as('cosift_service'), LIMITS, { replica: as('cosift_reader') });
    await service.load();
    await service.createDatabase('before', { model: null, fingerprint: null, dimensions: 2 });
    await server.run(grants, name);
    await service.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    const readable = `SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class
      WHERE relnamespace = 'cosift'::regnamespace AND relkind = 'r'
      AND has_table_privilege('cosift_reader', oid, 'SELECT')`;
    expect(await server.run(readable, name)).toBe(
      'changes_2 columns databases passages_1_1 passages_2_1 records_1_1 records_2_1 schema_version',
    );
    const body = Buffer.from(JSON.stringify({ records: [{ id: 1, data: {}, vector: [1, 0] }] }));
    await service.commit('db', await service.prepareBatch('db', body), { vectors: new Float32Array() });
    const reader = new PostgresStore(as('cosift_reader'), LIMITS);
    const ask = { form: 'integer', limit: 1, threshold: 0, embedded_by: null } as const;
    for (const store of [service, reader]) {
      const { results } = JSON.parse(
        Buffer.from((await searchStore(store, 'db', ask, Float64Array.of(1, 0))).body).toString(),
      );
      expect(results).toMatchObject([{ id: 1 }]);
    }
    await expect(reader.deleteRecords('db', { ids: [1] })).rejects.toMatchObject({
      code: 'store_failed',
      detail: expect.stringContaining('lacks a privilege in the database: docs/how-to/postgresql.md'),
    });
    await service.close();
    await reader.close();
  });

  test('an export whose connection is lost ends with an error, and repeats no record', async () => {
    const store = new PostgresStore(connect(await server.createDatabase(), 4), LIMITS);
    await store.load();
    await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
    const records = Array.from({ length: 5_000 }, (_, at) => ({ id: at + 1, data: {}, vector: [1, at] }));
    for (let at = 0; at < records.length; at += 1_000) {
      const body = Buffer.from(JSON.stringify({ records: records.slice(at, at + 1_000) }));
      await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
    }
    const ids: number[] = [];
    const read = async () => {
      for await (const chunk of store.exportLines('db', { vectors: false })) {
        const lines = Buffer.from(chunk).toString('utf8').trimEnd().split('\n');
        ids.push(...lines.map((line) => JSON.parse(line).id));
        // Those of the pool, in each database of the server.
        if (ids.length === lines.length) {
          await administrator.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cosift'",
          );
        }
      }
    };
    await expect(read()).rejects.toMatchObject({ code: 'store_failed' });
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => at + 1));
    await store.close();
  });
});

/** Messages of the protocol: the server waits for a statement; the server ends the connection. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
const TERMINATED = messageOf('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');

function messageOf(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}
