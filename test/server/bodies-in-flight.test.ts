import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_ZERO, issueKey, Raw, request, searchAndWrite, untilGauges } from './raw.js';
import { fan, JSON_TYPE, Service } from './service.js';

const LARGEST = 200_000;
const RECORDS = '/v1/databases/fan/records';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ limitBatchBytes: LARGEST, limitBodyBytes: 10_000 });
  for (const id of ['fan', 'other']) await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
});
afterAll(() => service.stop());

/** A batch of exactly so many bytes. */
function batch(bytes: number, id: number): string {
  const json = (text: string) => JSON.stringify({ records: [{ id, data: { text }, vector: [1, 0] }] });
  return json('x'.repeat(bytes - json('').length));
}

test('bodies of one key beyond its share are refused before they are read', async () => {
  const [hostile, other] = await Promise.all([issueKey(service), issueKey(service)]);
  const body = batch(LARGEST, 1);
  const first = new Raw(service);
  first.socket.write(request(hostile.key, 'POST', RECORDS, body).slice(0, -100));
  await untilGauges(service, { 'in_flight_bytes bodies': LARGEST });

  // Answered although none of its body was sent.
  const second = new Raw(service);
  second.socket.write(
    request(hostile.key, 'POST', RECORDS, undefined, { ...JSON_TYPE, 'content-length': '100' }),
  );
  await second.until(/^HTTP\/1\.1 503 .*retry-after: 1\r\n.*"code":"busy"/s);
  const chunked = new Raw(service);
  chunked.socket.write(
    request(hostile.key, 'POST', RECORDS, undefined, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }),
  );
  chunked.chunk('{"records":');
  await chunked.until(/^HTTP\/1\.1 503 .*"code":"busy"/s);

  await searchAndWrite(service, other.key, 'other');
  const answer = await service.call('POST', RECORDS, batch(LARGEST, 2), {
    'x-api-key': other.key,
    ...JSON_TYPE,
  });
  expect(answer.body).toMatchObject({ created: 1 });

  first.socket.write(body.slice(-100));
  await first.until('"created":1');
  await untilGauges(service, ALL_ZERO);
  const again = await service.call('POST', RECORDS, body, { 'x-api-key': hostile.key, ...JSON_TYPE });
  expect(again.body).toMatchObject({ unchanged: 1 });
  for (const { socket } of [first, second, chunked]) socket.destroy();
});

test('a body whose length is not declared is stored, and counted as it arrives', async () => {
  const body = batch(150_000, 3);
  const raw = new Raw(service);
  raw.socket.write(
    request(service.adminKey, 'POST', RECORDS, undefined, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }),
  );
  for (let start = 0; start < body.length; start += 7_000) {
    if (start === 98_000) {
      const counted = async () =>
        /in_flight_bytes\{kind="bodies"\} (\d+)/.exec((await service.call('GET', '/metrics')).text);
      await expect.poll(async () => Number((await counted())?.[1])).toBeGreaterThanOrEqual(98_000);
    }
    raw.chunk(body.slice(start, start + 7_000));
  }
  raw.socket.write('0\r\n\r\n');
  await raw.until('"created":1');
  expect((await service.call('GET', `${RECORDS}/3`)).body.data.text).toBe(
    JSON.parse(body).records[0].data.text,
  );
  raw.chunk(body);
  await untilGauges(service, ALL_ZERO);
  raw.socket.destroy();
});

test.each<Record<string, string>>([{}, { 'transfer-encoding': 'chunked' }])(
  'a key that an issued key issued has room for the largest batch (%j)',
  async (headers) => {
    const actions = ['records.read', 'records.write', 'keys.manage'];
    let { key } = await issueKey(service, actions);
    for (let depth = 0; depth < 3; depth += 1) {
      const wanted = { name: 'deeper', actions, databases: '*' };
      key = (await service.call('POST', '/v1/keys', wanted, { 'x-api-key': key, ...JSON_TYPE })).body.key;
    }
    const raw = new Raw(service);
    const body = batch(LARGEST, 4);
    if ('transfer-encoding' in headers) {
      raw.socket.write(request(key, 'POST', RECORDS, undefined, { ...JSON_TYPE, ...headers }));
      for (let start = 0; start < body.length; start += 50_000) raw.chunk(body.slice(start, start + 50_000));
      raw.socket.write('0\r\n\r\n');
    } else {
      raw.socket.write(request(key, 'POST', RECORDS, body));
    }
    await raw.until(/"(created|unchanged)":1/);
    raw.socket.destroy();
    await untilGauges(service, ALL_ZERO);
  },
);

test('a batch of many bodies at once keeps within the limit', async () => {
  const { key } = await issueKey(service);
  await service.call('POST', RECORDS, { records: fan(3) });
  const headers = { 'x-api-key': key, ...JSON_TYPE };
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, i) => service.call('POST', RECORDS, batch(100_000, 100 + i), headers)),
  );
  const statuses = answers.map(({ status, body }) => `${status} ${body.code ?? ''}`);
  expect(new Set(statuses)).toContain('200 ');
  expect(statuses.every((status) => status === '200 ' || status === '503 busy')).toBe(true);
  await untilGauges(service, ALL_ZERO);
});

test('a body has the same response whether it arrives with its head or in parts', async () => {
  const requests = [201, 202, 203].map((id) =>
    request(service.adminKey, 'POST', RECORDS, batch(100 * id, id)),
  );
  const together = new Raw(service);
  together.socket.write(requests.join(''));
  await together.until(/("created":1.*){3}/s);
  const inParts = new Raw(service);
  const bytes = requests.join('');
  for (let start = 0; start < bytes.length; start += 9_000) {
    inParts.socket.write(bytes.slice(start, start + 9_000));
    await setImmediate();
  }
  await inParts.until(/("unchanged":1.*){3}/s);
  await untilGauges(service, ALL_ZERO);
  for (const { socket } of [together, inParts]) socket.destroy();
});
