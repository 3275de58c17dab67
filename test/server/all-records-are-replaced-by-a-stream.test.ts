import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALL_ZERO, Raw, untilGauges } from './raw.js';
import { fan, LINES_TYPE, Service } from './service.js';

let service: Service;
let number = 0;

beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const linesOf = (records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever came
const eventsOf = (text: string): any[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Creates a database with records; returns the path of its records. */
async function create(records: number): Promise<string> {
  number += 1;
  const path = `/v1/databases/replaced-${number}`;
  await service.call('PUT', path, { dimensions: 2 });
  await service.call('POST', `${path}/records`, { records: fan(records) });
  return `${path}/records`;
}

async function countOf(path: string): Promise<number> {
  return (await service.call('GET', path.replace(/\/records$/, ''))).body.records;
}

async function replace(path: string, body: string, headers = {}) {
  const { status, text } = await service.call('PUT', path, body, { ...LINES_TYPE, ...headers });
  expect(status).toBe(200);
  return eventsOf(text);
}

test('the summary says what was written and deleted', async () => {
  const path = await create(20);
  const source = [...fan(12), { id: 50, data: {}, vector: [1, 0] }];
  expect((await replace(path, linesOf(source))).at(-1)).toMatchObject({
    type: 'summary',
    created: 1,
    deleted: 8,
  });
  expect(await countOf(path)).toBe(13);
});

test('a refusal is the last line, and says what would have been deleted and what allows it', async () => {
  const path = await create(20);
  const last = (await replace(path, linesOf(fan(9)))).at(-1);
  expect(last).toEqual({
    type: 'error',
    code: 'deletion_refused',
    detail:
      'nothing was deleted: the source lacks 11 of 20 records, and at most 10 may be deleted; max_deletes 11 allows it',
    max: 10,
    missing: 11,
    request_id: expect.any(String),
  });
  const bad = await replace(`${path}?max_deletes=20`, `${linesOf(fan(9))}{}\n`);
  expect(bad.map(({ type }) => type)).toEqual(['problem', 'progress', 'error']);
  expect(bad.at(-1)).toMatchObject({ code: 'deletion_refused', missing: 11 });
  expect(await countOf(path)).toBe(20);
  expect((await replace(`${path}?max_deletes=11`, linesOf(fan(9)))).at(-1)).toMatchObject({ deleted: 11 });
});

test('a line without an identity is a problem, and its record is not stored', async () => {
  const path = await create(5);
  const anonymous = { data: { id: 7 }, vector: [1, 0] };
  const named = { data: {}, vector: [1, 0] };
  const lines = [
    anonymous,
    { ...named, key: 'a' },
    { ...named, uuid: '0190a0b2-7c3d-7abc-8def-0123456789ab' },
    anonymous,
    ...fan(5),
  ];
  const events = await replace(path, linesOf(lines));
  const problem = (line: number) => ({
    type: 'problem',
    line,
    pointer: '',
    code: 'missing_member',
    detail: expect.stringMatching(/^a replacement needs the id, uuid or key of each record/),
  });
  expect(events.filter(({ type }) => type === 'problem')).toEqual([problem(1), problem(4)]);
  expect(events.at(-1)).toMatchObject({ code: 'deletion_refused', missing: 0 });
  expect(await countOf(path)).toBe(7);
});

test('a body that ends early deletes nothing', async () => {
  const path = await create(5);
  const head = (framing: string) =>
    `PUT ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${service.adminKey}\r\n` +
    `content-type: application/x-ndjson\r\n${framing}\r\n\r\n`;
  const text = linesOf([...fan(3), { id: 70, data: {}, vector: [1, 0] }]);

  const chunked = new Raw(service);
  chunked.socket.write(head('transfer-encoding: chunked'));
  chunked.chunk(text);
  await chunked.until('"committed":4');
  // Without the last chunk.
  chunked.socket.end();
  await chunked.closed;

  const measured = new Raw(service);
  measured.socket.write(head(`content-length: ${text.length + 1}`));
  measured.socket.write(text);
  await measured.until('"committed":4');
  measured.reset();
  await measured.closed;

  await untilGauges(service, ALL_ZERO);
  expect(await countOf(path)).toBe(6);
});

test('a key needs the action to write, and may have no filter', async () => {
  const path = await create(5);
  const keyOf = async (more: object) => {
    const request = { name: 'k', databases: ['*'], ...more };
    return { 'x-api-key': (await service.call('POST', '/v1/keys', request)).body.key as string };
  };
  const call = async (key: Record<string, string>) =>
    service.call('PUT', path, linesOf(fan(1)), { ...LINES_TYPE, ...key });
  const filter = { condition: 'AND', rules: [{ column: 'size', operator: 'less_than', value: 3 }] };
  const refused = [
    await keyOf({ actions: ['search', 'records.read', 'databases.manage'] }),
    await keyOf({ actions: ['records.write'], filter }),
  ];
  for (const key of refused) expect((await call(key)).body).toMatchObject({ code: 'forbidden' });
  expect((await call(await keyOf({ actions: ['records.write'], databases: ['other'] }))).body).toMatchObject({
    code: 'database_not_found',
  });
  expect(await countOf(path)).toBe(5);
  const { text } = await call(await keyOf({ actions: ['records.write'] }));
  expect(eventsOf(text).at(-1)).toMatchObject({ deleted: 4 });
});

test('what is no source is refused', async () => {
  const path = await create(5);
  for (const max of ['-1', '1.5', 'all', '']) {
    const { body } = await service.call('PUT', `${path}?max_deletes=${max}`, linesOf(fan(1)), LINES_TYPE);
    expect(body).toMatchObject({ status: 400, code: 'invalid_request' });
  }
  expect((await service.call('PUT', path)).body).toMatchObject({
    status: 400,
    detail: 'the body is missing',
  });
  expect((await service.call('PUT', path, { records: fan(1) })).body).toMatchObject({
    code: 'unsupported_media_type',
    detail: 'content-type is "application/json"; send the body as application/x-ndjson',
  });
  expect((await service.call('PUT', '/v1/databases/none/records', '', LINES_TYPE)).body).toMatchObject({
    code: 'database_not_found',
  });
  expect(await countOf(path)).toBe(5);
});
