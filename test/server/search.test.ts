import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, fan, Service } from './service.js';

const RECORDS = 250;
let service: Service;

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(RECORDS) });
});
afterAll(() => service.stop());

const PATHS = { a: '/v1/databases/fan/records', b: '/v1/databases/fan' };
const search = { vector: [1, 0], threshold: 0 };

describe.each(['a', 'b'] as const)('variant %s', (variant) => {
  const drain = async (operation: 'search' | 'query', request: object, limit: number) => {
    const ids: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await service.call('POST', `${PATHS[variant]}/${operation}`, {
        ...request,
        pagination: { limit, ...(cursor !== undefined && { cursor }) },
      });
      expect(page.status).toBe(200);
      expect(page.body.pagination.limit).toBe(limit);
      ids.push(...page.body.results.map((record: { id: unknown }) => record.id));
      cursor = page.body.pagination.next_cursor;
      expect(page.body.pagination.has_more).toBe(cursor !== undefined);
    } while (cursor !== undefined);
    return ids;
  };

  test('a search drains every match once, most relevant first', async () => {
    const ids = await drain('search', { search }, 7);
    expect(ids).toHaveLength(RECORDS);
    expect(new Set(ids).size).toBe(RECORDS);
    if (variant === 'b') expect(ids).toEqual(Array.from({ length: RECORDS }, (_, i) => i + 1));
    else for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('a query drains every match once', async () => {
    const filter = { condition: 'AND', rules: [{ column: 'even', operator: 'equals', value: true }] };
    const ids = await drain('query', { filter }, 9);
    expect(new Set(ids).size).toBe(RECORDS / 2);
    expect(ids).toHaveLength(RECORDS / 2);
  });

  test('a record has the names of its variant', async () => {
    const { body } = await service.call('POST', `${PATHS[variant]}/search`, { search });
    expect(body.pagination.limit).toBe(50);
    expect(body.results[0].data).toEqual({ name: 'record 1', even: false, size: 1 });
    expect(body.results[0].relevance_score).toBe(1);
    const names =
      variant === 'a'
        ? ['created_at', 'changed_at', 'synced_at']
        : ['first_seen_time', 'last_changed_time', 'last_seen_time'];
    expect(Object.keys(body.results[0].timestamps)).toEqual(names);
  });

  test('the cursor of the other variant is refused', async () => {
    const cursor = variant === 'a' ? '0.5_42' : '0.5|0190a0b2-7c3d-7abc-8def-0123456789ab';
    const { status, body } = await service.call('POST', `${PATHS[variant]}/search`, {
      search,
      pagination: { cursor },
    });
    expect(status).toBe(400);
    expect(body.code).toBe('invalid_cursor');
    expect(body.errors[0].pointer).toBe('/pagination/cursor');
  });
});

test('only variant A requires the condition', async () => {
  const filter = { rules: [{ column: 'size', operator: 'less_than', value: 3 }] };
  const a = await service.call('POST', `${PATHS.a}/search`, { search, filter });
  expect(a.status).toBe(400);
  expect(a.body.errors[0].pointer).toBe('/filter');
  const b = await service.call('POST', `${PATHS.b}/search`, { search, filter });
  expect(b.body.results.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
});

test('the total counts every match, on all pages', async () => {
  const filter = { rules: [{ column: 'size', operator: 'greater_than', value: 100 }] };
  for (const [operation, request] of [
    ['search', { search, filter }],
    ['query', { filter }],
  ] as const) {
    const { body } = await service.call('POST', `${PATHS.b}/${operation}`, {
      ...request,
      total: true,
      pagination: { limit: 5 },
    });
    expect(body.total).toEqual({ value: 150 });
    expect(body.results).toHaveLength(5);
  }
});

test('a query sorts by a column or a time', async () => {
  const first = async (sort: object) =>
    (await service.call('POST', `${PATHS.b}/query`, { sort, pagination: { limit: 1 } })).body.results[0].id;
  expect(await first({ column: 'size', direction: 'desc' })).toBe(RECORDS);
  expect(await first({ column: 'size' })).toBe(1);
  expect(await first({ time: 'first_seen_time' })).toBe(1);
});

test('a time range ends before its start: 400', async () => {
  const time_range = { start_time: '2026-02-01', end_time: '2026-01-01' };
  const { status, body } = await service.call('POST', `${PATHS.b}/search`, { search, time_range });
  expect(status).toBe(400);
  expect(body.code).toBe('invalid_time');
});

test('a vector of the wrong length, and a text without a model, are different errors', async () => {
  const vector = await service.call('POST', `${PATHS.b}/search`, { search: { vector: [1, 0, 0] } });
  expect([vector.status, vector.body.code]).toEqual([400, 'invalid_dimensions']);
  const text = await service.call('POST', `${PATHS.b}/search`, { search: { text: 'x' } });
  expect([text.status, text.body.errors[0].pointer]).toEqual([400, '/search/text']);
});

test('a response has its times and the id of its request', async () => {
  const { headers } = await service.call(
    'POST',
    `${PATHS.b}/search`,
    { search },
    { 'x-request-id': 'mine-1' },
  );
  expect(headers.get('x-request-id')).toBe('mine-1');
  expect(headers.get('server-timing')).toMatch(/^embed;dur=[\d.]+, search;dur=[\d.]+, total;dur=[\d.]+$/);
  const other = await service.call('POST', `${PATHS.b}/search`, { search }, { 'x-request-id': 'a b' });
  expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a record moves with its vector, and a search sees it at once', async () => {
  await service.call('PUT', '/v1/databases/moving', { dimensions: 2 });
  const put = (vector: number[]) =>
    service.call('POST', '/v1/databases/moving/records', { records: [{ id: 1, data: {}, vector }] });
  const score = async () =>
    (await service.call('POST', '/v1/databases/moving/search', { search })).body.results[0].relevance_score;
  expect((await put([1, 0])).body.results[0].status).toBe('created');
  expect(await score()).toBe(1);
  expect((await put(at(Math.PI / 3))).body.results[0].status).toBe('changed');
  expect(await score()).toBeCloseTo(0.5, 6);
  expect((await put(at(Math.PI / 3))).body.results[0].status).toBe('unchanged');
});
