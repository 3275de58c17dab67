import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { ALL_ZERO, issueKey, Raw, request, searchAndWrite, untilGauges } from './raw.js';
import { Service } from './service.js';

const EXPORT = '/v1/databases/many/export';
const RECORDS = 1_200;

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await fill('many');
});
afterAll(() => service.stop());

/** Creates a database whose export is several times as long as what is buffered on the way to a client. */
async function fill(id: string): Promise<void> {
  await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
  for (let first = 1; first <= RECORDS; first += 200) {
    const records = Array.from({ length: 200 }, (_, at) => ({
      id: first + at,
      data: { text: 'x'.repeat(15_000), even: at % 2 === 1 },
      vector: [1, at],
    }));
    await service.call('POST', `/v1/databases/${id}/records`, { records });
  }
}

/** Begins an export whose response is read only on demand. */
async function begin(path = EXPORT, key = service.adminKey): Promise<IncomingMessage> {
  const sent = get(service.url + path, { headers: { 'x-api-key': key } });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(200);
  return response;
}

/** Reads a response to its end; fails when the connection ends before. */
async function linesOf(response: IncomingMessage): Promise<number> {
  let lines = 0;
  for await (const chunk of response) lines += (chunk as Buffer).toString('latin1').split('\n').length - 1;
  return lines;
}

test('an export is NDJSON that an upsert takes, also with a filter and vectors', async () => {
  const whole = await service.call('GET', EXPORT);
  expect([whole.status, whole.headers.get('content-type')]).toEqual([
    200,
    'application/x-ndjson; charset=utf-8',
  ]);
  const lines = whole.text.split('\n');
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(
    Array.from({ length: RECORDS }, (_, at) => at + 1),
  );
  const filter = { rules: [{ column: 'even', operator: 'equals', value: true }] };
  const query = new URLSearchParams({ vectors: 'true', filter: JSON.stringify(filter) });
  const even = await service.call('GET', `${EXPORT}?${query}`);
  expect(even.text.split('\n')).toHaveLength(RECORDS / 2 + 1);
  await service.call('PUT', '/v1/databases/copy', { dimensions: 2 });
  const taken = await service.call('POST', '/v1/databases/copy/records', even.text, {
    'content-type': 'application/x-ndjson',
  });
  expect(taken.text).toContain(`"created":${RECORDS / 2}`);
  expect((await service.call('GET', '/v1/databases/copy/export?vectors=true')).text).toBe(even.text);
});

test('HEAD has the head of the response and reads nothing', async () => {
  const head = (path: string) =>
    fetch(service.url + path, { method: 'HEAD', headers: { 'x-api-key': service.adminKey } });
  const { status, headers } = await head(EXPORT);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  expect((await head('/v1/databases/none/export')).status).toBe(404);
  await untilGauges(service, ALL_ZERO);
});

test('what is no export is refused', async () => {
  for (const [query, code, text] of [
    ['vectors=1', 'invalid_request', 'vectors'],
    ['format=csv', 'invalid_request', 'format'],
    ['filter=', 'invalid_json', 'the query parameter "filter": expected a value'],
    ['filter={"rules":[],"rules":[]}', 'invalid_json', 'the query parameter "filter": '],
    ['filter={"rules":[]}', 'invalid_filter', '/filter/rules'],
    ['filter={"rules":[{"column":"a","operator":"equls","value":1}]}', 'invalid_filter', 'equals'],
  ] as const) {
    const { status, body } = await service.call('GET', `${EXPORT}?${encodeURI(query)}`);
    expect([status, body.code], query).toEqual([400, code]);
    expect(body.detail).toContain(text);
  }
  const { key } = await issueKey(service, ['search']);
  const refused = await service.call('GET', EXPORT, undefined, { 'x-api-key': key });
  expect([refused.status, refused.body.code]).toEqual([403, 'forbidden']);
  expect((await service.call('GET', '/v1/databases/none/export')).body.code).toBe('database_not_found');
});

test('a key with a filter exports the records that pass it', async () => {
  const filter = { rules: [{ column: 'even', operator: 'equals', value: true }] };
  const wanted = { name: 'even', actions: ['records.read'], databases: '*', filter };
  const { key } = (await service.call('POST', '/v1/keys', wanted)).body;
  const { text } = await service.call('GET', EXPORT, undefined, { 'x-api-key': key });
  const lines = text.split('\n').slice(0, -1);
  expect(lines).toHaveLength(RECORDS / 2);
  expect(lines.every((line) => JSON.parse(line).data.even)).toBe(true);
});

test('a reader that stalls holds up no write, no drop and no other reader', async () => {
  await fill('stalled');
  const { key } = await issueKey(service);
  const stalled = await begin('/v1/databases/stalled/export', key);
  const socket = new Raw(service, { reads: false });
  socket.socket.write(request(key, 'GET', '/v1/databases/stalled/export'));
  await untilGauges(service, { 'in_flight exports': 2 });
  await searchAndWrite(service, service.adminKey, 'stalled');
  expect(await linesOf(await begin('/v1/databases/stalled/export'))).toBe(RECORDS + 1);
  const deletion = { time_range: { end_time: '9999-01-01' } };
  expect((await service.call('POST', '/v1/databases/stalled/records/delete', deletion)).body.deleted).toBe(
    RECORDS + 1,
  );
  // The rest of the stalled export is what it was.
  expect(await linesOf(stalled)).toBe(RECORDS);
  expect((await service.call('DELETE', '/v1/databases/stalled')).status).toBe(204);
  socket.socket.destroy();
  await untilGauges(service, ALL_ZERO);
});

test('a client learns that an export was cut', async () => {
  for (const cut of [
    async (id: string) => service.call('DELETE', `/v1/databases/${id}`),
    async (_: string, keyId: string) => service.call('DELETE', `/v1/keys/${keyId}`),
  ]) {
    await fill('cut');
    const { key, key_id } = await issueKey(service);
    const response = await begin('/v1/databases/cut/export', key);
    const client = new Client({ url: service.url, key });
    const chunks = client.database('cut').exportLines()[Symbol.asyncIterator]();
    expect((await chunks.next()).done).toBe(false);
    expect((await cut('cut', key_id)).status).toBe(204);
    await expect(linesOf(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
    const rest = async () => {
      while (!(await chunks.next()).done);
    };
    await expect(rest()).rejects.toMatchObject({ code: 'unreachable' });
    await service.call('DELETE', '/v1/databases/cut');
  }
  await untilGauges(service, ALL_ZERO);
});

test('further exports of a key are refused while its exports are under way', async () => {
  const { key } = await issueKey(service);
  const begun = await Promise.all(Array.from({ length: 6 }, () => begin(EXPORT, key)));
  const refused = await service.call('GET', EXPORT, undefined, { 'x-api-key': key });
  expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([503, 'busy', '1']);
  const other = await begin();
  for (const response of [...begun, other]) response.destroy();
  await untilGauges(service, ALL_ZERO);
});

test('a stop ends an export that nobody reads', async () => {
  const stopping = await Service.start();
  const [mine, other] = [service, stopping];
  service = other;
  try {
    await fill('many');
    const response = await begin();
    await stopping.stop();
    await expect(linesOf(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
  } finally {
    service = mine;
  }
});
