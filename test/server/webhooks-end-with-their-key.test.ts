import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { DELIVERY_TIMES as deliveryTimes, Receiver } from './receiver.js';
import { fan, Service } from './service.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const begin = async () => {
  const service = await Service.start({ webhookAllow: '127.0.0.1' }, { deliveryTimes });
  closing.push(() => service.stop());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  const issue = async (more: object = {}): Promise<{ key: string; key_id: string }> => {
    const wanted = { name: 'hooks', actions: ['databases.manage'], databases: ['fan'], ...more };
    return (await service.call('POST', '/v1/keys', wanted)).body;
  };
  const hook = async (key: string, refusals = 0) => {
    const receiver = new Receiver(refusals);
    closing.push(() => receiver.close());
    const url = await receiver.listen();
    const headers = { 'x-api-key': key };
    const made = await service.call('POST', '/v1/databases/fan/webhooks', { url }, headers);
    expect(made.status).toBe(201);
    return { receiver, webhook: made.body };
  };
  const write = (from: number) =>
    service.call('POST', '/v1/databases/fan/records', { records: fan(from + 1).slice(from) });
  const listed = async (): Promise<string[]> => {
    const { body } = await service.call('GET', '/v1/databases/fan/webhooks');
    return body.webhooks.map(({ webhook_id }: { webhook_id: string }) => webhook_id);
  };
  return { service, issue, hook, write, listed };
};

test('a revoked key delivers no more, while the webhooks of other keys go on', async () => {
  const { service, issue, hook, write, listed } = await begin();
  const revoked = await issue();
  const kept = await issue();
  const ended = await hook(revoked.key);
  const waiting = await hook(revoked.key, Number.POSITIVE_INFINITY);
  const other = await hook(kept.key);
  const ofAdmin = await hook(service.adminKey);
  expect(ended.webhook.created_by).toBe(revoked.key_id);
  expect(ofAdmin.webhook.created_by).toBe('admin');
  await write(0);
  await Promise.all([ended, other, ofAdmin].map(({ receiver }) => receiver.changes(1)));
  while (waiting.receiver.posts < 2) await service.call('GET', '/livez');

  expect((await service.call('DELETE', `/v1/keys/${revoked.key_id}`)).status).toBe(204);
  await write(1);
  await Promise.all([other, ofAdmin].map(({ receiver }) => receiver.changes(2)));
  const left = [other.webhook.webhook_id, ofAdmin.webhook.webhook_id];
  while ((await listed()).length > left.length) await service.call('GET', '/livez');
  expect((await listed()).sort()).toEqual([...left].sort());
  expect(ended.receiver.posts).toBe(1);
  const posts = waiting.receiver.posts;
  await write(2);
  await Promise.all([other, ofAdmin].map(({ receiver }) => receiver.changes(3)));
  expect([ended.receiver.posts, waiting.receiver.posts]).toEqual([1, posts]);
  const file = path.join(service.directory, 'webhooks.json');
  while ((await readFile(file, 'utf8')).includes(ended.webhook.webhook_id))
    await service.call('GET', '/livez');
});

test('a webhook ends with the expiry of its key', async () => {
  const { service, issue, hook, write, listed } = await begin();
  // Long enough for the webhook to be made, however slow the machine is.
  const attempt = async (lifeMs: number): Promise<{ key: string; receiver: Receiver }> => {
    const { key } = await issue({ expires_at: new Date(Date.now() + lifeMs).toISOString() });
    const made = await hook(key).catch(() => undefined);
    return made === undefined ? attempt(4 * lifeMs) : { key, receiver: made.receiver };
  };
  const { key, receiver } = await attempt(1500);
  const status = async () =>
    (await service.call('GET', '/v1/databases/fan', undefined, { 'x-api-key': key })).status;
  while ((await status()) === 200);
  await write(0);
  while ((await listed()).length > 0);
  expect(receiver.posts).toBe(0);
});

test('while keys.json is damaged, the state tells it, and webhooks of its keys wait', async () => {
  const { service, issue, hook, write, listed } = await begin();
  const { key } = await issue();
  const { receiver } = await hook(key);
  const file = path.join(service.directory, 'keys.json');
  const sound = await readFile(file, 'utf8');
  const reasons = async () => {
    const response = await fetch(`${service.url}/readyz`);
    return [response.status, ((await response.json()) as { reasons?: string[] }).reasons];
  };
  expect(await reasons()).toEqual([200, undefined]);
  await writeFile(file, sound.replace('hooks', 'hoaks'));
  expect(await reasons()).toEqual([200, ['the keys cannot be read: only the admin key is valid']]);
  await write(0);
  expect(await listed()).toHaveLength(1);
  expect(receiver.posts).toBe(0);
  await writeFile(file, sound);
  expect(await reasons()).toEqual([200, undefined]);
  expect(await receiver.changes(1)).toEqual(['created 1']);
});
