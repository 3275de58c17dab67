import { afterAll, beforeAll, expect, test } from 'vitest';
import { outputOf } from './logged.js';
import { Raw, request } from './raw.js';
import { fan, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(3) });
});
afterAll(() => service.stop());

/** Status, `allow` and the detail of a problem of the response to a request whose target is sent as it is. */
async function send(method: string, target: string) {
  const raw = new Raw(service);
  raw.socket.write(request(service.adminKey, method, target, undefined, { connection: 'close' }));
  await raw.closed;
  const [head = '', body = ''] = raw.received.split('\r\n\r\n');
  return {
    status: Number(head.split(' ')[1]),
    allow: /^allow: (.*)$/m.exec(head)?.[1],
    detail: /^content-type: application\/problem\+json/m.test(head) ? JSON.parse(body).detail : undefined,
  };
}

const RECORD = '/v1/databases/fan/records/1';
const SEARCH = '/v1/databases/fan/records/search';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];

test.each([
  ['escapes in a fixed segment', RECORD, '/v1/d%61tabases/fan/records/1'],
  ['escapes in a parameter', RECORD, '/v1/databases/f%61n/records/%31'],
  ['escapes in the name of an operation', SEARCH, '/v1/databases/fan/records/%73earch'],
  ['the absolute form, which proxies send', RECORD, `http://x${RECORD}`],
  ['the absolute form of an operation', SEARCH, `http://x${SEARCH}`],
])('%s', async (_, plain, spelt) => {
  for (const method of ['OPTIONS', 'TRACE', 'PUT']) {
    expect(await send(method, spelt), method).toEqual(await send(method, plain));
  }
  expect((await send('GET', spelt)).status).toBe((await send('GET', plain)).status);
});

test.each([
  '/v1/databases/',
  '/v1/databases/fan/records/',
  '/v1/databases//records',
  '/v1/databases/fan/',
  '//v1/databases',
  '/v1/databases/fan%2Frecords%2F1',
  '/v1/databases/fan/records%2F1',
  '/v1/databases/fan/records/%0A',
  '/v1/keys/',
  '/livez/',
  '/livez#fragment',
  '/',
])('what OPTIONS tells about %s holds for every method', async (target) => {
  const { status, allow } = await send('OPTIONS', target);
  for (const method of METHODS) {
    const answer = await send(method, target);
    if (status === 404) expect([answer.status, answer.allow], method).toEqual([404, undefined]);
    else if (allow?.split(', ').includes(method)) expect(answer.status, method).not.toBe(405);
    else expect([answer.status, answer.allow], method).toEqual([405, allow]);
  }
});

test('a long id is refused in one sentence, which does not repeat it', async () => {
  const target = `/v1/databases/${'a'.repeat(3_000)}`;
  expect(await send('GET', target)).toEqual({
    status: 400,
    allow: undefined,
    detail: 'an id in the path is longer than 2048 characters',
  });
});

test('a request without a host is refused with the reason, an unknown expectation is ignored', async () => {
  const raw = new Raw(service);
  raw.socket.write('GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n');
  await raw.until(/^HTTP\/1\.1 400 [\s\S]*"the header host is missing"/);
  expect(raw.received).toMatch(/^x-request-id: /m);
  const old = new Raw(service);
  old.socket.write('GET /livez HTTP/1.0\r\n\r\n');
  await old.until('HTTP/1.1 200 ');
  const expecting = new Raw(service);
  expecting.socket.write('GET /livez HTTP/1.1\r\nhost: x\r\nexpect: something\r\nconnection: close\r\n\r\n');
  await expecting.until(/^HTTP\/1\.1 200 [\s\S]*"status":"ok"/);
});

test('requests whose path no route can take are logged, too', async () => {
  const output = await outputOf(['--data', `${service.directory}/logged`], {}, [
    ['/v1/databases/%zz', {}],
    [`/v1/databases/${'a'.repeat(3_000)}`, {}],
  ]);
  const lines = output.split('\n').filter((line) => line.includes('"answered"'));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ method: 'GET', path: '/v1/databases/%zz', operation: 'unknown', status: 400 }),
    expect.objectContaining({ method: 'GET', operation: 'unknown', status: 400 }),
  ]);
});
