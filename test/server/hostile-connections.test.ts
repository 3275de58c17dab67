import { afterAll, beforeAll, expect, test } from 'vitest';
import { inFull } from '../helpers/full.js';
import { ALL_ZERO, issueKey, Raw, request, searchAndWrite, streamHead, untilGauges } from './raw.js';
import { fan, Service } from './service.js';

const CONNECTIONS = inFull(10_000, 400);
const AT_ONCE = 200;

let service: Service;

beforeAll(async () => {
  service = await Service.start();
  for (const id of ['fan', 'other']) await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(500) });
});
afterAll(() => service.stop());

const SEARCH = JSON.stringify({ search: { vector: [1, 0], threshold: 0 }, pagination: { limit: 100 } });
const RECORDS = JSON.stringify({ records: [{ id: 7, data: { n: 1 }, vector: [0, 1] }] });

/** What a caller sends; each is then cut off with a reset. */
const KINDS: Record<string, (key: string) => string> = {
  'pipelined searches': (key) => request(key, 'POST', '/v1/databases/fan/search', SEARCH).repeat(5),
  'pipelined queries': (key) => request(key, 'POST', '/v1/databases/fan/query', '{}').repeat(5),
  'pipelined writes': (key) => request(key, 'POST', '/v1/databases/fan/records', RECORDS).repeat(5),
  'pipelined deletes': (key) => request(key, 'DELETE', '/v1/databases/fan/records/7').repeat(5),
  'pipelined reads': (key) => request(key, 'GET', '/v1/databases/fan/records/3').repeat(5),
  'pipelined waits': (key) => request(key, 'GET', '/v1/databases/other/changes?wait=60&after=999').repeat(5),
  'many pipelined searches': (key) => request(key, 'POST', '/v1/databases/fan/search', SEARCH).repeat(60),
  'a search, then a wait': (key) =>
    request(key, 'GET', '/v1/databases/other/changes?wait=60&after=999') +
    request(key, 'POST', '/v1/databases/fan/search', SEARCH),
  'half a head': () => 'POST /v1/databases/fan/search HTTP/1.1\r\nhost: x\r\nx-api-',
  'half a body': (key) =>
    request(key, 'POST', '/v1/databases/fan/search', SEARCH, { 'content-length': '4000' }),
  'half a batch': (key) =>
    request(key, 'POST', '/v1/databases/fan/records', RECORDS, { 'content-length': '60000000' }),
  'a chunked body': (key) =>
    `${request(key, 'POST', '/v1/databases/fan/records', undefined, {
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    })}3\r\n{"r\r\n`,
  'an open stream': (key) => `${streamHead(key, 'fan')}1\r\n\n\r\n5\r\n{"dat\r\n`,
  'requests refused before and after good ones': (key) =>
    request('', 'POST', '/v1/databases/fan/search', SEARCH) +
    request(key, 'POST', '/v1/databases/fan/search', '{') +
    request(key, 'POST', '/v1/databases/fan/search', SEARCH) +
    request(key, 'POST', '/v1/nothing', SEARCH) +
    'NONSENSE\r\n\r\n',
};

test('hostile connections leave nothing in flight, and another key is served meanwhile', async () => {
  const other = await issueKey(service);
  const times: number[] = [];
  let hostile = await issueKey(service);
  const kinds = Object.values(KINDS);
  for (let begun = 0; begun < CONNECTIONS; begun += AT_ONCE) {
    const connections = Array.from({ length: AT_ONCE }, async (_, i) => {
      const connection = new Raw(service);
      await connection.connected();
      connection.socket.write(kinds[(begun + i) % kinds.length]!(hostile.key));
      // Some at once, some in the middle of what is sent back, some once the service has begun to answer others.
      if (i % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (i % 3 === 1)
        await Promise.race([new Promise((resolve) => connection.socket.once('data', resolve)), served]);
      if (i % 3 === 2) await served;
      connection.reset();
      await connection.closed;
    });
    const served = searchAndWrite(service, other.key, 'other').then((ms) => times.push(ms));
    await Promise.all([served, ...connections]);
    if ((begun / AT_ONCE) % 4 === 3) {
      // Revoked while its connections are open: the next ones come with another.
      const late = new Raw(service);
      late.socket.write(KINDS['an open stream']!(hostile.key) + KINDS['pipelined waits']!(hostile.key));
      await late.connected();
      expect((await service.call('DELETE', `/v1/keys/${hostile.key_id}`)).status).toBe(204);
      late.reset();
      hostile = await issueKey(service);
    }
  }
  console.log(`another key meanwhile: ${Math.max(...times).toFixed(0)} ms at most`);
  await untilGauges(service, ALL_ZERO);
  await searchAndWrite(service, hostile.key, 'fan');
  expect((await service.call('GET', '/v1/databases/fan')).body.records).toBeGreaterThanOrEqual(500);
});
