import { afterAll, beforeAll, expect, test } from 'vitest';
import { LINES_TYPE, Service } from './service.js';

const AT = '/v1/databases/db';

let service: Service;
let other: { 'x-api-key': string };

beforeAll(async () => {
  service = await Service.start();
  await service.call('PUT', AT);
  const actions = ['search', 'records.write'];
  const issued = await service.call('POST', '/v1/keys', { name: 'other', actions, databases: ['db'] });
  other = { 'x-api-key': issued.body.key };
});
afterAll(() => service.stop());

const search = (text: string, headers = {}) =>
  service.call('POST', `${AT}/search`, { search: { text } }, headers);

test('searches and writes of another key get responses during the load of 150 clients and an import', {
  timeout: 120_000,
}, async () => {
  let answered = 0;
  let going = true;
  const clients = Array.from({ length: 150 }, async (_, client) => {
    for (let at = 0; going; at += 1) {
      const { status } = await search(`a new text ${at} of client ${client}`);
      expect(status).toBe(200);
      answered += 1;
    }
  });
  const lines = Array.from(
    { length: 1_500 },
    (_, at) => `${JSON.stringify({ id: at + 1, data: { text: `line ${at}` } })}\n`,
  );
  const import_ = service.call('POST', `${AT}/records`, lines.join(''), LINES_TYPE);
  while (answered < 300) await new Promise((resolve) => setImmediate(resolve));
  for (let round = 0; round < 3; round += 1) {
    const before = answered;
    const record = { id: 10_000 + round, data: { text: `a record of another key ${round}` } };
    const write = await service.call('POST', `${AT}/records`, { records: [record] }, other);
    expect(write.body).toMatchObject({ created: 1 });
    const found = await search(`a record of another key ${round}`, other);
    expect(found.body.results[0]).toMatchObject({ id: 10_000 + round });
    // If searches had absolute priority over records, the write would wait until the clients stop.
    expect(answered - before).toBeLessThan(2_000);
  }
  going = false;
  await Promise.all(clients);
  expect(JSON.parse((await import_).text.trim().split('\n').at(-1)!)).toMatchObject({
    type: 'summary',
    created: 1_500,
  });
});

test('six imports at once wait for room, and none fails', { timeout: 240_000 }, async () => {
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
