import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/server/variants/variants.js';
import { exchange } from './exchange.js';
import { fan, JSON_TYPE, Service } from './service.js';

// A cache keys responses by their URL, not by `x-api-key`. It would show one key what another may see.

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(3) });
});
afterAll(() => service.stop());

/** Responses with an entity tag may be stored, but are used again only after the service has checked the key. */
const TAGGED: Record<string, string> = {
  describeDatabase: 'private, no-cache',
  openapi: 'no-cache',
  docs: 'no-cache',
  page: 'no-cache',
};

const fill = (path: string) =>
  path
    .replace('{id}', 'fan')
    .replace('{rid}', '1')
    .replaceAll(/\{\w+\}/g, 'a');
const GETS = Object.entries(OPERATIONS).filter(([, { method }]) => method === 'GET');

test.each(GETS)('%s', async (operation, { path }) => {
  const expected = TAGGED[operation] ?? 'no-store';
  for (const method of ['GET', 'HEAD']) {
    const { headers } = await exchange(service, method, fill(path), { 'x-api-key': service.adminKey });
    expect(headers['cache-control'], method).toBe(expected);
  }
});

test.each([
  ['an unknown key', 'GET', '/v1/databases/fan', { 'x-api-key': 'x' }, 401],
  ['an unknown path', 'GET', '/v1/nothing', {}, 404],
  ['a path that cannot be decoded', 'GET', '/v1/databases/%zz', {}, 400],
  ['a method that the path does not take', 'PUT', '/v1/databases', {}, 405],
  ['a missing record', 'GET', '/v1/databases/fan/records/9', {}, 404],
  ['a missing database', 'GET', '/v1/databases/none', {}, 404],
  ['a search', 'POST', '/v1/databases/fan/search', JSON_TYPE, 200],
] as const)('%s', async (_, method, target, given, status) => {
  const body = method === 'POST' ? '{"search":{"vector":[1,0]}}' : undefined;
  const response = await exchange(service, method, target, { 'x-api-key': service.adminKey, ...given }, body);
  expect([response.status, response.headers['cache-control']]).toEqual([status, 'no-store']);
});
