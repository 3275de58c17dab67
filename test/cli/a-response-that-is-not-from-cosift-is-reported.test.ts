import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { describe } from '../../src/cli/failure.js';
import { openKeys } from '../../src/cli/keys.js';
import { openTarget } from '../../src/cli/target.js';
import { linesOf } from '../../src/client/line-stream.js';
import { textOf } from '../../src/client/read-response.js';
import { CosiftError } from '../../src/errors.js';

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** What each kind of call reports against a server that answers so. */
const failures = async (status: number, body: string, headers: Record<string, string> = {}) => {
  const url = await listen((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, headers);
      response.end(body);
    });
  });
  const options = { data: '.', url, key: 'k' };
  const database = (await openTarget(options)).database('d');
  const keys = await openKeys(options);
  async function* chunks() {
    yield Buffer.from('{"data":{}}\n');
  }
  const importing = async () => {
    for await (const _ of database.upsertLines(chunks()));
  };
  const thrown = [];
  for (const call of [
    () => database.search('x'),
    () => keys.list(),
    () => database.reembed('m', { cancelOnAbort: false }),
    importing,
  ]) {
    thrown.push(await call().catch((error: unknown) => error));
  }
  for (const error of thrown) expect(error).toBeInstanceOf(CosiftError);
  return thrown.map(describe);
};

test.each([
  'null',
  '5',
  '{}',
  '{"results":5,"keys":5,"type":"summary"}',
  '{"results":[null],"keys":[null],"pagination":null}',
  '{"results":[{"id":1,"relevance_score":1,"data":null}],"keys":[{}],"pagination":{"has_more":false}}',
  '{"type":"problem"}',
  '{"type":"constructor"}',
])('success with %s', async (body) => {
  for (const text of await failures(200, body)) expect(text).toMatch(/is not a cosift response$/);
});

test.each(['x', '[[['])('success with %s, which is not JSON', async (body) => {
  for (const text of await failures(200, body)) expect(text).toMatch(/is not (a cosift response|JSON)$/);
});

test.each([
  [400, 'null'],
  [400, '{"code":"invalid_request","detail":5,"errors":7}'],
  [400, '{"code":"invalid_request","detail":"x","errors":[null]}'],
  [400, '{"code":"constructor","detail":"x"}'],
  [599, '{}'],
  [700, '{}'],
])('failure %i with %s', async (status, body) => {
  for (const text of await failures(status, body))
    expect(text).toBe(`the server answered ${status}, which is not a cosift response`);
});

test('a redirect tells where to, for every call', async () => {
  for (const text of await failures(302, '', { location: 'http://other.example/' }))
    expect(text).toContain('redirects to http://other.example/, which is not followed');
});

test('a response without a body where one is needed', async () => {
  for (const text of await failures(204, '')) expect(text).toMatch(/not JSON$|not a cosift response$/);
});

test('a server that switches protocols gives no response', async () => {
  const url = await listen((request) => {
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
  });
  async function* chunks() {
    yield Buffer.from('{"data":{}}\n');
  }
  const target = await openTarget({ data: '.', url, key: 'k' });
  const events = target.database('d').upsertLines(chunks())[Symbol.asyncIterator]();
  await expect(events.next()).rejects.toMatchObject({ code: 'unreachable' });
});

test('endless responses and lines are not kept', async () => {
  let given = 0;
  async function* endless() {
    for (;;) {
      given += 1;
      yield Buffer.alloc(1_000, 'x');
    }
  }
  await expect(textOf(endless(), 10_000)).rejects.toThrow('more than 10000 bytes');
  await expect(linesOf(endless(), 10_000).next()).rejects.toThrow('more than 10000 bytes');
  expect(given).toBeLessThan(24);
  async function* lines() {
    for (const text of ['a', 'b\nc\n', '\nlast é'.normalize()]) yield Buffer.from(text);
  }
  const all = [];
  for await (const line of linesOf(lines(), 10)) all.push(line);
  expect(all).toEqual(['ab', 'c', '', 'last é']);
});
