import { afterAll, beforeAll, expect, test } from 'vitest';
import { fan, LINES_TYPE, Service } from './service.js';

let service: Service;
let number = 0;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const call: Service['call'] = (...request) => service.call(...request);

/** Creates two databases with 3 and 5 records, and an alias of the first. */
async function setUp() {
  number += 1;
  const [first, second, alias] = [`first-${number}`, `second-${number}`, `alias-${number}`];
  for (const [id, count] of [
    [first, 3],
    [second, 5],
  ] as const) {
    await call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
    await call('POST', `/v1/databases/${id}/records`, { records: fan(count) });
  }
  expect((await call('PUT', `/v1/aliases/${alias}`, { database: first })).status).toBe(201);
  return { first, second, alias, path: `/v1/databases/${alias}` };
}

async function keyOf(wanted: object): Promise<Record<string, string>> {
  const { body } = await call('POST', '/v1/keys', { name: 'k', ...wanted });
  return { 'x-api-key': body.key };
}

test('every path takes it in place of the id, in both variants', async () => {
  const { first, alias, path } = await setUp();
  const search = { search: { vector: [1, 0], threshold: 0 } };
  expect((await call('GET', path)).body).toMatchObject({ id: first, records: 3 });
  for (const route of ['records/search', 'search']) {
    expect((await call('POST', `${path}/${route}`, search)).body.results).toHaveLength(3);
  }
  for (const route of ['records/query', 'query']) {
    expect((await call('POST', `${path}/${route}`, {})).body.results).toHaveLength(3);
  }
  await call('POST', `${path}/records`, { records: [{ id: 9, data: { a: 1 }, vector: [1, 0] }] });
  await call('POST', `${path}/records`, '{"id":10,"data":{},"vector":[1,0]}\n', LINES_TYPE);
  expect((await call('PATCH', `${path}/records/9`, { data: { a: 2 } })).body.data).toEqual({ a: 2 });
  expect((await call('GET', `/v1/databases/${first}/records/9`)).body.data).toEqual({ a: 2 });
  expect((await call('DELETE', `${path}/records/10`)).status).toBe(204);
  expect((await call('GET', `${path}/export`)).text.trimEnd().split('\n')).toHaveLength(4);
  expect((await call('GET', `/v1/backup?database=${alias}`)).status).toBe(200);
  const webhook = await call('POST', `${path}/webhooks`, { url: 'https://example.org/cosift' });
  expect(webhook.status).toBe(201);
  expect((await call('GET', `/v1/databases/${first}/webhooks`)).body.webhooks).toHaveLength(1);
});

test('a switch takes effect at once, and a feed says that it is another one', async () => {
  const { first, second, alias, path } = await setUp();
  const feed = (await call('GET', `${path}/changes`)).body;
  expect(feed.changes).toHaveLength(3);
  const page = (await call('POST', `${path}/query`, { pagination: { limit: 2 } })).body;
  const switched = await call('PUT', `/v1/aliases/${alias}`, { database: second });
  expect(switched).toMatchObject({ status: 200, body: { name: alias, database: second } });
  expect((await call('GET', path)).body.id).toBe(second);
  const { position, epoch } = feed;
  expect((await call('GET', `${path}/changes?after=${position}&epoch=${epoch}`)).body).toMatchObject({
    code: 'feed_restarted',
    status: 410,
  });
  // A cursor of a page is a position in the order of any database.
  const { next_cursor: cursor } = page.pagination;
  expect((await call('POST', `${path}/query`, { pagination: { cursor } })).status).toBe(200);
  expect((await call('GET', `/v1/databases/${first}`)).body.records).toBe(3);
});

test('a database and an alias exclude each other', async () => {
  const { first, second, alias, path } = await setUp();
  const conflict = { status: 409, code: 'alias_conflict' };
  expect((await call('PUT', path, { dimensions: 2 })).body).toMatchObject(conflict);
  expect((await call('PUT', `/v1/aliases/${first}`, { database: second })).body).toMatchObject(conflict);
  for (const id of [first, alias]) {
    const { body } = await call('DELETE', `/v1/databases/${id}`);
    expect(body).toMatchObject({ ...conflict, detail: expect.stringContaining(`"${alias}"`) });
  }
  const names = [1, 2, 3, 4].map((at) => `${alias}-${at}`);
  for (const name of names) await call('PUT', `/v1/aliases/${name}`, { database: first });
  expect((await call('DELETE', `/v1/databases/${first}`)).body.detail).toMatch(
    `the aliases "${alias}", "${names[0]}", "${names[1]}" and 2 more name database "${first}"`,
  );
  for (const name of names) await call('DELETE', `/v1/aliases/${name}`);
  expect((await call('PUT', '/v1/aliases/other', { database: 'none' })).body).toMatchObject({
    status: 404,
    code: 'database_not_found',
  });
  expect((await call('DELETE', `/v1/aliases/${alias}`)).status).toBe(204);
  expect((await call('DELETE', `/v1/aliases/${alias}`)).body).toMatchObject({ code: 'alias_not_found' });
  expect((await call('GET', path)).body).toMatchObject({
    code: 'database_not_found',
    detail: `there is no database "${alias}"`,
  });
  expect((await call('DELETE', `/v1/databases/${first}`)).status).toBe(204);
});

test('a key is checked against the database that the alias names at the moment', async () => {
  const { first, second, alias, path } = await setUp();
  const actions = ['search', 'records.read', 'databases.manage'];
  const key = await keyOf({ actions, databases: [first] });
  const other = await keyOf({ actions, databases: [second] });
  // An alias in the databases of a key stands for no database.
  const named = await keyOf({ actions, databases: [alias] });
  const aliasesOf = async (headers: Record<string, string>) =>
    (await call('GET', '/v1/aliases', undefined, headers)).body.aliases;
  const unknown = {
    status: 404,
    code: 'database_not_found',
    detail: `there is no database "${alias}"`,
  };
  const see = async (headers: Record<string, string>) => (await call('GET', path, undefined, headers)).body;
  expect(await see(key)).toMatchObject({ id: first });
  for (const hidden of [other, named]) {
    expect(await see(hidden)).toMatchObject(unknown);
    expect(await aliasesOf(hidden)).toEqual([]);
  }
  expect(await aliasesOf(key)).toEqual([{ name: alias, database: first }]);
  const read = async (headers: Record<string, string>) =>
    (await call('GET', `/v1/aliases/${alias}`, undefined, headers)).body;
  expect(await read(key)).toEqual({ name: alias, database: first });
  expect(await read(other)).toMatchObject({ code: 'alias_not_found' });
  await call('PUT', `/v1/aliases/${alias}`, { database: second });
  expect(await see(key)).toMatchObject(unknown);
  expect(await aliasesOf(key)).toEqual([]);
  expect(await see(other)).toMatchObject({ id: second });
});

test('only keys for all databases change aliases, and none with a filter lists them', async () => {
  const { first, alias } = await setUp();
  const limited = await keyOf({ actions: ['databases.manage'], databases: [first] });
  const reader = await keyOf({ actions: ['records.read'], databases: '*' });
  for (const headers of [limited, reader]) {
    // Whether or not the names exist.
    for (const name of [alias, first, 'none']) {
      const set = await call('PUT', `/v1/aliases/${name}`, { database: first }, headers);
      expect(set.body).toMatchObject({ code: 'forbidden' });
      const { body } = await call('DELETE', `/v1/aliases/${name}`, undefined, headers);
      expect(body).toMatchObject({ code: 'forbidden' });
    }
  }
  const filter = { condition: 'AND', rules: [{ column: 'size', operator: 'less_than', value: 3 }] };
  const filtered = await keyOf({ actions: ['records.read'], databases: '*', filter });
  expect((await call('GET', '/v1/aliases', undefined, filtered)).body).toMatchObject({ code: 'forbidden' });
  expect((await call('PUT', '/v1/aliases/Upper', { database: first })).body).toMatchObject({ status: 400 });
  expect((await call('PUT', `/v1/aliases/${alias}`, {})).body).toMatchObject({ status: 400 });
});
