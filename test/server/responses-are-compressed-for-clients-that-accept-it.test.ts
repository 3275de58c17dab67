import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptedCodings } from '../../src/server/http/accept-encoding.js';
import { exchange } from './exchange.js';
import { Raw, streamHead, untilGauges } from './raw.js';
import { fan, JSON_TYPE, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(100) });
  const text = 'a text that repeats itself, '.repeat(10_000);
  const large = Array.from({ length: 5 }, (_, i) => ({ id: i + 1, data: { text }, vector: [1, i] }));
  await service.call('PUT', '/v1/databases/large', { dimensions: 2 });
  await service.call('POST', '/v1/databases/large/records', { records: large });
});
afterAll(() => service.stop());

const send = (method: string, target: string, accept: string | undefined, body?: object) =>
  exchange(
    service,
    method,
    target,
    {
      'x-api-key': service.adminKey,
      ...(accept !== undefined && { 'accept-encoding': accept }),
      ...(body && JSON_TYPE),
    },
    body && JSON.stringify(body),
  );

const DECODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  identity: (bytes) => bytes,
};

describe.each(['gzip', 'br'])('%s', (coding) => {
  test.each([
    ['of a small page', 'fan', 30],
    ['of a page beyond what is compressed at once', 'fan', 100],
    ['of a page beyond one chunk', 'large', 5],
  ])('%s is what is sent without it', async (_, database, limit) => {
    const target = `/v1/databases/${database}/query`;
    const plain = await send('POST', target, undefined, { pagination: { limit } });
    const { status, headers, bytes } = await send('POST', target, coding, { pagination: { limit } });
    expect([status, headers['content-encoding'], headers.vary]).toEqual([200, coding, 'accept-encoding']);
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(bytes.length).toBeLessThan(plain.bytes.length / 3);
    expect(DECODERS[coding]?.(bytes).equals(plain.bytes)).toBe(true);
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(plain.headers.vary).toBe('accept-encoding');
  });

  test('of a page with both ids', async () => {
    const { headers, bytes } = await exchange(
      service,
      'POST',
      '/v1/databases/fan/query',
      {
        'x-api-key': service.adminKey,
        'accept-encoding': coding,
        accept: 'application/vnd.cosift+json',
        ...JSON_TYPE,
      },
      '{}',
    );
    expect(headers['content-encoding']).toBe(coding);
    expect(JSON.parse(String(DECODERS[coding]?.(bytes))).results).toHaveLength(50);
  });

  test('of errors, metrics and the document', async () => {
    const rules = Array.from({ length: 30 }, () => ({ column: 'a', operator: 'none' }));
    for (const [method, target, body] of [
      ['POST', '/v1/databases/fan/query', { filter: { rules } }],
      ['GET', '/metrics', undefined],
      ['GET', '/openapi.json', undefined],
      ['GET', '/docs', undefined],
    ] as const) {
      const { headers, bytes } = await send(method, target, coding, body);
      expect(headers['content-encoding'], target).toBe(coding);
      expect(DECODERS[coding]?.(bytes).length).toBeGreaterThan(bytes.length);
    }
  });

  test('has the head of the same response for HEAD', async () => {
    const [head, get] = [
      await send('HEAD', '/openapi.json', coding),
      await send('GET', '/openapi.json', coding),
    ];
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of ['content-encoding', 'content-length', 'etag', 'vary', 'content-type']) {
      expect(head.headers[name], name).toBe(get.headers[name]);
    }
  });
});

test('a response below 1 kB stays as it is, unless the client refuses that', async () => {
  const small = await send('GET', '/v1/databases/fan/records/1', 'gzip, br');
  expect(small.headers).not.toHaveProperty('content-encoding');
  const refused = await send('GET', '/v1/databases/fan/records/1', 'gzip, identity;q=0');
  expect(refused.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(refused.bytes)).toEqual(small.bytes);
});

test('the weights of a client decide', () => {
  for (const [header, expected] of [
    ['gzip, deflate, br', ['br', 'gzip', 'identity']],
    ['gzip;q=1.0, br;q=0.5', ['gzip', 'br', 'identity']],
    ['gzip; q=0.5, br ;q=0', ['gzip', 'identity']],
    ['GZIP', ['gzip', 'identity']],
    ['identity, gzip;q=0.1', ['identity', 'gzip']],
    ['identity;q=0', []],
    ['gzip, identity;q=0', ['gzip']],
    ['*', ['br', 'gzip', 'identity']],
    ['*;q=0', []],
    ['br;q=0, *', ['gzip', 'identity']],
    ['gzip;q=0.2, *;q=0', ['gzip']],
    ['deflate, zstd', ['identity']],
    ['', ['identity']],
    ['gzip;q=high', ['identity']],
  ] as const) {
    expect(acceptedCodings(header), header).toEqual(expected);
  }
});

test('a secret is never compressed', async () => {
  const databases = Array.from({ length: 50 }, (_, i) => `a-database-with-a-long-name-${i}`);
  const issued = await send('POST', '/v1/keys', 'gzip, br', { name: 'page', actions: ['search'], databases });
  expect([issued.status, issued.bytes.length > 1_024]).toEqual([201, true]);
  const url = `https://example.com/${'x'.repeat(1_500)}`;
  const created = await send('POST', '/v1/databases/fan/webhooks', 'gzip, br', { url });
  expect([created.status, created.bytes.length > 1_024]).toEqual([201, true]);
  for (const { headers } of [issued, created]) expect(headers).not.toHaveProperty('content-encoding');
});

test('the lines of a stream arrive one by one, although the sender accepts compression', async () => {
  const stream = new Raw(service);
  stream.socket.write(
    streamHead(service.adminKey, 'fan').replace('\r\n', '\r\naccept-encoding: gzip, br\r\n'),
  );
  for (let id = 1_001; id < 1_004; id += 1) {
    stream.chunk(`${JSON.stringify({ id, data: {}, vector: [1, 0] })}\n`);
    await stream.until(`"committed":${id - 1_000}`);
  }
  expect(stream.received).not.toMatch(/content-encoding/i);
  stream.socket.destroy();
  await untilGauges(service, { 'in_flight streams': 0 });
});

test('fetch reads it', async () => {
  const { body, headers } = await service.call('POST', '/v1/databases/fan/query', {
    pagination: { limit: 100 },
  });
  expect(headers.get('content-encoding')).toBe('gzip');
  expect(body.results).toHaveLength(100);
});
