import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/server/variants/variants.js';
import { exchange } from './exchange.js';
import { fan, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(3) });
});
afterAll(() => service.stop());

const FAN = '/v1/databases/fan';
const send = (method: string, target: string, headers: Record<string, string> = {}) =>
  exchange(service, method, target, { 'x-api-key': service.adminKey, ...headers });

describe.each([FAN, '/openapi.json', '/docs', '/'])('%s', (target) => {
  test('is sent only to clients that do not have it', async () => {
    const { headers, bytes } = await send('GET', target);
    const etag = String(headers.etag);
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    expect(bytes.length).toBeGreaterThan(0);
    const strong = etag.slice(2);
    for (const given of [etag, strong, `"other", ${etag}`, `W/"other",${strong}`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const again = await send(method, target, { 'if-none-match': given });
        expect([again.status, again.bytes.length], given).toEqual([304, 0]);
        expect([again.headers.etag, again.headers.vary]).toEqual([etag, headers.vary]);
        // Another length than that of the stored response would make a cache discard it.
        expect(again.headers, method).not.toHaveProperty('content-length');
      }
    }
    for (const given of ['"other"', 'W/"other"', 'nonsense', strong.slice(0, -2)]) {
      expect((await send('GET', target, { 'if-none-match': given })).status, given).toBe(200);
    }
  });
});

test('the tag of a description changes exactly when the description does', async () => {
  const read = async () => {
    const { headers, bytes } = await send('GET', FAN);
    return { etag: headers.etag, text: bytes.toString() };
  };
  const seen: { etag: string | undefined; text: string }[] = [await read()];
  for (let id = 10; id < 14; id += 1) {
    const records = [{ id, data: { [`column ${id}`]: id }, vector: [1, id] }];
    await service.call('POST', `${FAN}/records`, { records });
    seen.push(await read(), await read());
  }
  expect(new Set(seen.map(({ text }) => text)).size).toBeGreaterThanOrEqual(5);
  for (const one of seen) {
    for (const other of seen) expect(one.etag === other.etag).toBe(one.text === other.text);
  }
});

test('a tag reveals nothing without a key', async () => {
  const { headers } = await send('GET', FAN);
  const answer = await exchange(service, 'GET', FAN, { 'if-none-match': String(headers.etag) });
  expect(answer.status).toBe(401);
  expect(answer.headers).not.toHaveProperty('etag');
});

const GETS = Object.values(OPERATIONS).filter(({ method }) => method === 'GET');

/** A path of the template that exists, as far as one can. */
const fill = (path: string) =>
  path
    .replace('{id}', 'fan')
    .replace('{rid}', '1')
    .replace('{key_id}', 'a'.repeat(12))
    .replace('{webhook_id}', 'a'.repeat(12));

test.each(GETS.map(({ path }) => path))('HEAD %s has the head of GET and no body', async (path) => {
  const [head, get] = [await send('HEAD', fill(path)), await send('GET', fill(path))];
  expect([head.status, head.bytes.length]).toEqual([get.status, 0]);
  expect(head.headers['content-type']).toBe(get.headers['content-type']);
  // Metrics count the requests between the two, and a backup is not made for its length alone.
  if (!['/metrics', '/v1/backup'].includes(path))
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
});

const PATHS = [...new Set(Object.values(OPERATIONS).map(({ path }) => path))];

test.each(PATHS)('OPTIONS %s tells its methods without a key, a wrong method is 405', async (path) => {
  const methods = Object.values(OPERATIONS)
    .filter((operation) => operation.path === path)
    .flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allow = [...methods, 'OPTIONS'].join(', ');
  const options = await exchange(service, 'OPTIONS', fill(path));
  expect([options.status, options.headers.allow, options.bytes.length]).toEqual([204, allow, 0]);
  const wrong = await exchange(service, 'TRACE', fill(path));
  expect([wrong.status, wrong.headers.allow]).toEqual([405, allow]);
  expect(wrong.headers['content-type']).toContain('application/problem+json');
});

test('the name of an operation on records is no id of a record', async () => {
  for (const name of ['search', 'query', 'map', 'delete']) {
    const { status, headers } = await exchange(service, 'GET', `/v1/databases/fan/records/${name}`);
    expect([status, headers.allow], name).toEqual([405, 'POST, OPTIONS']);
  }
});

test('OPTIONS of a path that does not exist is 404', async () => {
  for (const path of ['/v1/nothing', '/page', '/v1/databases/fan/records/1/more']) {
    expect((await exchange(service, 'OPTIONS', path)).status, path).toBe(404);
  }
});
