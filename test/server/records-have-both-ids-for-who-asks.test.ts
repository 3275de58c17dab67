import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from './service.js';

const TYPE = 'application/vnd.cosift+json';
const RECORDS = 7;
const DAY = '2026-01-01T00:00:00.000Z';
const PATHS = ['/v1/databases/d/records', '/v1/databases/d'];

let service: Service;

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/d', { dimensions: 2 });
  const records = Array.from({ length: RECORDS }, (_, at) => ({
    id: at + 1,
    uuid: `00000000-0000-4000-8000-00000000000${RECORDS - at}`,
    data: { n: at },
    vector: [1, 0],
    timestamps: { created_at: DAY, changed_at: DAY, synced_at: DAY },
  }));
  await service.call('POST', '/v1/databases/d/records', { records });
});

afterAll(() => service.stop());

const ask = async (method: string, path: string, body?: unknown, accept = `${TYPE}, */*`) =>
  service.call(method, path, body, { accept });

const timestamps = { created_at: DAY, changed_at: DAY, synced_at: DAY };
const shown = (id: number) => ({
  id,
  uuid: `00000000-0000-4000-8000-00000000000${RECORDS + 1 - id}`,
  data: { n: id - 1 },
  timestamps,
});

test.each(PATHS)('pages of %s are ordered by the integer ids and lead to one another', async (path) => {
  // A condition is optional, and times have one set of names.
  const filter = { rules: [{ column: 'n', operator: 'less_than', value: RECORDS }] };
  for (const [operation, request] of [
    ['search', { search: { vector: [1, 0] }, filter }],
    ['query', { sort: { time: 'synced_at' }, filter }],
  ] as const) {
    const found: object[] = [];
    let cursor: string | undefined;
    do {
      const pagination = { limit: 3, ...(cursor && { cursor }) };
      const { status, headers, body } = await ask('POST', `${path}/${operation}`, { ...request, pagination });
      expect([status, headers.get('content-type')]).toEqual([200, TYPE]);
      found.push(...body.results);
      cursor = body.pagination.next_cursor;
    } while (cursor);
    const score = operation === 'search' ? { relevance_score: 1 } : {};
    expect(found).toEqual(Array.from({ length: RECORDS }, (_, at) => ({ ...shown(at + 1), ...score })));
  }
  const { body } = await ask('POST', `${path}/map`, { columns: ['n'] });
  expect(body.points).toHaveLength(RECORDS);
  for (const { id, uuid, data } of body.points) expect({ id, uuid, data, timestamps }).toEqual(shown(id));
});

test('one record has both ids, by whatever it is asked for, and after a patch', async () => {
  for (const id of ['3', shown(3).uuid]) {
    const read = await ask('GET', `/v1/databases/d/records/${id}`);
    expect(read.headers.get('content-type')).toBe(TYPE);
    expect(read.body).toMatchObject({ id: 3, uuid: shown(3).uuid, data: { n: 2 } });
    expect(Object.keys(read.body.timestamps)).toEqual(Object.keys(timestamps));
    const patched = await ask('PATCH', `/v1/databases/d/records/${id}`, { data: { n: 2 } });
    expect(patched.headers.get('content-type')).toBe(TYPE);
    expect(patched.body).toMatchObject({ id: 3, uuid: shown(3).uuid, data: { n: 2 } });
  }
});

test('a request that does not name the type gets the record of the variant', async () => {
  for (const accept of ['*/*', 'application/json']) {
    const { body, headers } = await ask('GET', '/v1/databases/d/records/1', undefined, accept);
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(Object.keys(body)).toEqual(['id', 'data', 'timestamps']);
  }
});

test('the names of a variant are refused', async () => {
  const { status, body } = await ask('POST', '/v1/databases/d/query', { sort: { time: 'last_seen_time' } });
  expect([status, body.errors[0].pointer]).toEqual([400, '/sort/time']);
});
