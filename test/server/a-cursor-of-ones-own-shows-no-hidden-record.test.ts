import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from './service.js';

const LONG = 'x'.repeat(2_000);
let service: Service;
let headers: Record<string, string>;

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/one', { dimensions: 2 });
  await service.call('POST', '/v1/databases/one/records', {
    records: [
      { id: 1, data: { public: true, salary: 10, text: `${LONG}1` }, vector: [1, 0] },
      { id: 2, data: { public: true, salary: 20, text: `${LONG}2` }, vector: [1, 0] },
      { id: 100, data: { public: false, salary: 777 }, vector: [1, 0] },
    ],
  });
  const { body } = await service.call('POST', '/v1/keys', {
    name: 'public',
    actions: ['search'],
    databases: ['one'],
    filter: { rules: [{ column: 'public', operator: 'equals', value: true }] },
  });
  headers = { 'x-api-key': body.key };
});
afterAll(() => service.stop());

const page = (sort: object, pagination: object) =>
  service.call('POST', '/v1/databases/one/query', { sort, pagination }, headers);

/** The digest of a value as cursors have it: the one of the record that follows a record with a long text. */
async function digestOf(value: number): Promise<Buffer> {
  await service.call('PUT', '/v1/databases/own', { dimensions: 2 });
  const records = [LONG, value].map((of, i) => ({ id: i + 1, data: { of }, vector: [1, 0] }));
  await service.call('POST', '/v1/databases/own/records', { records });
  const { body } = await service.call('POST', '/v1/databases/own/query', {
    sort: { column: 'of', direction: 'desc' },
    pagination: { limit: 1 },
  });
  const [, bytes] = /^l([\w-]+)_1$/.exec(body.pagination.next_cursor) ?? [];
  return Buffer.from(bytes as string, 'base64url').subarray(24, 32);
}

const cursorTo = (digest: Buffer, id: number) => `l${digest.toString('base64url')}_${id}`;

test('a cursor that names a hidden record tells nothing of its value', async () => {
  const answers = [];
  for (const guess of [776, 777]) {
    const cursor = cursorTo(await digestOf(guess), 100);
    const { status, body } = await page({ column: 'salary' }, { cursor });
    answers.push({ status, detail: body.detail });
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(400);
});

test('a cursor that names a record that the key sees finds its place', async () => {
  const cursor = cursorTo(await digestOf(10), 1);
  const own = await page({ column: 'salary' }, { cursor });
  expect(own.body.results.map(({ id }: { id: number }) => id)).toEqual([2]);
  const first = await page({ column: 'text' }, { limit: 1 });
  const next = await page({ column: 'text' }, { cursor: first.body.pagination.next_cursor });
  expect(next.body.results.map(({ id }: { id: number }) => id)).toEqual([2]);
});
