import { afterAll, beforeAll, expect, test } from 'vitest';
import { inFull, testInFull } from '../helpers/full.js';
import { HeldModel } from '../helpers/held-model.js';
import { LINES_TYPE, Service } from './service.js';

const AT = '/v1/databases/db';
const CLIENTS = inFull(150, 50);
/** Requests that an endpoint gets at once. */
const AT_ONCE = 4;

let service: Service;
let other: { 'x-api-key': string };

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', AT);
  other = await otherKey(service);
});
afterAll(() => service.stop());

async function otherKey(service: Service): Promise<{ 'x-api-key': string }> {
  const actions = ['search', 'records.write'];
  const issued = await service.call('POST', '/v1/keys', { name: 'other', actions, databases: ['db'] });
  return { 'x-api-key': issued.body.key };
}

const search = (text: string, headers = {}) =>
  service.call('POST', `${AT}/search`, { search: { text } }, headers);

test('searches and writes of another key get responses during the load of many clients and an import', async () => {
  let answered = 0;
  let going = true;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let at = 0; going; at += 1) {
      const { status } = await search(`a new text ${at} of client ${client}`);
      expect(status).toBe(200);
      answered += 1;
    }
  });
  const count = inFull(1_500, 150);
  const lines = Array.from(
    { length: count },
    (_, at) => `${JSON.stringify({ id: at + 1, data: { text: `line ${at}` } })}\n`,
  );
  const import_ = service.call('POST', `${AT}/records`, lines.join(''), LINES_TYPE);
  await expect.poll(() => answered).toBeGreaterThanOrEqual(inFull(300, CLIENTS));
  for (let round = 0; round < inFull(3, 1); round += 1) {
    // If searches had absolute priority over records, the write would wait forever, because the clients go on until then.
    const record = { id: 10_000 + round, data: { text: `a record of another key ${round}` } };
    const write = await service.call('POST', `${AT}/records`, { records: [record] }, other);
    expect(write.body).toMatchObject({ created: 1 });
    const found = await search(`a record of another key ${round}`, other);
    expect(found.body.results[0]).toMatchObject({ id: 10_000 + round });
  }
  going = false;
  await Promise.all(clients);
  expect(JSON.parse((await import_).text.trim().split('\n').at(-1)!)).toMatchObject({
    type: 'summary',
    created: count,
  });
});

test('the texts of another key are embedded before those that one key has waiting', async () => {
  const model = await HeldModel.start();
  const held = await Service.start({ models: { first: model.source } });
  try {
    await held.call('PUT', AT, { model: 'first' });
    const key = await otherKey(held);
    const queued = async () => {
      const { text } = await held.call('GET', '/metrics');
      return Number(/^cosift_embedder_queue_length (\d+)$/m.exec(text)?.[1]);
    };
    const records = (id: number, count: number, name: string) => ({
      records: Array.from({ length: count }, (_, at) => ({ id: id + at, data: { name } })),
    });
    const search = (text: string, headers = {}) =>
      held.call('POST', `${AT}/search`, { search: { text, threshold: 0 } }, headers);
    model.allow(0);
    const calls = Array.from({ length: 100 }, (_, at) => search(`many queries ${at}`));
    await expect.poll(queued).toBe(100 - AT_ONCE);
    for (let id = 1; id <= 640; id += 64) {
      calls.push(held.call('POST', `${AT}/records`, records(id, 64, 'many')));
    }
    await expect.poll(queued).toBe(100 - AT_ONCE + 640);
    calls.push(search('one query', key), held.call('POST', `${AT}/records`, records(1_000, 1, 'one'), key));
    await expect.poll(queued).toBe(100 - AT_ONCE + 640 + 2);
    const before = model.requests.length;
    model.allow(Number.POSITIVE_INFINITY);
    for (const { status, text } of await Promise.all(calls)) expect(status, text).toBe(200);

    const after = model.requests.slice(before);
    const isRecords = ([text]: readonly string[]) => text!.startsWith('name: ');
    const isOther = (texts: readonly string[]) => texts.some((text) => /\bone\b/.test(text));
    const queries = after.filter((texts) => !isRecords(texts));
    const writes = after.filter(isRecords);
    // Callers take turns. Requests that are sent at once may arrive in another order.
    expect(queries.slice(0, AT_ONCE + 1).some(isOther)).toBe(true);
    expect(writes.slice(0, AT_ONCE + 1).some(isOther)).toBe(true);
    expect(queries).toHaveLength(100 - AT_ONCE + 1);
    expect(writes).toHaveLength(640 / 32 + 1);
  } finally {
    await held.stop();
  }
});

testInFull('six imports at once wait for room, and none fails', async () => {
  // 1,024 texts of each are embedded ahead: more than the 4,096 that may wait for one key.
  const imports = Array.from({ length: 6 }, (_, of) => {
    const lines = Array.from(
      { length: 1_100 },
      (_, at) => `${JSON.stringify({ id: 100_000 * (of + 1) + at, data: { t: `${at}` } })}\n`,
    );
    return service.call('POST', `${AT}/records`, lines.join(''), LINES_TYPE);
  });
  for (const { text } of await Promise.all(imports)) {
    expect(JSON.parse(text.trim().split('\n').at(-1)!)).toMatchObject({
      type: 'summary',
      created: 1_100,
      failed: 0,
    });
  }
});
