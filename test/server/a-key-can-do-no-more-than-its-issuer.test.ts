import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fan, Service } from './service.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start();
  for (const database of ['one', 'two']) {
    await service.call('PUT', `/v1/databases/${database}`, { dimensions: 2 });
    await service.call('POST', `/v1/databases/${database}/records`, { records: fan(10) });
  }
});
afterAll(() => service.stop());

const SOON = '2098-01-01T00:00:00.000Z';
const LATER = '2099-01-01T00:00:00.000Z';

const issue = (request: object, issuer = service.adminKey) =>
  service.call(
    'POST',
    '/v1/keys',
    { name: 'k', actions: ['search'], databases: ['one'], ...request },
    { 'x-api-key': issuer },
  );
const manager = (request: object = {}, issuer?: string) =>
  issue({ actions: ['keys.manage', 'search'], ...request }, issuer).then(({ body }) => body);
const revoke = async (keyId: string, query = '', key = service.adminKey) =>
  (await service.call('DELETE', `/v1/keys/${keyId}${query}`, undefined, { 'x-api-key': key })).status;
const listed = async (key = service.adminKey): Promise<string[]> => {
  const { body } = await service.call('GET', '/v1/keys', undefined, { 'x-api-key': key });
  return body.keys.map(({ key_id }: { key_id: string }) => key_id);
};
const isValid = async (key: string) =>
  (await service.call('GET', '/v1/databases/one/records/1', undefined, { 'x-api-key': key })).status !== 401;

describe('what exceeds the issuer is refused and named', () => {
  test.each([
    [{ actions: ['search', 'records.read'] }, '/actions/1', 'records.read'],
    [{ databases: ['one', 'two'] }, '/databases/1', '"two"'],
    [{ databases: '*' }, '/databases', 'every database'],
    [{ databases: ['*'] }, '/databases/0', 'every database'],
    [{ expires_at: LATER }, '/expires_at', SOON],
  ])('%j', async (request, pointer, named) => {
    const { key } = await manager({ expires_at: SOON });
    const { status, body } = await issue(request, key);
    expect([status, body.code]).toEqual([403, 'forbidden']);
    const detail = expect.stringContaining(named);
    expect(body.errors).toEqual([{ pointer, code: 'invalid_value', detail }]);
  });

  test('all of it at once', async () => {
    const { key } = await manager({ expires_at: SOON });
    const wanted = { actions: ['databases.manage'], databases: ['two'], expires_at: LATER };
    const { body } = await issue(wanted, key);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/actions/0',
      '/databases/0',
      '/expires_at',
    ]);
  });
});

test('a key expires with its issuer unless it is to expire earlier', async () => {
  const { key, expires_at } = await manager({ expires_at: LATER });
  expect(expires_at).toBe(LATER);
  expect((await issue({}, key)).body.expires_at).toBe(LATER);
  expect((await issue({ expires_at: SOON }, key)).body.expires_at).toBe(SOON);
  const child = await manager({ expires_at: SOON }, key);
  expect((await issue({}, child.key)).body.expires_at).toBe(SOON);
  expect((await issue({})).body.expires_at).toBeUndefined();
});

test('a key tells who issued it', async () => {
  const parent = await manager();
  const child = (await issue({}, parent.key)).body;
  expect([parent.issued_by, child.issued_by]).toEqual(['admin', parent.key_id]);
  const { body } = await service.call('GET', '/v1/keys');
  const found = body.keys.find(({ key_id }: { key_id: string }) => key_id === child.key_id);
  const { key: _, ...description } = child;
  expect(found).toEqual(description);
});

test('a key sees and revokes what it could have issued, and never those it descends from', async () => {
  const parent = await manager({ expires_at: LATER });
  const child = await manager({}, parent.key);
  const other = (await issue({ expires_at: SOON })).body;
  const forever = (await issue({})).body;
  const elsewhere = (await issue({ databases: ['two'], expires_at: SOON })).body;
  const seen = await listed(child.key);
  expect(seen).toEqual(expect.arrayContaining([child.key_id, other.key_id]));
  for (const hidden of [parent, forever, elsewhere]) {
    expect(seen).not.toContain(hidden.key_id);
    expect(await revoke(hidden.key_id, '?descendants=true', child.key)).toBe(404);
    expect(await isValid(hidden.key)).toBe(true);
  }
  expect(await revoke(other.key_id, '', child.key)).toBe(204);
  expect(await revoke(child.key_id, '', child.key)).toBe(204);
  expect(await isValid(child.key)).toBe(false);
});

test('revoking takes the descendants along where it is asked for, even those of a key that is gone', async () => {
  const family = async () => {
    const parent = await manager();
    const child = await manager({}, parent.key);
    const grandchild = (await issue({}, child.key)).body;
    return [parent, child, grandchild];
  };
  const validOf = (keys: { key: string }[]) => Promise.all(keys.map(({ key }) => isValid(key)));
  const bystander = (await issue({})).body;

  const alone = await family();
  expect(await revoke(alone[0].key_id)).toBe(204);
  expect(await validOf(alone)).toEqual([false, true, true]);
  // The child in between is gone when its parent's descendants are revoked.
  expect(await revoke(alone[1].key_id, '?descendants=false')).toBe(204);
  expect(await revoke(alone[0].key_id)).toBe(404);
  expect(await revoke(alone[0].key_id, '?descendants=true')).toBe(204);
  expect(await validOf(alone)).toEqual([false, false, false]);

  const together = await family();
  expect(await revoke(together[0].key_id, '?descendants=true')).toBe(204);
  expect(await validOf(together)).toEqual([false, false, false]);
  expect(await isValid(bystander.key)).toBe(true);
});

test.each(['?descendants=yes', '?descendants', '?decendants=true', '?descendants=true&descendants=true'])(
  'a wrong parameter revokes nothing: %s',
  async (query) => {
    const { key, key_id } = (await issue({})).body;
    expect(await revoke(key_id, query)).toBe(400);
    expect(await isValid(key)).toBe(true);
  },
);

test('a filter without conditions, as the guide shows it, is forced on both variants', async () => {
  const filter = {
    rules: [
      { rules: [{ column: 'even', operator: 'equals', value: true }] },
      { column: 'size', operator: 'less_than', value: 9 },
    ],
  };
  const { body } = await issue({ actions: ['search', 'records.read'], filter });
  expect(body.filter).toEqual({
    condition: 'AND',
    rules: [{ condition: 'AND', rules: filter.rules[0]?.rules }, filter.rules[1]],
  });
  const headers = { 'x-api-key': body.key };
  const answers = await Promise.all([
    service.call('POST', '/v1/databases/one/search', { search: { vector: [1, 0], threshold: 0 } }, headers),
    service.call(
      'POST',
      '/v1/databases/one/records/search',
      { search: { vector: [1, 0], threshold: 0 } },
      headers,
    ),
    service.call('POST', '/v1/databases/one/query', {}, headers),
    service.call('POST', '/v1/databases/one/records/query', {}, headers),
  ]);
  expect(answers.map(({ status, body }) => [status, body.results?.length])).toEqual(Array(4).fill([200, 4]));
  const { body: feed } = await service.call('GET', '/v1/databases/one/changes', undefined, headers);
  expect(feed.changes).toHaveLength(4);
});
