import { afterEach, expect, test } from 'vitest';
import { AddressPolicy, resolveConfig } from '../../src/config/index.js';
import type { DatabaseService } from '../../src/databases/index.js';
import { CosiftError } from '../../src/errors.js';
import { start } from '../../src/server/main.js';
import { Webhook } from '../../src/server/webhooks/webhook.js';
import { DELIVERY_TIMES as deliveryTimes, Receiver } from './receiver.js';
import { fan, Service } from './service.js';

const RECORDS = fan(20);
// The receivers of these tests listen on this machine.
const webhookAllow = '127.0.0.1';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const begin = async (refusals = 0) => {
  const service = await Service.start({ webhookAllow }, { deliveryTimes });
  closing.push(() => service.stop());
  const receiver = new Receiver(refusals);
  closing.push(() => receiver.close());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  return { service, receiver, url: await receiver.listen() };
};

test('changes are posted in order, signed, and repeated until they are acknowledged', async () => {
  const { service, receiver, url } = await begin(3);
  await service.call('POST', '/v1/databases/fan/records', { records: RECORDS.slice(0, 2) });
  const created = await service.call('POST', '/v1/databases/fan/webhooks', { url });
  expect(created.body).toMatchObject({ url, position: 2, failures: 0 });
  receiver.secret = created.body.secret;
  await service.call('POST', '/v1/databases/fan/records', { records: RECORDS.slice(0, 4) });
  await service.call('DELETE', '/v1/databases/fan/records/1');
  expect(await receiver.changes(3)).toEqual(['created 3', 'created 4', 'deleted 1']);
  expect(receiver.posts).toBeGreaterThan(3);
  expect(receiver.deliveries.every(({ signed }) => signed)).toBe(true);
  expect(new Set(receiver.deliveries.map(({ id }) => id)).size).toBe(receiver.deliveries.length);
  const listed = await service.call('GET', '/v1/databases/fan/webhooks');
  expect(listed.text).not.toContain(receiver.secret);
});

test('a webhook may start anywhere, outlives a restart, and ends when it is deleted', async () => {
  const { service, receiver, url } = await begin();
  await service.call('POST', '/v1/databases/fan/records', { records: RECORDS.slice(0, 3) });
  const { body } = await service.call('POST', '/v1/databases/fan/webhooks', { url, after: 1 });
  expect(await receiver.changes(2)).toEqual(['created 2', 'created 3']);
  const position = async () =>
    (await service.call('GET', '/v1/databases/fan/webhooks')).body.webhooks[0].position;
  // The position is moved after the response of the receiver.
  await expect.poll(position).toBe(3);
  await service.running.close();

  const { config } = resolveConfig(
    { port: 0, data: service.directory, logLevel: 'silent', webhookAllow },
    {},
  );
  const again = await start(config, { print: () => undefined, deliveryTimes });
  closing.push(() => again.close());
  const call = (method: string, path: string, payload?: object) =>
    fetch(`${again.url}/v1/databases/fan${path}`, {
      method,
      headers: { 'x-api-key': service.adminKey, ...(payload && { 'content-type': 'application/json' }) },
      ...(payload && { body: JSON.stringify(payload) }),
    });
  await call('POST', '/records', { records: RECORDS.slice(0, 4) });
  expect(await receiver.changes(3)).toEqual(['created 2', 'created 3', 'created 4']);
  expect((await call('DELETE', `/webhooks/${body.webhook_id}`)).status).toBe(204);
  expect((await call('DELETE', `/webhooks/${body.webhook_id}`)).status).toBe(404);
});

test('a database that is not there is said so', async () => {
  const { service, url } = await begin();
  for (const [method, payload] of [['GET'], ['POST', { url }]] as const) {
    const { status, body } = await service.call(method, '/v1/databases/none/webhooks', payload);
    expect([status, body.code]).toEqual([404, 'database_not_found']);
  }
});

test('writes do not wait for a receiver that takes nothing', async () => {
  const { service, receiver, url } = await begin(Number.POSITIVE_INFINITY);
  await service.call('POST', '/v1/databases/fan/webhooks', { url });
  for (let i = 1; i <= 20; i++) {
    const { status } = await service.call('POST', '/v1/databases/fan/records', {
      records: RECORDS.slice(0, i),
    });
    expect(status).toBe(200);
  }
  while (receiver.posts < 3) await service.call('GET', '/livez');
  const { body } = await service.call('GET', '/v1/databases/fan/webhooks');
  expect(body.webhooks[0]).toMatchObject({ position: 0 });
  expect(body.webhooks[0].failures).toBeGreaterThan(0);
});

test('a failure to read the change feed is not a failed delivery', async () => {
  let reads = 0;
  const databases = {
    feed: {
      read: async () => {
        reads += 1;
        throw new CosiftError('not_ready', 'the database is being loaded');
      },
    },
  } as unknown as DatabaseService;
  const delivery = {
    databases,
    times: deliveryTimes,
    policy: new AddressPolicy(),
    isAllowed: async () => true,
  };
  const stored = {
    webhook_id: 'w',
    database: 'fan',
    url: 'http://x/',
    secret: '',
    position: 0,
    created_at: '',
    created_by: 'admin',
    counted_for: 'admin',
  };
  const webhook = new Webhook(stored, delivery, undefined);
  const ended = webhook.run(async () => true);
  await expect.poll(() => reads).toBeGreaterThan(3);
  expect(webhook.describe().failures).toBe(0);
  webhook.stop();
  expect(await ended).toBe('stopped');
});

test('a URL of another kind is refused, and a database that is not there', async () => {
  const { service, url } = await begin();
  for (const wrong of ['ftp://x', 'http://', 'x', 'http://a b']) {
    const { status } = await service.call('POST', '/v1/databases/fan/webhooks', { url: wrong });
    expect(status, wrong).toBe(400);
  }
  expect((await service.call('POST', '/v1/databases/none/webhooks', { url })).status).toBe(404);
  expect((await service.call('POST', '/v1/databases/none/webhooks', { url, after: 1 })).status).toBe(404);
});
