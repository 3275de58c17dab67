import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchange } from './exchange.js';
import { outputOf } from './logged.js';
import { JSON_TYPE, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const list = async (headers: Record<string, string | string[]>) => {
  const { status, headers: received, bytes } = await exchange(service, 'GET', '/v1/databases', headers);
  return { status, challenge: received['www-authenticate'], body: JSON.parse(bytes.toString()) };
};

test.each(['Bearer', 'bearer', 'BEARER'])('after the scheme %s', async (scheme) => {
  expect((await list({ authorization: `${scheme} ${service.adminKey}` })).status).toBe(200);
});

test('together with the same key in x-api-key, and next to the password of a proxy', async () => {
  const key = { 'x-api-key': service.adminKey };
  expect((await list({ ...key, authorization: `Bearer ${service.adminKey}` })).status).toBe(200);
  expect((await list({ ...key, authorization: 'Basic dXNlcjpwYXNz' })).status).toBe(200);
});

test('for Prometheus', async () => {
  const authorization = `Bearer ${service.adminKey}`;
  const { status, bytes } = await exchange(service, 'GET', '/metrics', { authorization });
  expect([status, bytes.toString()]).toEqual([200, expect.stringContaining('cosift_in_flight')]);
});

test.each([
  ['no key', {}, 'send a key'],
  ['an unknown key', { authorization: 'Bearer nonsense' }, 'not valid'],
  ['a scheme without a key', { authorization: 'Bearer' }, '"Bearer", a space and a key'],
  ['two words', { authorization: 'Bearer one two' }, '"Bearer", a space and a key'],
  ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, '"Bearer", a space and a key'],
  ['a tab after the scheme', { authorization: 'Bearer\tKEY' }, '"Bearer", a space and a key'],
  [
    'a tab next to a key',
    { authorization: 'Bearer\tother', 'x-api-key': 'KEY' },
    '"Bearer", a space and a key',
  ],
  ['no scheme', { authorization: 'KEY' }, '"Bearer", a space and a key'],
  [
    'a broken token next to a key',
    { authorization: 'Bearer', 'x-api-key': 'KEY' },
    '"Bearer", a space and a key',
  ],
  ['two different keys', { authorization: 'Bearer other', 'x-api-key': 'KEY' }, 'different keys'],
  [
    'two different keys, the other way round',
    { authorization: 'Bearer KEY', 'x-api-key': 'other' },
    'differ',
  ],
])('%s is refused with the reason', async (_, given, reason) => {
  const headers = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value.replace('KEY', service.adminKey)]),
  );
  const { status, challenge, body } = await list(headers);
  expect([status, body.code]).toEqual([401, 'unauthorized']);
  expect(body.detail).toContain(reason);
  expect(body.detail).not.toContain(service.adminKey);
  expect(challenge).toMatch(/^Bearer realm="cosift"/);
  expect(challenge).toContain('x-api-key');
});

// Node uses the first header `authorization`, and some proxies check the last one.
test.each(['authorization', 'x-api-key'])('%s may not be given twice', async (name) => {
  const value = (key: string) => (name === 'authorization' ? `Bearer ${key}` : key);
  for (const other of [service.adminKey, 'other']) {
    const { status, body } = await list({ [name]: [value(service.adminKey), value(other)] });
    expect([status, body.detail]).toEqual([401, `the header ${name} is given more than once`]);
  }
});

test('no log line contains a key, however it was sent', async () => {
  const key = 'a-key-that-nothing-may-log-0123456789';
  const bearer = { authorization: `Bearer ${key}` };
  const output = await outputOf(['--data', `${service.directory}/logged`], { COSIFT_ADMIN_KEY: key }, [
    ['/v1/databases', { headers: bearer }],
    ['/v1/databases', { headers: { 'x-api-key': key } }],
    ['/v1/databases', { headers: { ...bearer, 'x-api-key': 'other' } }],
    ['/v1/databases', { headers: { authorization: `Bearer ${key} ${key}` } }],
    ['/v1/databases/x/search', { method: 'POST', headers: { ...bearer, ...JSON_TYPE }, body: '{' }],
  ]);
  expect(output.match(/"answered"/g)).toHaveLength(5);
  expect(output).not.toContain(key);
});
