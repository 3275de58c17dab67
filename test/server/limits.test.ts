import { afterEach, expect, test } from 'vitest';
import { Service } from './service.js';

const services: Service[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.stop();
});

const begin = async (flags: Record<string, unknown>) => {
  const service = await Service.start(flags);
  services.push(service);
  await service.call('PUT', '/v1/databases/some', { dimensions: 2 });
  return service;
};

const records = (count: number) => ({
  records: Array.from({ length: count }, (_, i) => ({ id: i + 1, data: { n: i }, vector: [1, i] })),
});
const nested = (depth: number): object => {
  const rule = { column: 'n', operator: 'equals', value: 0 };
  return { condition: 'AND', rules: [depth > 1 ? nested(depth - 1) : rule] };
};
const wide = (rules: number, value: unknown = 0) => ({
  condition: 'OR',
  rules: Array.from({ length: rules }, () => ({ column: 'n', operator: 'equals', value })),
});

test('limits that were raised let through what the defaults refuse', async () => {
  const service = await begin({
    limitBatchRecords: 1500,
    limitFilterDepth: 40,
    limitFilterRules: 1500,
    limitFilterValueBytes: 20_000,
  });
  const document = await service.call('GET', '/openapi.json');
  expect(document.body.components.schemas.Batch.properties.records.maxItems).toBe(1500);
  const stored = await service.call('POST', '/v1/databases/some/records', records(1500));
  expect([stored.status, stored.body.created]).toEqual([200, 1500]);
  for (const [filter, found] of [
    [nested(40), 1],
    [wide(1500), 1],
    [wide(1, 'x'.repeat(20_000)), 0],
  ] as const) {
    for (const request of [{ filter }, { filter, search: { vector: [1, 0], threshold: 0 } }]) {
      const target = `/v1/databases/some/${'search' in request ? 'search' : 'query'}`;
      const answer = await service.call('POST', target, request);
      expect([answer.status, answer.body.results?.length], target).toEqual([200, found]);
    }
  }
});

test('limits that were lowered refuse what the defaults let through', async () => {
  const service = await begin({ limitBatchRecords: 2, limitFilterDepth: 2, limitFilterRules: 3 });
  const refused = await service.call('POST', '/v1/databases/some/records', records(3));
  expect([refused.status, refused.body.code]).toEqual([400, 'invalid_record']);
  expect(refused.body.errors[0].code).toBe('too_many_records');
  expect((await service.call('POST', '/v1/databases/some/records', records(2))).status).toBe(200);
  for (const filter of [nested(3), wide(4)]) {
    const answer = await service.call('POST', '/v1/databases/some/query', { filter });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_filter']);
  }
  for (const filter of [nested(2), wide(3)]) {
    expect((await service.call('POST', '/v1/databases/some/query', { filter })).status).toBe(200);
  }
});

test('a filter of the most rules and listed values, each rule in its own group, fits beside the longest vector', async () => {
  const service = await begin({});
  await service.call('PUT', '/v1/databases/long', { dimensions: 4_096 });
  const values = Array.from({ length: 10 }, (_, at) => at);
  const group = { condition: 'AND', rules: [{ column: 'a', operator: 'in', value: values }] };
  const filter = { condition: 'OR', rules: Array.from({ length: 1_000 }, () => group) };
  const vector = Array.from({ length: 4_096 }, () => 1);
  const answer = await service.call('POST', '/v1/databases/long/search', { filter, search: { vector } });
  expect([answer.status, answer.body.results]).toEqual([200, []]);
});

test('a vector of another length and an unusable vector have different codes', async () => {
  const service = await begin({});
  const post = (vector: number[]) =>
    service.call('POST', '/v1/databases/some/records', { records: [{ id: 1, data: {}, vector }] });
  const long = await post([1, 2, 3]);
  expect([long.status, long.body.code]).toEqual([400, 'invalid_dimensions']);
  expect(long.body.errors).toEqual([
    {
      pointer: '/records/0/vector',
      code: 'invalid_dimensions',
      detail: 'vector has 3 values, database expects 2',
    },
  ]);
  expect((await post([0, 0])).body.code).toBe('invalid_vector');
});
