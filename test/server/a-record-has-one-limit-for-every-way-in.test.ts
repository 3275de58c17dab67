import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { LINES_TYPE, Service } from './service.js';

const LIMIT = 2_000;
const AT = '/v1/databases/db';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ limitRecordBytes: LIMIT });
  await service.call('PUT', AT, { dimensions: 2 });
});
afterAll(() => service.stop());

/** A record of so many bytes as JSON. */
function ofBytes(id: number, bytes: number): string {
  const record = { id, data: { text: '' }, vector: [1, 0] };
  const { length } = JSON.stringify(record);
  record.data.text = 'é'.repeat((bytes - length) >> 1) + 'x'.repeat((bytes - length) & 1);
  expect(Buffer.byteLength(JSON.stringify(record))).toBe(bytes);
  return JSON.stringify(record);
}

const records = async () => (await service.call('GET', AT)).body.records;

test('a batch is refused with 413 and a pointer to the record, and nothing of it is stored', async () => {
  const batch = (bytes: number) => `{"records":[${ofBytes(1, 100)} ,\n ${ofBytes(2, bytes)} ]}`;
  const refused = await service.call('POST', `${AT}/records`, batch(LIMIT + 1));
  expect([refused.status, refused.body.code]).toEqual([413, 'too_large']);
  expect(refused.body.errors).toMatchObject([{ pointer: '/records/1', code: 'too_large' }]);
  expect(refused.body.detail).toContain(String(LIMIT));
  expect(await records()).toBe(0);
  expect((await service.call('POST', `${AT}/records`, batch(LIMIT))).status).toBe(200);
  await service.call('POST', `${AT}/records/delete`, { ids: [1, 2] });
});

test('a line of NDJSON gets a problem, and the others are stored', async () => {
  const lines = [ofBytes(3, LIMIT), ofBytes(4, LIMIT + 1), ofBytes(5, 100)].join('\n');
  const { status, text } = await service.call('POST', `${AT}/records`, lines, LINES_TYPE);
  const events = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(status).toBe(200);
  expect(events.filter(({ type }) => type === 'problem')).toMatchObject([{ line: 2, code: 'too_large' }]);
  expect(events.at(-1)).toMatchObject({ type: 'summary', lines: 3, created: 2, failed: 1 });
  expect(await records()).toBe(2);
});

test('the client gets the same error', async () => {
  const database = new Client({ url: service.url, key: service.adminKey }).database('db');
  await expect(database.upsert([JSON.parse(ofBytes(6, LIMIT + 1))])).rejects.toMatchObject({
    code: 'too_large',
    status: 413,
    problems: [{ pointer: '/records/0' }],
  });
  expect(await records()).toBe(2);
});
