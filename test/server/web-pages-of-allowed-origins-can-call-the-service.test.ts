import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Exchange, exchange } from './exchange.js';
import { Raw, request } from './raw.js';
import { fan, JSON_TYPE, Service } from './service.js';

const PAGE = 'https://app.example.com';
const SEARCH = '/v1/databases/fan/search';

let service: Service;
let open: Service;
let closed: Service;

beforeAll(async () => {
  service = await Service.start({ corsOrigins: `${PAGE},http://localhost:5173`, rateLimit: '20' });
  open = await Service.start({ corsOrigins: '*' });
  closed = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(3) });
});
afterAll(() => Promise.all([service, open, closed].map((each) => each.stop())));

const preflight = (to: Service, target: string, origin = PAGE): Promise<Exchange> =>
  exchange(to, 'OPTIONS', target, {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,x-api-key',
  });

const listed = (header: string | undefined) => (header ?? '').toLowerCase().split(/\s*,\s*/);

describe('a preflight', () => {
  test('needs no key, and allows the methods and headers of a client', async () => {
    const { status, headers, bytes } = await preflight(service, SEARCH);
    expect([status, bytes.length]).toEqual([204, 0]);
    expect(headers['access-control-allow-origin']).toBe(PAGE);
    expect(listed(headers['access-control-allow-methods'])).toEqual(
      expect.arrayContaining(['get', 'put', 'post', 'delete']),
    );
    expect(listed(headers['access-control-allow-headers'])).toEqual(
      expect.arrayContaining(['x-api-key', 'authorization', 'content-type', 'x-request-id', 'if-none-match']),
    );
    expect(Number(headers['access-control-max-age'])).toBeGreaterThan(0);
    expect(listed(headers.vary)).toContain('origin');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    expect(headers.allow).toBe('POST, OPTIONS');
  });

  test('allows the headers that tools for traces and libraries add', async () => {
    const { headers } = await preflight(service, SEARCH);
    expect(listed(headers['access-control-allow-headers'])).toEqual(
      expect.arrayContaining(['baggage', 'sentry-trace', 'traceparent', 'tracestate', 'x-requested-with']),
    );
  });

  test.each(['/v1/nothing', '/v1/databases/%zz', `/v1/databases/${'a'.repeat(2_000)}`])(
    'is allowed for every path, so that the page can read the error of its request',
    async (target) => {
      const { status, headers } = await preflight(service, target);
      expect([status, headers['access-control-allow-origin']]).toEqual([204, PAGE]);
      expect(listed(headers['access-control-allow-methods'])).toContain('post');
    },
  );

  test('is told apart from another OPTIONS request', async () => {
    const { status, headers } = await exchange(service, 'OPTIONS', '/v1/nothing', { origin: PAGE });
    expect([status, headers['access-control-allow-origin']]).toEqual([404, PAGE]);
    expect(headers).not.toHaveProperty('access-control-allow-methods');
  });

  test('of another origin is not allowed, but varies by origin', async () => {
    const { headers } = await preflight(service, SEARCH, 'https://evil.example.com');
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(listed(headers.vary)).toContain('origin');
  });
});

describe('a page can read', () => {
  const call = (method: string, target: string, headers: Record<string, string>, body?: string) =>
    exchange(service, method, target, { origin: PAGE, ...headers }, body);
  const key = () => ({ 'x-api-key': service.adminKey });

  test('a response and its headers', async () => {
    const body = '{"search":{"vector":[1,0]}}';
    const { status, headers } = await call('POST', SEARCH, { ...key(), ...JSON_TYPE }, body);
    expect([status, headers['access-control-allow-origin']]).toEqual([200, PAGE]);
    const exposed = listed(headers['access-control-expose-headers']);
    for (const name of [
      'x-request-id',
      'server-timing',
      'ratelimit',
      'ratelimit-policy',
      'retry-after',
      'etag',
    ]) {
      expect(exposed).toContain(name);
    }
    for (const name of ['x-request-id', 'server-timing', 'ratelimit']) expect(headers).toHaveProperty(name);
  });

  test.each([
    ['without a key', 401, 'GET', '/v1/databases', {}, undefined],
    ['with a body that is not JSON', 400, 'POST', SEARCH, JSON_TYPE, '{'],
    ['with a body that is too large', 413, 'POST', SEARCH, JSON_TYPE, ' '.repeat(1_100_000)],
    ['of another media type', 415, 'POST', SEARCH, { 'content-type': 'text/xml' }, '<x/>'],
    ['to an unknown path', 404, 'GET', '/v1/nothing', {}, undefined],
    ['to a path that cannot be decoded', 400, 'GET', '/v1/databases/%zz', {}, undefined],
    ['to a path with an endless id', 400, 'GET', `/v1/databases/${'a'.repeat(2_000)}`, {}, undefined],
    ['with a wrong method', 405, 'DELETE', SEARCH, {}, undefined],
  ] as const)('the error of a request %s', async (_, status, method, target, headers, body) => {
    const sent = status === 401 ? headers : { ...headers, ...key() };
    const response = await call(method, target, sent, body);
    expect([response.status, response.headers['access-control-allow-origin']]).toEqual([status, PAGE]);
    expect(JSON.parse(response.bytes.toString())).toMatchObject({ status });
  });

  test('that its key has reached the rate limit', async () => {
    const { body } = await service.call('POST', '/v1/keys', {
      name: 'page',
      actions: ['search'],
      databases: '*',
    });
    let last: Exchange | undefined;
    while (last?.status !== 429) last = await call('GET', '/v1/keys', { 'x-api-key': body.key });
    expect(last.headers).toMatchObject({
      'access-control-allow-origin': PAGE,
      'retry-after': expect.any(String),
    });
  });

  test('that its connection has too many requests', async () => {
    const raw = new Raw(service);
    raw.socket.write(request('', 'GET', '/livez', undefined, { origin: PAGE }).repeat(200));
    await raw.until(/HTTP\/1\.1 503 [^{]*access-control-allow-origin: https:\/\/app\.example\.com/i);
    raw.socket.destroy();
  });
});

test('every origin may be allowed', async () => {
  const { headers } = await exchange(open, 'GET', '/livez', { origin: 'https://anything.example' });
  expect(headers['access-control-allow-origin']).toBe('*');
  expect((await preflight(open, SEARCH)).headers['access-control-allow-origin']).toBe('*');
});

test('without the setting, no page of another origin is allowed', async () => {
  for (const { headers } of [
    await preflight(closed, SEARCH),
    await exchange(closed, 'GET', '/livez', { origin: PAGE }),
  ]) {
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(listed(headers.vary)).not.toContain('origin');
  }
});
