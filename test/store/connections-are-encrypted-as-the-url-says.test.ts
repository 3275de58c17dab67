import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import type { CosiftError } from '../../src/errors.js';
import { NodePostgres } from '../../src/store/postgres/index.js';
import { TlsProxy } from '../helpers/postgres/tls-proxy.js';
import { selfSignedCertificate } from '../helpers/self-signed-certificate.js';

describe.skipIf(NO_SERVER !== undefined)(`a server with TLS${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  const certificate = selfSignedCertificate('localhost');
  let server: PostgresServer;
  let url: URL;
  let directory: string;
  let proxy: TlsProxy;
  const opened: NodePostgres[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'cosift-tls-'));
    writeFileSync(fileOf('right'), certificate.cert);
    writeFileSync(fileOf('wrong'), selfSignedCertificate('localhost').cert);
    server = await PostgresServer.start();
    url = new URL(await server.createDatabase());
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(directory, { recursive: true });
  });
  beforeEach(async () => {
    proxy = await TlsProxy.listen(Number(url.port), certificate);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((database) => database.close()));
    proxy.close();
  });

  const fileOf = (name: string) => path.join(directory, `${name}.pem`);
  /** Connects to the proxy; `file` names the certificate of the authority. */
  const connect = (mode: string | undefined, file?: string, host = 'localhost') => {
    const target = new URL(url);
    target.host = `${host}:${proxy.port}`;
    if (mode !== undefined) target.searchParams.set('sslmode', mode);
    if (file !== undefined) target.searchParams.set('sslrootcert', fileOf(file));
    const database = new NodePostgres({ url: target.href, maxConnections: 2 });
    opened.push(database);
    return database;
  };
  const ask = (database: NodePostgres) => database.read((sql) => sql.run('SELECT 1 AS one'));

  test.each([
    ['require', 'right'],
    ['verify-ca', 'right'],
    ['verify-full', 'right'],
    ['no-verify', undefined],
  ])('sslmode=%s with the %s certificate of the authority encrypts', async (mode, file) => {
    expect(await ask(connect(mode, file))).toEqual([{ one: 1 }]);
    expect(proxy.counts).toEqual({ encrypted: 1, plain: 0 });
  });

  test.each([
    ['require', undefined, 'localhost', 'self-signed certificate'],
    ['require', 'wrong', 'localhost', 'self-signed certificate'],
    ['verify-full', undefined, 'localhost', 'self-signed certificate'],
    ['verify-full', 'wrong', 'localhost', 'self-signed certificate'],
    ['verify-full', 'right', '127.0.0.1', "does not match certificate's altnames"],
    ['require', 'right', '127.0.0.1', "does not match certificate's altnames"],
  ])('sslmode=%s with the %s certificate and the host %s is refused', async (mode, file, host, text) => {
    const error = (await ask(connect(mode, file, host)).catch((error) => error)) as CosiftError;
    expect(error).toMatchObject({
      code: 'store_failed',
      detail: expect.stringContaining('the certificate of the database server is not accepted'),
    });
    expect((error.cause as CosiftError).detail).toContain(text);
    // It does not change by itself, so that it was tried once.
    expect(proxy.counts).toEqual({ encrypted: 1, plain: 0 });
  });

  test.each([['disable'], [undefined]])('sslmode=%s does not encrypt', async (mode) => {
    expect(await ask(connect(mode))).toEqual([{ one: 1 }]);
    expect(proxy.counts).toEqual({ encrypted: 0, plain: 1 });
  });

  test('nothing is sent to a server that has no TLS, unless the URL allows that', async () => {
    proxy.refusesTls = true;
    for (const mode of ['require', 'no-verify']) {
      const error = (await ask(connect(mode)).catch((error) => error)) as CosiftError;
      expect(error).toMatchObject({ code: 'store_failed' });
      expect((error.cause as CosiftError).detail).toBe('The server does not support SSL connections');
    }
    expect(proxy.counts).toEqual({ encrypted: 0, plain: 0 });
    expect(await ask(connect('disable'))).toEqual([{ one: 1 }]);
  });

  test('messages and cancellations are encrypted, too', async () => {
    const database = connect('verify-full', 'right');
    const messages: (string | undefined)[] = [];
    database.listen('topic', (message) => messages.push(message));
    // It tells once that it listens.
    await expect.poll(() => messages).toEqual([undefined]);
    await server.run("SELECT pg_notify('topic', 'hello')", 'test_1');
    await expect.poll(() => messages).toEqual([undefined, 'hello']);
    const sleeping = () =>
      server.run(
        "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'",
      );
    const stop = new AbortController();
    const asleep = database.read((sql) => sql.run('SELECT pg_sleep(600)'), stop.signal);
    const ended = expect(asleep).rejects.toThrow('the caller left');
    await expect.poll(sleeping).toBe('1');
    stop.abort(new Error('the caller left'));
    await ended;
    await expect.poll(sleeping).toBe('0');
    // One that listens, one for the statement, and one that cancelled it.
    expect(proxy.counts).toEqual({ encrypted: 3, plain: 0 });
  });
});
