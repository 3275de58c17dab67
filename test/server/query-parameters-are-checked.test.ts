import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/server/variants/variants.js';
import { Raw, request } from './raw.js';
import { fan, JSON_TYPE, LINES_TYPE, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(3) });
});
afterAll(() => service.stop());

const fill = (path: string) =>
  path
    .replace('{id}', 'fan')
    .replace('{rid}', '1')
    .replaceAll(/\{\w+\}/g, 'a');

test.each(Object.entries(OPERATIONS))(
  '%s refuses a query parameter that it does not have',
  async (_, operation) => {
    const { status, body } = await service.call(operation.method, `${fill(operation.path)}?x=1`);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.detail).toMatch(
      /^the query parameter "x" is not known; (this operation has none|known: \w+)/,
    );
  },
);

test.each([
  ['/v1/databases/fan/changes?limit=1&limit=2', 'the query parameter "limit" is given more than once'],
  ['/v1/databases/fan/changes?limit=1&limit=1', 'the query parameter "limit" is given more than once'],
  ['/v1/databases/fan/changes?limt=1', 'the query parameter "limt" is not known; did you mean "limit"?'],
  [
    '/v1/databases/fan/changes?__proto__=1',
    'the query parameter "__proto__" is not known; known: after, limit, wait, epoch',
  ],
  ['/v1/databases/fan/export?filter=%zz', 'the query has a "%" that does not begin a character of UTF-8'],
  ['/v1/databases/fan/changes?limit=1%', 'the query has a "%" that does not begin a character of UTF-8'],
  ['/v1/databases/fan/changes?limit=%c3%28', 'the query has a "%" that does not begin a character of UTF-8'],
  ['/v1/databases/fan/changes?limit', 'the query parameter "limit" must be a whole number from 1 to 1000'],
  [
    '/v1/databases/fan/changes?epoch=1',
    'the query parameter "epoch" must be one that a response of this feed contained',
  ],
])('GET %s', async (target, detail) => {
  const { status, body } = await service.call('GET', target);
  expect([status, body.detail]).toEqual([400, detail]);
});

const WITHOUT_BODY = Object.entries(OPERATIONS).filter(
  ([, operation]) => operation.method === 'DELETE' && !('body' in operation),
);

// Otherwise a filter in the body of a deletion would be ignored, and the whole database dropped.
test.each(WITHOUT_BODY)('%s refuses a body, which it does not have', async (_, { method, path }) => {
  for (const type of [
    'application/json',
    'application/x-ndjson',
    'application/merge-patch+json',
    'text/plain',
  ]) {
    const { status, body } = await service.call(method, fill(path), '{"filter":{}}', {
      'content-type': type,
    });
    expect([status, body.code, body.detail], type).toEqual([
      400,
      'invalid_request',
      'this operation takes no body',
    ]);
    expect((await service.call('GET', '/v1/databases/fan')).body.records).toBe(3);
  }
});

test('an operation without a body takes an empty one of any type', async () => {
  for (const type of ['application/json', 'text/plain']) {
    const deleted = await service.call('DELETE', '/v1/databases/fan/records/9', '', { 'content-type': type });
    expect([deleted.status, deleted.body.code], type).toEqual([404, 'record_not_found']);
  }
});

test('a request without a valid key learns only that', async () => {
  expect((await service.call('GET', '/v1/databases?x=1', undefined, { 'x-api-key': 'x' })).status).toBe(401);
});

test.each(['application/json', 'application/x-ndjson'])('a coded body of %s is refused', async (type) => {
  const target = '/v1/databases/fan/records';
  const encoded = await service.call('POST', target, '{}', {
    ...(type === 'application/json' ? JSON_TYPE : LINES_TYPE),
    'content-encoding': 'gzip',
  });
  expect([encoded.status, encoded.body.code]).toEqual([415, 'unsupported_media_type']);
  expect(encoded.body.detail).toContain('content-encoding is "gzip"');
  const raw = new Raw(service);
  const headers = { 'content-type': type, 'transfer-encoding': 'gzip, chunked' };
  raw.socket.write(request(service.adminKey, 'POST', target, undefined, headers));
  raw.chunk('{}');
  raw.socket.write('0\r\n\r\n');
  await raw.until(
    /^HTTP\/1\.1 415 [\s\S]*transfer-encoding is \\"gzip, chunked\\"; only \\"chunked\\" is supported/,
  );
  raw.socket.destroy();
});
