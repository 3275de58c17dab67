import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/index.js';
import { start } from '../../src/server/main.js';
import { HeldModel } from '../helpers/held-model.js';
import { fan, JSON_TYPE, Service } from './service.js';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

const begin = async (flags: Record<string, unknown> = {}) => {
  const service = await Service.start(flags);
  services.push(service);
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(20) });
  return service;
};
const SEARCH = '/v1/databases/fan/search';
const search = { search: { vector: [1, 0] } };

test('a stop finishes the requests in flight, frees port and data, and loses nothing', async () => {
  const service = await begin();
  const { running, url, directory } = service;
  const waiting = service.call('GET', '/v1/databases/fan/changes?after=20&wait=60');
  while (!/kind="waits"\} 1/.test((await service.call('GET', '/metrics')).text));
  await Promise.all([running.close(), running.close()]);
  expect((await waiting).body).toEqual({
    epoch: expect.stringMatching(/^[0-9a-f]{32}$/),
    changes: [],
    position: 20,
    has_more: false,
  });
  await expect(fetch(`${url}/livez`)).rejects.toThrow();

  const { config } = resolveConfig({ port: 0, data: directory, logLevel: 'silent' }, {});
  const lines: string[] = [];
  const again = await start(config, { print: (line) => lines.push(line) });
  try {
    expect(lines).toEqual([`listening on ${again.url}`]);
    const response = await fetch(again.url + SEARCH, {
      method: 'POST',
      headers: { 'x-api-key': service.adminKey, ...JSON_TYPE },
      body: JSON.stringify(search),
    });
    expect(((await response.json()) as { results: unknown[] }).results.length).toBeGreaterThan(10);
  } finally {
    await again.close();
  }
});

// Node waits for callers to hang up, which those with nothing to ask may never do.
test.each([
  ['nothing', ''],
  ['half a head', 'GET /livez HTTP/1.1\r\nho'],
  [
    'a body that never comes',
    'POST /v1/databases/fan/search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\nx-api-key: KEY\r\n\r\n{',
  ],
  ['an unread body', 'POST /v1/keys HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{'],
  [
    'an open stream',
    'POST /v1/databases/fan/records HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\nx-api-key: KEY\r\n\r\n1\r\n\n\r\n',
  ],
])('a stop does not wait for a caller who has sent %s', async (_, head) => {
  const service = await begin();
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  const connected = once(socket, 'connect');
  socket.write(head.replace('KEY', service.adminKey));
  await connected;
  // An answer to a later caller: the earlier one has arrived.
  expect((await service.call('GET', '/livez')).status).toBe(200);
  await service.running.close();
  socket.destroy();
});

test('the data directory of a running service is refused to another', async () => {
  const { directory } = await begin();
  const { config } = resolveConfig({ port: 0, data: directory, logLevel: 'silent' }, {});
  await expect(start(config, { print: () => undefined })).rejects.toMatchObject({ code: 'data_locked' });
});

test('a new admin key is shown, and only then', async () => {
  const service = await begin();
  expect(service.running.admin.made).toBe(true);
  expect(service.running.admin.key).toMatch(/^cosift_/);
  const { config } = resolveConfig(
    { port: 0, data: `${service.directory}/given`, logLevel: 'silent' },
    {
      COSIFT_ADMIN_KEY: 'mine',
    },
  );
  const lines: string[] = [];
  const given = await start(config, { print: (line) => lines.push(line) });
  try {
    expect(lines).toHaveLength(1);
    const response = await fetch(`${given.url}/v1/databases`, { headers: { 'x-api-key': 'mine' } });
    expect(response.status).toBe(200);
  } finally {
    await given.close();
  }
});

test('a key beyond its rate gets 429 with retry-after', async () => {
  const start = performance.now();
  const service = await begin({ rateLimit: '5' });
  const first = await service.call('POST', SEARCH, search);
  expect(first.headers.get('ratelimit-policy')).toBe('"default";q=5;w=60');
  expect(first.headers.get('ratelimit')).toMatch(/^"default";r=[0-4];t=\d+$/);
  // `begin` has sent two requests.
  let accepted = 2;
  let refused = first;
  for (; refused.status === 200; accepted += 1) refused = await service.call('POST', SEARCH, search);
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
  // One more request may be sent every 12 seconds.
  expect(accepted).toBeGreaterThanOrEqual(5);
  expect(accepted).toBeLessThanOrEqual(5 + (performance.now() - start) / 12_000);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await service.call('GET', '/readyz')).status).toBe(200);
});

test('one search more than there may be is shed, and the next one served', async () => {
  const model = await HeldModel.start();
  const service = await begin({ maxSearches: '1', models: { first: model.source } });
  await service.call('PUT', '/v1/databases/texts', { model: 'first' });
  // A search whose text is not embedded yet holds the only place.
  model.allow(0);
  const first = service.call('POST', '/v1/databases/texts/search', { search: { text: 'waits' } });
  while (!/kind="searches"\} 1/.test((await service.call('GET', '/metrics')).text));
  const shed = await service.call('POST', SEARCH, search);
  expect([shed.status, shed.body.code, shed.headers.get('retry-after')]).toEqual([503, 'busy', '1']);
  model.allow(Number.POSITIVE_INFINITY);
  expect((await first).status).toBe(200);
  expect((await service.call('POST', SEARCH, search)).status).toBe(200);
});

test('a search that takes too long is given up', async () => {
  const service = await begin({ answerTimeoutSeconds: 1, maxSearches: 100_000 });
  await service.call('PUT', '/v1/databases/texts', {});
  // Twice as many new texts at a time, until there are more than this machine embeds in the time, however fast it is.
  const word = (i: number) => `${'word '.repeat(200)}${i}`;
  const statuses = new Set<string>();
  for (let count = 50; !statuses.has('503 timed_out'); count *= 2) {
    const answers = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        service.call('POST', '/v1/databases/texts/search', { search: { text: word(count + i) } }),
      ),
    );
    for (const { status, body } of answers) statuses.add(`${status} ${body.code ?? 'ok'}`);
  }
  expect([...statuses].every((status) => /ok|timed_out|busy/.test(status))).toBe(true);
  // A machine that pauses for a second gives up this search, too.
  await expect.poll(async () => (await service.call('POST', SEARCH, search)).status).toBe(200);
});

test('metrics count responses by operation, and contain neither keys nor texts', async () => {
  const service = await begin();
  await service.call('POST', SEARCH, search);
  await service.call('POST', SEARCH, { search: { text: 'a secret text' } });
  const { text, headers } = await service.call('GET', '/metrics');
  expect(headers.get('content-type')).toContain('text/plain');
  expect(text).toMatch(/^cosift_http_requests_total\{operation="searchB",status="200"\} 1$/m);
  expect(text).toMatch(/^cosift_http_requests_total\{operation="searchB",status="400"\} 1$/m);
  expect(text).toMatch(/^cosift_search_stage_seconds_count\{stage="search"\} 1$/m);
  expect(text).toMatch(/^cosift_database_records\{database="fan"\} 20$/m);
  expect(text).toMatch(/^cosift_scans_total \d+$/m);
  expect(text).not.toContain('secret');
  expect(text).not.toContain(service.adminKey.slice(20));
});
