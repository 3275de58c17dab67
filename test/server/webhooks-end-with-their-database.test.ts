import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { DELIVERY_TIMES as deliveryTimes, Receiver } from './receiver.js';
import { fan, Service } from './service.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

test('a dropped database delivers no more, neither what waited nor what a new one of its name holds', async () => {
  const service = await Service.start({ webhookAllow: '127.0.0.1' }, { deliveryTimes });
  closing.push(() => service.stop());
  const before = new Receiver(Number.POSITIVE_INFINITY);
  const after = new Receiver();
  closing.push(
    () => before.close(),
    () => after.close(),
  );
  const create = () => service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  const write = () => service.call('POST', '/v1/databases/fan/records', { records: fan(3) });
  const hook = async (receiver: Receiver) =>
    service.call('POST', '/v1/databases/fan/webhooks', { url: await receiver.listen(), after: 0 });
  const listed = async () => (await service.call('GET', '/v1/databases/fan/webhooks')).body.webhooks;

  await create();
  const { body: ended } = await hook(before);
  await write();
  while (before.posts < 2) await service.call('GET', '/livez');
  expect((await service.call('DELETE', '/v1/databases/fan')).status).toBe(204);
  // A post may have been in progress.
  await before.idle();
  const posts = before.posts;
  before.refusals = 0;

  await create();
  expect(await listed()).toEqual([]);
  const file = path.join(service.directory, 'webhooks.json');
  expect(await readFile(file, 'utf8')).not.toContain(ended.webhook_id);
  expect((await hook(after)).status).toBe(201);
  await write();
  expect(await after.changes(3)).toEqual(['created 1', 'created 2', 'created 3']);
  expect(before.posts).toBe(posts);
  expect(await listed()).toHaveLength(1);
});
