import { afterAll, beforeAll, expect, test } from 'vitest';
import { fan, Service } from './service.js';

const RECORDS = 300;
const search = { vector: [1, 0], threshold: 0 };
let service: Service;

beforeAll(async () => {
  service = await Service.start();
  for (const [id, settings] of [
    ['fast', { dimensions: 2, approximate: true }],
    ['exact', { dimensions: 2 }],
  ] as const) {
    const made = await service.call('PUT', `/v1/databases/${id}`, settings);
    expect(made.status).toBe(201);
    expect(made.body.approximate).toBe(id === 'fast');
    await service.call('POST', `/v1/databases/${id}/records`, { records: fan(RECORDS) });
  }
});
afterAll(() => service.stop());

test('the page of an approximate search says so, and other searches are exact', async () => {
  for (const path of ['/v1/databases/fast', '/v1/databases/fast/records']) {
    const variant = path.endsWith('records') ? 'a' : 'b';
    const exact = await service.call('POST', `${path}/search`, { search });
    expect(exact.body).not.toHaveProperty('approximate');
    const page = await service.call('POST', `${path}/search`, { search, approximate: true, explain: true });
    expect(page.status, variant).toBe(200);
    expect(page.body.approximate).toBe(true);
    expect(page.body.explain.approximate.not_used).toMatch(/small/);
    const ids = (body: { results: { id: unknown }[] }) => body.results.map(({ id }) => id);
    expect(ids(page.body)).toEqual(ids(exact.body));
  }
});

test('the description contains the state of the index', async () => {
  const fast = await service.call('GET', '/v1/databases/fast');
  expect(fast.body).toMatchObject({ approximate: true, approximate_records: RECORDS });
  const exact = await service.call('GET', '/v1/databases/exact');
  expect(exact.body.approximate).toBe(false);
  expect(exact.body).not.toHaveProperty('approximate_records');
});

test('the setting is one of those that a database is made with', async () => {
  const made = (id: string, approximate: boolean) =>
    service.call('PUT', `/v1/databases/${id}`, { dimensions: 2, approximate });
  expect((await made('exact', false)).status).toBe(200);
  expect((await made('exact', true)).status).toBe(409);
  expect((await made('fast', true)).status).toBe(200);
});

test.each([
  ['without an index', 'exact', {}],
  ['with total', 'fast', { total: true }],
  ['with facets', 'fast', { facets: [{ column: 'even' }] }],
])('%s it is refused', async (_, id, members) => {
  const answer = await service.call('POST', `/v1/databases/${id}/search`, {
    search,
    approximate: true,
    ...members,
  });
  expect(answer.status).toBe(400);
  expect(answer.body.code).toBe('invalid_request');
  expect(answer.body.errors[0].pointer).toBe('/approximate');
});

test('a filter-only query has no such member', async () => {
  const answer = await service.call('POST', '/v1/databases/fast/query', { approximate: true });
  expect(answer.status).toBe(400);
});
