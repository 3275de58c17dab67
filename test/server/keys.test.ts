import { createHash } from 'node:crypto';
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCode } from '../../src/errors.js';
import type { KeyRequest } from '../../src/schema/index.js';
import { adminKey, storeAdminKey } from '../../src/server/keys/admin-key.js';
import { fileKeys } from '../../src/server/keys/key-file.js';
import type { KeyStore } from '../../src/server/keys/key-store.js';
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

const issue = async (request: object, headers: Record<string, string> = {}) =>
  service.call(
    'POST',
    '/v1/keys',
    { name: 'k', actions: ['search'], databases: ['one'], ...request },
    headers,
  );
const holder = async (request: object) => ({ 'x-api-key': (await issue(request)).body.key as string });
const search = (database: string, headers: Record<string, string>, request: object = {}) =>
  service.call(
    'POST',
    `/v1/databases/${database}/search`,
    { search: { vector: [1, 0] }, ...request },
    headers,
  );

describe('no key, no service', () => {
  test.each([
    ['none', ''],
    ['a wrong one', 'cosift_nonsense'],
    ['a well-formed one that was never issued', `cosift_${'a'.repeat(12)}_${'b'.repeat(49)}`],
  ])('%s', async (_, key) => {
    const answer = await search('one', { 'x-api-key': key });
    expect([answer.status, answer.body.code]).toEqual([401, 'unauthorized']);
    expect(answer.headers.get('www-authenticate')).toContain('x-api-key');
  });

  test.each(['/livez', '/readyz', '/openapi.json', '/docs'])('but %s is open', async (target) => {
    expect((await service.call('GET', target, undefined, { 'x-api-key': '' })).status).toBe(200);
  });

  test('an unknown key learns nothing from a bad body', async () => {
    const answer = await service.call('POST', '/v1/databases/one/search', '{', { 'x-api-key': 'x' });
    expect(answer.status).toBe(401);
  });
});

test('a key is issued, works, is listed without its secret, and is revoked at once', async () => {
  const issued = await issue({ name: 'website' });
  expect(issued.status).toBe(201);
  const { key, key_id, ...description } = issued.body;
  expect(key).toMatch(new RegExp(`^cosift_${key_id}_[0-9A-Za-z]{49}$`));
  expect(description).toMatchObject({ name: 'website', actions: ['search'], databases: ['one'] });
  expect((await search('one', { 'x-api-key': key })).status).toBe(200);

  const listed = await service.call('GET', '/v1/keys');
  expect(listed.body.keys).toContainEqual({ key_id, ...description });
  expect(listed.text).not.toContain(key);
  const kept = await readFile(path.join(service.directory, 'keys.json'), 'utf8');
  expect(kept).toContain(key_id);
  expect(kept).not.toContain(key.slice(-49));

  expect((await service.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
  expect((await search('one', { 'x-api-key': key })).status).toBe(401);
  expect((await service.call('DELETE', `/v1/keys/${key_id}`)).body.code).toBe('key_not_found');
});

test('a key that searches only sees no vectors', async () => {
  const asked = async (headers: Record<string, string>, request: object) => {
    const statuses: unknown[] = [];
    for (const path of ['/records/search', '/search', '/records/query', '/query']) {
      const body = { ...(path.endsWith('search') && { search: { vector: [1, 0] } }), ...request };
      const answer = await service.call('POST', `/v1/databases/one${path}`, body, headers);
      statuses.push(answer.status === 200 ? 'vector' in answer.body.results[0] : answer.body.code);
    }
    return [...new Set(statuses)];
  };
  const searcher = await holder({});
  expect(await asked(searcher, { vectors: true })).toEqual(['forbidden']);
  expect(await asked(searcher, { vectors: false })).toEqual([false]);
  const both = await holder({ actions: ['search', 'records.read'] });
  expect(await asked(both, { vectors: true })).toEqual([true]);
  const read = async (query: string, headers: Record<string, string>) =>
    await service.call('GET', `/v1/databases/one/records/1${query}`, undefined, headers);
  expect((await read('?vectors=true', searcher)).body.code).toBe('forbidden');
  expect((await read('?vectors=true', both)).body.vector).toEqual([1, 0]);
  expect((await read('', both)).body).not.toHaveProperty('vector');
  expect((await read('?vectors=1', both)).status).toBe(400);
});

test('a key does what its actions say, and nothing else', async () => {
  const reader = await holder({ actions: ['records.read'] });
  expect((await search('one', reader)).body.code).toBe('forbidden');
  expect((await service.call('GET', '/v1/databases/one/records/1', undefined, reader)).status).toBe(200);
  expect((await service.call('DELETE', '/v1/databases/one/records/1', undefined, reader)).status).toBe(403);
  expect((await service.call('GET', '/v1/keys', undefined, reader)).status).toBe(403);
  expect((await service.call('GET', '/metrics', undefined, reader)).status).toBe(403);
  const { body } = await service.call('GET', '/v1/databases', undefined, reader);
  expect(body.databases.map(({ id }: { id: string }) => id)).toEqual(['one']);
});

describe('a database that a key does not see looks like one that does not exist', () => {
  test.each([
    ['a good request', {}],
    ['a bad request', { serach: 1 }],
    ['a bad cursor', { pagination: { cursor: 'x' } }],
  ])('%s', async (_, request) => {
    const headers = await holder({});
    const hidden = await search('two', headers, request);
    const absent = await search('xyz', headers, request);
    const told = ({ status, text, body }: typeof hidden) => [
      status,
      text.replaceAll(body.request_id, '').replaceAll('two', 'xyz'),
    ];
    expect(told(hidden)).toEqual(told(absent));
    expect([400, 404]).toContain(hidden.status);
  });

  test('it cannot be made or dropped either', async () => {
    const headers = await holder({ actions: ['databases.manage'] });
    for (const method of ['PUT', 'DELETE', 'GET']) {
      const answer = await service.call(method, '/v1/databases/two', undefined, headers);
      expect([answer.status, answer.body.code]).toEqual([404, 'database_not_found']);
    }
  });
});

test('a record outside the filter of a key does not exist for it', async () => {
  const filter = { rules: [{ column: 'even', operator: 'equals', value: true }] };
  const headers = await holder({ actions: ['search', 'records.read', 'records.write'], filter });
  const found = await search('one', headers, { search: { vector: [1, 0], threshold: 0 }, total: true });
  expect(found.body.results.map(({ id }: { id: number }) => id)).toEqual([2, 4, 6, 8, 10]);
  expect(found.body.total).toEqual({ value: 5 });
  // Its own filter cannot widen it.
  const wider = await search('one', headers, {
    filter: { condition: 'OR', rules: [{ column: 'even', operator: 'is_not_empty' }] },
    search: { vector: [1, 0], threshold: 0 },
  });
  expect(wider.body.results).toHaveLength(5);
  const query = await service.call('POST', '/v1/databases/one/query', {}, headers);
  expect(query.body.results).toHaveLength(5);
  const read = (rid: number) => service.call('GET', `/v1/databases/one/records/${rid}`, undefined, headers);
  expect((await read(2)).status).toBe(200);
  expect((await read(1)).body.code).toBe('record_not_found');
  const remove = (rid: number) =>
    service.call('DELETE', `/v1/databases/one/records/${rid}`, undefined, headers);
  expect((await remove(1)).status).toBe(404);
  const many = await service.call('POST', '/v1/databases/one/records/delete', { ids: [1, 3] }, headers);
  expect(many.body.deleted).toBe(0);
  const { body: feed } = await service.call('GET', '/v1/databases/one/changes', undefined, headers);
  expect(feed.changes.map(({ id }: { id: number }) => id)).toEqual([2, 4, 6, 8, 10]);
  const upsert = { records: [{ id: 1, data: { even: true }, vector: [1, 0] }] };
  expect((await service.call('POST', '/v1/databases/one/records', upsert, headers)).status).toBe(403);
  expect((await service.call('GET', '/v1/databases/one', undefined, headers)).status).toBe(403);
});

describe('a key gives no more than it has', () => {
  test('neither actions nor databases', async () => {
    const manager = await holder({ actions: ['keys.manage', 'search'] });
    expect((await issue({ actions: ['search'] }, manager)).status).toBe(201);
    expect((await issue({ actions: ['records.read'] }, manager)).body.code).toBe('forbidden');
    expect((await issue({ databases: '*' }, manager)).body.code).toBe('forbidden');
    expect((await issue({ databases: ['two'] }, manager)).body.code).toBe('forbidden');
    // And it neither sees nor revokes what it could not have issued.
    const other = (await issue({ databases: ['two'] })).body.key_id;
    expect((await service.call('DELETE', `/v1/keys/${other}`, undefined, manager)).status).toBe(404);
    const { body } = await service.call('GET', '/v1/keys', undefined, manager);
    expect(body.keys.map(({ key_id }: { key_id: string }) => key_id)).not.toContain(other);
  });

  test.each([
    [{ actions: ['keys.manage'], filter: { rules: [{ column: 'a', operator: 'is_empty' }] } }, '/actions'],
    [{ expires_at: '2001-01-01' }, '/expires_at'],
    [{ expires_at: 'tomorrow' }, '/expires_at'],
    [{ databases: [] }, '/databases'],
    [{ actions: ['everything'] }, '/actions/0'],
    [{ filter: { rules: [] } }, '/filter/rules'],
  ])('refuses %j', async (request, pointer) => {
    const { status, body } = await issue(request);
    expect(status).toBe(400);
    expect(body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer);
  });
});

test('a key expires to the millisecond', async () => {
  const admin = (await adminKey(service.directory, undefined)).key;
  const keys = fileKeys(path.join(service.directory, 'elsewhere'), admin);
  const caller = await keys.authenticate(admin);
  if (caller === undefined) throw new Error('the admin key is not taken');
  const expires = Date.now() + 60_000;
  const { key } = await keys.issue(
    { name: 'k', actions: ['search'], databases: '*', expires_at: new Date(expires).toISOString() },
    caller,
  );
  expect((await keys.authenticate(key, { now: expires - 1 }))?.actions.has('search')).toBe(true);
  expect(await keys.authenticate(key, { now: expires })).toBeUndefined();
});

test('keys outlive a restart; a lost race between two changes does not exist', async () => {
  const directory = path.join(service.directory, 'restart');
  const keys = fileKeys(directory, 'admin');
  const caller = await keys.authenticate('admin');
  if (caller === undefined) throw new Error('the admin key is not taken');
  const issued = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      keys.issue({ name: `k${i}`, actions: ['search'], databases: '*' }, caller),
    ),
  );
  const [gone] = issued;
  if (gone !== undefined) await keys.revoke(gone.key_id, caller);
  const again = fileKeys(directory, 'admin');
  const callers = await Promise.all(issued.map(({ key }) => again.authenticate(key)));
  expect(callers.map((caller) => caller !== undefined)).toEqual(issued.map((key) => key !== gone));
});

test('two processes that change the keys of one directory at once lose nothing, and see each other at once', async () => {
  const directory = path.join(service.directory, 'shared');
  const stores = [fileKeys(directory, 'admin'), fileKeys(directory, 'admin')];
  const caller = await stores[0]?.authenticate('admin');
  if (caller === undefined) throw new Error('the admin key is not taken');
  // On a slow disk, a change may wait too long for its turn. It has changed nothing then.
  const untilChanged = async <T>(change: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await change();
      } catch (error) {
        if (!isCode(error, 'busy')) throw error;
      }
    }
  };
  const issued = await Promise.all(
    Array.from({ length: 40 }, (_, i) => {
      const request: KeyRequest = { name: `k${i}`, actions: ['search'], databases: '*' };
      return untilChanged(() => (stores[i % 2] as KeyStore).issue(request, caller));
    }),
  );
  const known = async (keys: KeyStore) => {
    const callers = await Promise.all(issued.map(({ key }) => keys.authenticate(key)));
    return callers.filter((caller) => caller !== undefined).length;
  };
  expect(await Promise.all(stores.map(known))).toEqual([40, 40]);
  await Promise.all(
    issued.map(({ key_id }, i) =>
      untilChanged(() => (stores[(i + 1) % 2] as KeyStore).revoke(key_id, caller)),
    ),
  );
  expect(await Promise.all(stores.map(known))).toEqual([0, 0]);
});

test('a lock that a crash left holds up changes for a while only', async () => {
  const directory = path.join(service.directory, 'crashed');
  const keys = fileKeys(directory, 'admin');
  const caller = await keys.authenticate('admin');
  if (caller === undefined) throw new Error('the admin key is not taken');
  await keys.issue({ name: 'k', actions: ['search'], databases: '*' }, caller);
  const lock = path.join(directory, 'keys.json.lock');
  await writeFile(lock, '');
  const old = new Date(Date.now() - 60_000);
  await utimes(lock, old, old);
  await keys.issue({ name: 'k', actions: ['search'], databases: '*' }, caller);
  expect(await keys.list(caller)).toHaveLength(2);
});

test('the admin key is made once, for the owner only, and a given one replaces it', async () => {
  const directory = path.join(service.directory, 'first');
  const first = await adminKey(directory, undefined);
  expect(first.made).toBe(true);
  await storeAdminKey(first);
  expect((await stat(first.file)).mode & 0o777).toBe(0o600);
  expect(await adminKey(directory, undefined)).toEqual({ ...first, made: false });
  expect((await adminKey(directory, 'mine')).key).toBe('mine');
});

test('looking up a key costs one SHA-256, and the file is read again only when it was replaced', async () => {
  const { key, key_id } = (await issue({})).body;
  const keys = fileKeys(service.directory, service.adminKey);
  const stored = await readFile(path.join(service.directory, 'keys.json'), 'utf8');
  expect(stored).toContain(createHash('sha256').update(key).digest('hex'));
  // Callers are made when the file is read: the same object comes from the same reading.
  const first = await keys.authenticate(key);
  expect(first?.keyId).toBe(key_id);
  for (let i = 0; i < 1_000; i++) expect((await keys.authenticate(key)) === first).toBe(true);
  await issue({});
  const second = await keys.authenticate(key);
  expect(second).toEqual(first);
  expect(second).not.toBe(first);
  expect(await keys.authenticate(key)).toBe(second);
  expect((await keys.authenticate(service.adminKey))?.keyId).toBe('admin');
});
