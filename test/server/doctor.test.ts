import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import type { DoctorCheck } from '../../src/schema/index.js';
import { Raw, request, untilGauges } from './raw.js';
import { fan, Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  for (const database of ['one', 'two']) {
    await service.call('PUT', `/v1/databases/${database}`, { dimensions: 2 });
    await service.call('POST', `/v1/databases/${database}/records`, { records: fan(3) });
  }
});
afterAll(() => service.stop());

async function issued(wanted: object): Promise<{ key: string }> {
  const { status, body } = await service.call('POST', '/v1/keys', { name: 'k', ...wanted });
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

async function checks(wanted: object): Promise<DoctorCheck[]> {
  const { key } = await issued(wanted);
  const client = new Client({ url: service.url, key, retries: 0 });
  const found = [];
  for await (const check of client.doctor()) found.push(check);
  await client.close();
  return found;
}

test('a served database is examined, with the searches that clients would make', async () => {
  const found = await checks({ actions: ['databases.manage'], databases: '*' });
  expect(found.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(found).toContainEqual({
    check: 'records',
    database: 'two',
    status: 'ok',
    detail: '3 records match their checksums',
  });
  expect(found.find(({ check }) => check === 'searches')?.detail).toMatch(/^16 searches find/);
});

test('a key sees the checks of its databases only', async () => {
  const found = await checks({ actions: ['databases.manage'], databases: ['two'] });
  expect(new Set(found.map(({ database }) => database))).toEqual(new Set([undefined, 'two']));
});

test('a connection that is reset before the turn of its report keeps the doctor from nobody', async () => {
  const service = await Service.start();
  try {
    // A report that is larger than what the stream of a response takes at once.
    const ids = Array.from({ length: 60 }, (_, i) => `${'x'.repeat(60)}${i}`);
    for (const id of ids) await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
    const raw = new Raw(service);
    await raw.connected();
    raw.socket.write(
      request(service.adminKey, 'GET', `/v1/databases/${ids[0]}/changes?wait=60`) +
        request(service.adminKey, 'POST', '/v1/doctor', ''),
    );
    await untilGauges(service, { 'in_flight waits': 1 });
    // The doctor runs when another one is refused.
    const status = async () => (await service.call('POST', '/v1/doctor')).status;
    await expect.poll(status, { interval: 1 }).toBe(503);
    raw.reset();
    await expect.poll(status).toBe(200);
  } finally {
    await service.stop();
  }
});
