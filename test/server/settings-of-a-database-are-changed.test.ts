import { afterAll, beforeAll, expect, test } from 'vitest';
import { fan, Service } from './service.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

test('a merge patch changes settings, and requests of both variants take the defaults', async () => {
  const path = '/v1/databases/fan';
  await service.call('PUT', path, { dimensions: 2 });
  await service.call('POST', `${path}/records`, { records: fan(5) });
  await service.call('PUT', '/v1/aliases/current', { database: 'fan' });
  const changes = { defaults: { limit: 2, threshold: 0 } };
  for (const type of ['application/json', 'application/merge-patch+json']) {
    const changed = await service.call('PATCH', '/v1/databases/current', changes, { 'content-type': type });
    expect(changed).toMatchObject({ status: 200, body: { id: 'fan', defaults: changes.defaults } });
  }
  for (const route of ['records/search', 'search']) {
    const page = await service.call('POST', `${path}/${route}`, { search: { vector: [1, 0] } });
    expect(page.body.pagination.limit).toBe(2);
    const { next_cursor } = page.body.pagination;
    // A vector has no default but the threshold, which the cursor keeps.
    await service.call('PATCH', path, { defaults: { threshold: 1 } });
    const next = { search: { vector: [1, 0] }, pagination: { cursor: next_cursor, limit: 100 } };
    expect((await service.call('POST', `${path}/${route}`, next)).body.results).toHaveLength(3);
    await service.call('PATCH', path, { defaults: { threshold: 0 } });
  }
  for (const route of ['records/query', 'query']) {
    expect((await service.call('POST', `${path}/${route}`, {})).body.results).toHaveLength(2);
  }
  const batch = { searches: [{ search: { vector: [1, 0] } }, { search: { vector: [1, 0], threshold: 1 } }] };
  const { pages } = (await service.call('POST', `${path}/searches`, batch)).body;
  expect(pages.map(({ page }: { page: { results: unknown[] } }) => page.results.length)).toEqual([2, 1]);
  expect((await service.call('PATCH', path, { defaults: null })).body).not.toHaveProperty('defaults');
});

test('with flatten, both variants take nested objects and show columns', async () => {
  const path = '/v1/databases/people';
  const created = await service.call('PUT', path, { dimensions: 2, flatten: true });
  expect(created.body).toMatchObject({ flatten: true });
  const record = { id: 1, data: { at: { city: 'Rome' } }, vector: [1, 0] };
  const line = (id: number) => `${JSON.stringify({ ...record, id })}\n`;
  await service.call('POST', `${path}/records`, { records: [record] });
  const ndjson = { 'content-type': 'application/x-ndjson' };
  await service.call('PUT', `${path}/records`, line(1) + line(2), ndjson);
  const filter = { condition: 'AND', rules: [{ column: 'at.city', operator: 'equals', value: 'Rome' }] };
  for (const route of ['records/query', 'query']) {
    const { results } = (await service.call('POST', `${path}/${route}`, { filter })).body;
    expect(results.map(({ data }: { data: object }) => data)).toEqual([
      { 'at.city': 'Rome' },
      { 'at.city': 'Rome' },
    ]);
  }
  const refused = await service.call('PATCH', path, { flatten: 1 });
  expect(refused.body).toMatchObject({ status: 400, errors: [{ pointer: '/flatten' }] });
  expect((await service.call('PATCH', path, { flatten: false })).body).not.toHaveProperty('flatten');
  const nested = await service.call('POST', `${path}/records`, { records: [record] });
  expect(nested.body).toMatchObject({
    status: 400,
    errors: [{ pointer: '/records/0/data/at', code: 'wrong_type' }],
  });
});

test('a key needs the action to manage databases', async () => {
  const { body } = await service.call('POST', '/v1/keys', {
    name: 'reader',
    actions: ['search', 'records.read', 'records.write'],
    databases: '*',
  });
  const key = { 'x-api-key': body.key };
  expect((await service.call('PATCH', '/v1/databases/fan', {}, key)).body).toMatchObject({
    status: 403,
    code: 'forbidden',
  });
});
