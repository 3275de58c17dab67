import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inFull, testInFull } from '../helpers/full.js';
import { exchange } from './exchange.js';
import { ALL_ZERO, gauges, issueKey, Raw, request, searchAndWrite, untilGauges } from './raw.js';
import { JSON_TYPE, Service } from './service.js';

const MIB = 1 << 20;
const READERS = inFull(100, 24);
const QUERY = '/v1/databases/long/query';

/** A service with 30 records of 300 kB: of one letter, or of random letters, which cannot be compressed by half. */
async function begin(sendMs: number, text = (i: number) => String(i % 10).repeat(300_000)): Promise<Service> {
  const service = await Service.start({}, { timeouts: { sendMs } });
  for (const id of ['long', 'other']) await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
  const records = Array.from({ length: 30 }, (_, i) => ({
    id: i + 1,
    data: { text: text(i) },
    vector: [1, i],
  }));
  for (const half of [records.slice(0, 15), records.slice(15)]) {
    await service.call('POST', '/v1/databases/long/records', { records: half });
  }
  return service;
}

/** Waits until a page was found. */
async function untilSearched(service: Service): Promise<void> {
  await expect
    .poll(async () => (await service.call('GET', '/metrics')).text)
    .toMatch(/^cosift_search_stage_seconds_count\{stage="total"\} [1-9]/m);
}

let service: Service;

beforeAll(async () => {
  service = await begin(600_000);
});
afterAll(() => service.stop());

test('pages of many bytes have fewer records, and no record is lost over them', async () => {
  const found: number[] = [];
  let pagination: { limit: number; cursor?: string } = { limit: 100 };
  for (let pages = 1; ; pages += 1) {
    const { body, text } = await service.call('POST', QUERY, { pagination });
    expect(text.length).toBeLessThan(4 * MIB + 1_000);
    for (const { id, data } of body.results) {
      expect(data.text).toHaveLength(300_000);
      found.push(id);
    }
    if (!body.pagination.has_more) {
      expect(pages).toBe(3);
      break;
    }
    expect(body.results).toHaveLength(13);
    pagination = { limit: 100, cursor: body.pagination.next_cursor };
  }
  expect(found.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
});

test('readers that never read hold no search and few bytes, and another key is served meanwhile', async () => {
  const [hostile, other] = await Promise.all([issueKey(service, ['search']), issueKey(service)]);
  const readers = Array.from({ length: READERS }, () => new Raw(service, { reads: false }));
  for (const { socket } of readers) {
    socket.write(request(hostile.key, 'POST', QUERY, '{"pagination":{"limit":100}}').repeat(2));
  }
  await Promise.all(readers.map((reader) => reader.connected()));
  // Until no page more fits: the rest is refused, although nobody has taken what is there.
  for (let unsent = 0; unsent < 56 * MIB; ) {
    unsent = (await gauges(service))['in_flight_bytes unsent']!;
    expect(unsent).toBeLessThanOrEqual(64 * MIB);
  }
  await untilGauges(service, { 'in_flight searches': 0 });
  expect((await gauges(service))['in_flight_bytes unsent']).toBeGreaterThan(56 * MIB);
  await searchAndWrite(service, other.key, 'other');
  // The same key is refused until it has read its responses.
  const headers = { 'x-api-key': hostile.key };
  const refused = await service.call('POST', QUERY, { pagination: { limit: 100 } }, headers);
  expect([refused.status, refused.body.code]).toEqual([503, 'busy']);
  expect(refused.headers.get('retry-after')).toBe('1');
  for (const { socket } of readers) socket.destroy();
  await untilGauges(service, ALL_ZERO);
});

test('a reader that never reads is cut off, whose key was revoked too', async () => {
  const impatient = await begin(300);
  const { key, key_id } = await issueKey(impatient, ['search']);
  const readers = Array.from({ length: 4 }, () => new Raw(impatient, { reads: false }));
  for (const { socket } of readers) {
    socket.write(request(key, 'POST', QUERY, '{"pagination":{"limit":100}}').repeat(3));
  }
  await untilSearched(impatient);
  expect((await impatient.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
  // Nobody here closes a connection.
  await untilGauges(impatient, ALL_ZERO);
  for (const { socket } of readers) socket.destroy();
  await impatient.stop();
});

testInFull('compressed responses count as well, and their readers are cut off', async () => {
  const random = () => randomBytes(225_000).toString('base64');
  const patient = await begin(600_000, random);
  const headers = { 'accept-encoding': 'gzip' };
  const body = '{"pagination":{"limit":100}}';
  const pages = (key: string) => request(key, 'POST', QUERY, body, headers).repeat(3);
  const { key } = await issueKey(patient, ['search']);
  const compressed = await exchange(
    patient,
    'POST',
    QUERY,
    { ...headers, ...JSON_TYPE, 'x-api-key': key },
    body,
  );
  expect(compressed.headers['content-encoding']).toBe('gzip');
  expect(compressed.bytes.length).toBeGreaterThan(2 * MIB);
  const waiting = Array.from({ length: 10 }, () => new Raw(patient, { reads: false }));
  for (const { socket } of waiting) socket.write(pages(key));
  for (let unsent = 0; unsent < 2 * MIB; ) {
    unsent = (await gauges(patient))['in_flight_bytes unsent']!;
    expect(unsent).toBeLessThanOrEqual(64 * MIB);
  }
  for (const { socket } of waiting) socket.destroy();
  await patient.stop();

  const impatient = await begin(300, random);
  const other = await issueKey(impatient, ['search']);
  const readers = Array.from({ length: 10 }, () => new Raw(impatient, { reads: false }));
  for (const { socket } of readers) socket.write(pages(other.key));
  await untilSearched(impatient);
  // Nobody here closes a connection.
  await untilGauges(impatient, ALL_ZERO);
  for (const { socket } of readers) socket.destroy();
  await impatient.stop();
});

test('a reader who reads slowly, but reads, gets all of a page', async () => {
  const reader = new Raw(service, { reads: false });
  reader.socket.write(
    request(service.adminKey, 'POST', QUERY, '{"pagination":{"limit":100}}', { connection: 'close' }),
  );
  let bytes = 0;
  let expected = Number.POSITIVE_INFINITY;
  const pauses = setInterval(() => reader.socket.resume(), 20);
  reader.socket.on('data', (chunk) => {
    if (bytes === 0) {
      const head = chunk.toString('latin1').split('\r\n\r\n', 1)[0]!;
      expected = head.length + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]);
    }
    bytes += chunk.length;
    reader.socket.pause();
  });
  await reader.closed;
  clearInterval(pauses);
  expect(bytes).toBe(expected);
});
