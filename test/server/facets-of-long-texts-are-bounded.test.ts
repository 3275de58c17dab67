import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from './service.js';

const LIMIT = 100_000;
let service: Service;

beforeAll(async () => {
  service = await Service.start({ limitPageBytes: LIMIT });
  await service.call('PUT', '/v1/databases/one', { dimensions: 2 });
  const records = Array.from({ length: 30 }, (_, i) => ({
    id: i + 1,
    data: { text: String(i).padStart(2, '0').repeat(5_000), size: i },
    vector: [1, 0],
  }));
  await service.call('POST', '/v1/databases/one/records', { records });
});
afterAll(() => service.stop());

const operations = [
  ['search', { search: { vector: [1, 0], threshold: 0 } }],
  ['query', {}],
] as const;

test.each(operations)('of a %s', async (operation, request) => {
  const ask = (facets: object[]) =>
    service.call('POST', `/v1/databases/one/${operation}`, { ...request, facets, pagination: { limit: 1 } });
  const fits = await ask([
    { column: 'size', limit: 30 },
    { column: 'text', limit: 9 },
  ]);
  expect(fits.status).toBe(200);
  expect(fits.body.facets[1].values).toHaveLength(9);
  // All facets of a request share the limit.
  const refused = await ask([
    { column: 'text', limit: 9 },
    { column: 'text', limit: 2 },
  ]);
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
  expect(refused.body.errors[0].pointer).toBe('/facets/1');
  expect(refused.body.errors[0].detail).toContain('lower limit');
});
