import { afterAll, beforeAll, expect, test } from 'vitest';
import { LINES_TYPE, Service } from './service.js';

const BOTH = { accept: 'application/vnd.cosift+json' };
const PATH = '/v1/databases/conditions';
const RECORDS = `${PATH}/records`;

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', PATH, { dimensions: 2 });
});
afterAll(() => service.stop());

const record = (id: number, more: object) => ({ id, data: { id, ...more }, vector: [1, 0] });

/** Writes a record; returns when it was changed. */
async function write(id: number, more: object = {}): Promise<string> {
  await service.call('POST', RECORDS, { records: [record(id, more)] });
  return (await service.call('GET', `${RECORDS}/${id}`, undefined, BOTH)).body.timestamps.changed_at;
}

const failed = (pointer: string, id: number, changed_at: string) => {
  const detail = `record ${id} was changed at ${changed_at}`;
  return {
    type: '/docs#error-precondition_failed',
    title: expect.any(String),
    status: 412,
    code: 'precondition_failed',
    detail: `${pointer}: ${detail}`,
    errors: [{ pointer, code: 'precondition_failed', detail, changed_at }],
    request_id: expect.any(String),
  };
};

test('a batch, and a stream', async () => {
  const [read, now] = [await write(1), await write(1, { n: 1 })];
  const changed = { ...record(1, { n: 2 }), if_changed_at: read };
  const refused = await service.call('POST', RECORDS, { records: [record(2, {}), changed] });
  expect(refused).toMatchObject({ status: 412, body: failed('/records/1/if_changed_at', 1, now) });
  expect((await service.call('GET', `${RECORDS}/2`)).status).toBe(404);
  const { text } = await service.call('POST', RECORDS, `${JSON.stringify(changed)}\n`, LINES_TYPE);
  expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toMatchObject({
    line: 1,
    pointer: '/if_changed_at',
    changed_at: now,
  });
  const taken = await service.call('POST', RECORDS, { records: [{ ...changed, if_changed_at: now }] });
  expect(taken).toMatchObject({ status: 200, body: { changed: 1 } });
});

test('a patch', async () => {
  const [read, now] = [await write(1, { n: 3 }), await write(1, { n: 4 })];
  const patch = (if_changed_at: string) => ({ data: { n: 5 }, if_changed_at });
  const refused = await service.call('PATCH', `${RECORDS}/1`, patch(read));
  expect(refused).toMatchObject({ status: 412, body: failed('/if_changed_at', 1, now) });
  expect(await service.call('PATCH', `${RECORDS}/1`, patch(now))).toMatchObject({
    status: 200,
    body: { data: { n: 5 } },
  });
});

test('a deletion of one record, and of several', async () => {
  const [read, now] = [await write(1, { n: 6 }), await write(1, { n: 7 })];
  const other = await write(2);
  const remove = (time: string) => service.call('DELETE', `${RECORDS}/1?if_changed_at=${time}`);
  expect(await remove(read)).toMatchObject({ status: 412, body: failed('/if_changed_at', 1, now) });
  expect(await remove('yesterday')).toMatchObject({
    status: 400,
    body: { code: 'invalid_time', errors: [{ pointer: '/if_changed_at' }] },
  });
  const ids = [
    { id: 2, if_changed_at: other },
    { id: 1, if_changed_at: read },
  ];
  const refused = await service.call('POST', `${RECORDS}/delete`, { ids });
  expect(refused).toMatchObject({ status: 412, body: failed('/ids/1/if_changed_at', 1, now) });
  expect((await remove(now)).status).toBe(204);
  expect((await remove(now)).status).toBe(404);
  expect((await service.call('POST', `${RECORDS}/delete`, { ids })).body).toEqual({ deleted: 1 });
});

test.each([
  [{ ids: [{ id: 1 }] }, '/ids/0', 'missing_member'],
  [{ ids: [{ id: 1, if_changed_at: null }] }, '/ids/0/if_changed_at', 'wrong_type'],
  [{ ids: [{ id: 1, if_changed_at: '2026-01-01', more: 1 }] }, '/ids/0/more', 'unknown_member'],
  [{ ids: [{ id: 1, if_changed_at: 'x' }] }, '/ids/0/if_changed_at', 'invalid_value'],
])('a deletion of %j is refused', async (request, pointer, code) => {
  const { status, body } = await service.call('POST', `${RECORDS}/delete`, request);
  expect(status).toBe(400);
  expect(body.errors).toMatchObject([{ pointer, code }]);
});
