import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Client, CosiftError } from '../../src/client/index.js';

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const listen = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.closeAllConnections());
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
};
const failure = async (url: string, retries = 0): Promise<CosiftError> => {
  const thrown = await new Client({ url, key: 'k', retries }).databases().catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(CosiftError);
  return thrown as CosiftError;
};

test('nothing listens', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const error = await failure(`http://127.0.0.1:${port}`);
  expect(error).toMatchObject({
    code: 'unreachable',
    fields: { host: '127.0.0.1', port, reason: 'ECONNREFUSED' },
    detail: expect.stringMatching(new RegExp(`127\\.0\\.0\\.1:${port}.*cosift serve.*ECONNREFUSED`)),
  });
  expect((error.cause as Error).message).toBe('fetch failed');
});

test('an abort ends a re-embedding whose beginning has no response', async () => {
  let begin!: () => void;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const port = await listen((request, response) => {
    if (request.method !== 'GET') return begin();
    response.writeHead(404, { 'content-type': 'application/problem+json' });
    response.end('{"code":"reembedding_not_found","detail":"none"}');
  });
  const client = new Client({ url: `http://127.0.0.1:${port}`, key: 'k', retries: 0 });
  const stop = new AbortController();
  const reason = new Error('no more');
  const call = client.database('d').reembed('m', { signal: stop.signal });
  await begun;
  stop.abort(reason);
  await expect(call).rejects.toBe(reason);
});

test('a service without TLS', async () => {
  const port = await listen((_, response) => response.end());
  expect((await failure(`https://127.0.0.1:${port}`)).detail).toMatch(/it does not speak TLS; check/);
});

test('a host that does not exist', async () => {
  const { code, fields } = await failure('https://no-such-host.invalid');
  expect(code).toBe('unreachable');
  expect(fields).toMatchObject({ host: 'no-such-host.invalid', port: 443 });
  expect(fields.reason).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/);
});

test('a connection that closes without a response, or in the middle of one', async () => {
  const silent = await listen((request) => request.socket.destroy());
  let tries = 0;
  const broken = await listen((_, response) => {
    tries += 1;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 99 });
    response.write('{"databases"', () => response.destroy());
  });
  for (const port of [silent, broken]) {
    const { code, fields } = await failure(`http://127.0.0.1:${port}`, 1);
    expect([code, fields.port]).toEqual(['unreachable', port]);
    expect(fields.reason).toMatch(/^(ECONNRESET|UND_ERR_SOCKET)$/);
  }
  expect(tries).toBe(2);
});

test('what is no service, and an address that is none', async () => {
  const port = await listen((_, response) => response.end('<html>'));
  expect((await failure(`http://127.0.0.1:${port}`)).detail).toMatch(/is not JSON/);
  expect(() => new Client({ url: 'localhost:8080', key: 'k' })).toThrow(
    /localhost:8080.*must be a URL of http or https/,
  );
});

test('a request that cannot be sent is refused at once, and no service is blamed', async () => {
  let asked = 0;
  const port = await listen((_, response) => {
    asked += 1;
    response.end('{}');
  });
  const url = `http://127.0.0.1:${port}`;
  const database = new Client({ url, key: 'k' }).database('facts');
  const circular: Record<string, unknown> = {};
  circular.rules = circular;
  for (const [value, detail] of [
    [10n, 'filter.rules.0.value: is a bigint, which JSON cannot represent'],
    [circular, 'filter.rules.0.value.rules: contains itself'],
  ] as const) {
    const rule = { column: 'a', operator: 'equals', value } as never;
    const thrown = await database.query({ filter: { rules: [rule] } }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'invalid_filter', detail });
  }
  expect(asked).toBe(0);
  for (const key of ['', 'secret key', 'secret\n', 'secret–key']) {
    const make = () => new Client({ url, key });
    expect(make).toThrow(/^key: must be a text of printable ASCII/);
  }
  for (const bad of ['http://a:b@127.0.0.1', `${url}/?a=b`, `${url}/#a`, 'ftp://127.0.0.1']) {
    expect(() => new Client({ url: bad, key: 'k' })).toThrow(/^url: .*must be a URL of http or https/);
  }
});

test('what identifies a record stays one part of the path', async () => {
  const asked: unknown[] = [];
  const port = await listen((request, response) => {
    asked.push(request.url);
    response.end('{"data":{}}');
  });
  const facts = new Client({ url: `http://127.0.0.1:${port}`, key: 'k' }).database('facts');
  await expect(facts.get('../../../keys')).rejects.toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining('id: is "../../../keys", must be a record id'),
  });
  expect(asked).toEqual([]);
  await facts.deleteWebhook('../../../keys');
  expect(asked).toEqual(['/v1/databases/facts/webhooks/..%2F..%2F..%2Fkeys']);
});

test('a redirect is not followed: the key goes to nobody else', async () => {
  let asked = 0;
  const other = await listen((_, response) => {
    asked += 1;
    response.end('{}');
  });
  const port = await listen((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${other}/` }).end(),
  );
  const { detail } = await failure(`http://127.0.0.1:${port}`);
  expect(detail).toContain(`redirects to http://127.0.0.1:${other}/`);
  expect(asked).toBe(0);
});

test('the reason of a caller who stops is passed on as it is', async () => {
  const port = await listen(() => undefined);
  const client = new Client({ url: `http://127.0.0.1:${port}`, key: 'k' });
  const controller = new AbortController();
  const call = client.databases({ signal: controller.signal });
  controller.abort(new Error('no more'));
  await expect(call).rejects.toThrow('no more');
});
