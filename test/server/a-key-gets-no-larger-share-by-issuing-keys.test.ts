import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_ZERO, Raw, request, untilGauges } from './raw.js';
import { JSON_TYPE, Service } from './service.js';

let service: Service;

beforeAll(async () => {
  service = await Service.start({ webhookAllow: ['127.0.0.1'] });
  for (const id of ['a', 'b', 'c']) await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
});
afterAll(() => service.stop());

const WANTED = { actions: ['records.read', 'records.write', 'databases.manage'], databases: ['a', 'b'] };

/** A key with `keys.manage`, and two keys that it issued. */
async function family(): Promise<string[]> {
  const issue = async (actions: string[], headers = {}) =>
    (await service.call('POST', '/v1/keys', { name: 'some', ...WANTED, actions }, headers)).body
      .key as string;
  const parent = await issue([...WANTED.actions, 'keys.manage']);
  const children = [1, 2].map(() => issue(WANTED.actions, { 'x-api-key': parent, ...JSON_TYPE }));
  return [parent, ...(await Promise.all(children))];
}

/** Another key of the admin. */
async function stranger(): Promise<string> {
  return (await service.call('POST', '/v1/keys', { name: 'other', ...WANTED })).body.key;
}

const record = { records: [{ id: 1, data: {}, vector: [1, 0] }] };
const write = (key: string) =>
  service.call('POST', '/v1/databases/b/records', record, { 'x-api-key': key, ...JSON_TYPE });
const wait = (key: string) => request(key, 'GET', '/v1/databases/a/changes?after=0&wait=60');

test('bodies that do not arrive hold no place among the writes', async () => {
  const keys = [...(await family()), await stranger()];
  const bodies = keys.flatMap((key) =>
    Array.from({ length: 12 }, () => {
      const raw = new Raw(service);
      raw.socket.write(request(key, 'POST', '/v1/databases/a/records', '{', { 'content-length': '60' }));
      return raw;
    }),
  );
  await untilGauges(service, { 'in_flight_bytes bodies': 48 * 60, 'in_flight writes': 0 });
  expect((await write(keys[0]!)).status).toBe(200);
  expect((await write(service.adminKey)).status).toBe(200);
  for (const { socket } of bodies) socket.destroy();
  await untilGauges(service, ALL_ZERO);
});

test('waits of a key and of the keys that it issued are one share, beside which others wait', async () => {
  const [parent = '', ...children] = await family();
  const raws: Raw[] = [];
  const open = (key: string, count: number) => {
    for (let i = 0; i < count; i++) {
      const raw = new Raw(service);
      raw.socket.write(wait(key));
      raws.push(raw);
    }
  };
  // 1,024 waits, of which a key has 768, and a key that it issued 576.
  for (const child of children) open(child, 600);
  await untilGauges(service, { 'in_flight waits': 768 });
  for (const key of [parent, ...children]) {
    const { status, body } = await changes(key);
    expect([status, body.code]).toEqual([503, 'busy']);
  }
  expect((await changes(await stranger())).status).toBe(200);
  // All of the rest.
  const other = await stranger();
  open(other, 256);
  await untilGauges(service, { 'in_flight waits': 1024 });
  expect((await changes(other)).status).toBe(503);
  expect((await changes(service.adminKey)).status).toBe(200);
  for (const { socket } of raws) socket.destroy();
  await untilGauges(service, ALL_ZERO);
});

const changes = (key: string) =>
  service.call('GET', '/v1/databases/a/changes?after=0', undefined, { 'x-api-key': key });

test('webhooks of a key and of the keys that it issued are one share', async () => {
  const keys = await family();
  const create = async (key: string, database: string) => {
    const headers = { 'x-api-key': key, ...JSON_TYPE };
    const url = 'http://127.0.0.1:9/';
    return (await service.call('POST', `/v1/databases/${database}/webhooks`, { url }, headers)).status;
  };
  for (let i = 0; i < 75; i++) expect(await create(keys[i % 3]!, i < 40 ? 'a' : 'b')).toBe(201);
  for (const key of keys) expect(await create(key, 'a')).toBe(503);
  const other = await stranger();
  for (let i = 0; i < 25; i++) expect(await create(other, 'b')).toBe(201);
  expect(await create(other, 'a')).toBe(503);
  expect(await create(service.adminKey, 'c')).toBe(201);
});
