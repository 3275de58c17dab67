import { afterAll, beforeAll, expect, test } from 'vitest';
import { Service } from './service.js';

const LIMIT = 400;
const UUID = '00000000-0000-4000-8000-000000000001';
const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };

let service: Service;
let databases = 0;

beforeAll(async () => {
  service = await Service.start({ limitRecordBytes: LIMIT });
});
afterAll(() => service.stop());

/** Creates a database with one record; returns the path of the database. */
async function fresh(data: object = { title: 'secret', price: 1, shown: true }): Promise<string> {
  const at = `/v1/databases/d${++databases}`;
  await service.call('PUT', at, { dimensions: 2 });
  await service.call('POST', `${at}/records`, { records: [{ id: 1, uuid: UUID, data, vector: [3, 4] }] });
  return at;
}

async function issue(settings: object): Promise<Record<string, string>> {
  const { body } = await service.call('POST', '/v1/keys', { name: 'test', databases: '*', ...settings });
  return { 'x-api-key': body.key };
}

test('a patch is taken as a merge patch and as JSON, and answered with the record', async () => {
  const at = await fresh();
  const merged = await service.call('PATCH', `${at}/records/1`, { data: { price: 2 } }, MERGE_PATCH);
  expect([merged.status, merged.body.id]).toEqual([200, 1]);
  expect(merged.body.data).toEqual({ title: 'secret', price: 2, shown: true });
  const removed = await service.call('PATCH', `${at}/records/${UUID}`, { data: { title: null } });
  expect(removed.body).toMatchObject({ id: UUID, data: { price: 2, shown: true } });
  expect((await service.call('GET', `${at}/records/${UUID}`)).text).toBe(removed.text);
  const kinds = (await service.call('GET', `${at}/changes`)).body.changes.map(
    ({ kind }: { kind: string }) => kind,
  );
  expect(kinds).toEqual(['created', 'changed', 'changed']);
});

test('other media types, bodies and ids are refused', async () => {
  const at = await fresh();
  const patch = (path: string, body: unknown, headers = {}) =>
    service.call('PATCH', at + path, body, headers);
  const outcome = async (path: string, body: unknown, headers = {}) => {
    const { status, body: problem } = await patch(path, body, headers);
    return [status, problem.code];
  };
  for (const type of ['application/x-ndjson', 'application/json-patch+json', 'text/plain']) {
    const refused = [415, 'unsupported_media_type'];
    expect(await outcome('/records/1', '{"data":{}}', { 'content-type': type }), type).toEqual(refused);
  }
  const plain = await patch('/records/1', '{}', { 'content-type': 'text/plain' });
  expect(plain.body.detail).toBe(
    'content-type is "text/plain"; send the body as application/json or application/merge-patch+json',
  );
  expect(await outcome('/records/1', undefined)).toEqual([400, 'invalid_request']);
  for (const headers of [{}, MERGE_PATCH]) {
    expect(await outcome('/records/1', '', headers)).toEqual([400, 'invalid_json']);
  }
  expect(await outcome('/records/x', {})).toEqual([400, 'invalid_request']);
  expect(await outcome('/records/2', {})).toEqual([404, 'record_not_found']);
  const wrong = await patch('/records/1', { data: { price: 2, tags: { a: 1 } }, id: 2 });
  expect([wrong.status, wrong.body.code]).toEqual([400, 'invalid_record']);
  expect(wrong.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/data/tags', '/id']);
  const search = await service.call('POST', `${at}/search`, { search: { vector: [1, 0] } }, MERGE_PATCH);
  expect(search.status, 'only patches may be merge patches').toBe(415);
  expect((await service.call('GET', `${at}/records/1`)).body.data.price).toBe(1);
});

test('the limit of a record applies to the body and to the merged record', async () => {
  const at = await fresh({ long: 'x'.repeat(300) });
  const patch = (text: string) => service.call('PATCH', `${at}/records/1`, { data: { more: text } });
  const body = await patch('y'.repeat(LIMIT));
  expect([body.status, body.body.code]).toEqual([413, 'too_large']);
  const merged = await patch('y'.repeat(LIMIT - 300));
  expect([merged.status, merged.body.errors]).toMatchObject([413, [{ pointer: '/data', code: 'too_large' }]]);
  expect((await patch('y'.repeat(50))).status).toBe(200);
});

test('a key that may not read sees only the columns that it sets', async () => {
  const at = await fresh({ title: 'secret', price: 1, note: 'secret too', none: null });
  const writer = await issue({ actions: ['records.write'] });
  const patch = (data: object | undefined) => service.call('PATCH', `${at}/records/1`, { data }, writer);
  for (const [changes, shown] of [
    [undefined, {}],
    [{}, {}],
    [{ price: 2, note: null }, { price: 2 }],
    [{ price: 2 }, { price: 2 }],
    [{ note: null }, {}],
    [{ __proto__x: 1 }, { __proto__x: 1 }],
  ] as const) {
    const { status, body, text } = await patch(changes);
    expect([status, body.id, body.data], text).toEqual([200, 1, shown]);
    expect(text).not.toContain('secret');
  }
  const { body } = await service.call('GET', `${at}/records/1`);
  expect(body.data).toEqual({ title: 'secret', price: 2, none: null, __proto__x: 1 });
});

test('a key that may not read sees only the members that it sets', async () => {
  await service.call('PUT', '/v1/databases/nested', { dimensions: 2, flatten: true });
  const at = '/v1/databases/nested';
  const data = { a: { b: 1, c: { d: 'secret' } }, 'a.e': 'secret' };
  await service.call('POST', `${at}/records`, { records: [{ id: 1, data, vector: [1, 0] }] });
  const writer = await issue({ actions: ['records.write'] });
  const changes = { data: { a: { b: 2, c: { f: 3 } } } };
  const { body, text } = await service.call('PATCH', `${at}/records/1`, changes, writer);
  expect(body.data).toEqual({ 'a.b': 2, 'a.c.f': 3 });
  expect(text).not.toContain('secret');
});

test('a key needs the action, and has no filter', async () => {
  const at = await fresh();
  const rules = [{ column: 'shown', operator: 'equals', value: true }];
  for (const key of [
    await issue({ actions: ['records.read', 'search'] }),
    await issue({ actions: ['records.read', 'records.write'], filter: { rules } }),
  ]) {
    const { status, body } = await service.call('PATCH', `${at}/records/1`, { data: { price: 9 } }, key);
    expect([status, body.code]).toEqual([403, 'forbidden']);
  }
  const elsewhere = await issue({ actions: ['records.write'], databases: ['other'] });
  expect((await service.call('PATCH', `${at}/records/1`, {}, elsewhere)).body.code).toBe(
    'database_not_found',
  );
  expect((await service.call('GET', `${at}/records/1`)).body.data.price).toBe(1);
});
