import { cp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { restore } from '../../src/cli/restore/restore.js';
import { Client } from '../../src/client/index.js';
import { resolveConfig } from '../../src/config/index.js';
import { type Database, open } from '../../src/index.js';
import { type Running, start } from '../../src/server/main.js';
import { bytesOf, chunked, testDirectory } from '../helpers/archives.js';
import { DELIVERY_TIMES as deliveryTimes, Receiver } from './receiver.js';
import { fan } from './service.js';

const ADMIN = 'the-admin-key-of-these-tests';
const restarted = { code: 'feed_restarted' };

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function serve(data: string): Promise<{ running: Running; client: Client }> {
  const flags = { port: 0, data, logLevel: 'silent', webhookAllow: '127.0.0.1' };
  const { config } = resolveConfig(flags, { COSIFT_ADMIN_KEY: ADMIN });
  const running = await start(config, { print: () => undefined, deliveryTimes });
  closing.push(() => running.close());
  return { running, client: new Client({ url: running.url, key: ADMIN }) };
}

async function receiver(): Promise<{ receiver: Receiver; url: string }> {
  const receiver = new Receiver();
  const url = await receiver.listen();
  closing.push(() => receiver.close());
  return { receiver, url };
}

const records = (first: number, last: number) => fan(last).slice(first - 1);

/** The position and epoch after all changes. */
async function end(database: Database): Promise<{ after: number; epoch: string }> {
  const { position, epoch } = await database.changes({ limit: 1000 });
  return { after: position, epoch };
}

async function hook(running: Running, url: string): Promise<{ webhook_id: string; secret: string }> {
  const response = await fetch(`${running.url}/v1/databases/fan/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN, 'content-type': 'application/json' },
    body: JSON.stringify({ url, after: 0 }),
  });
  expect(response.status).toBe(201);
  return response.json() as never;
}

/** Waits until the webhook has the position, which is moved after the response of the receiver. */
async function delivered({ url }: Running, position: number): Promise<void> {
  const list = async () =>
    (await fetch(`${url}/v1/databases/fan/webhooks`, { headers: { 'x-api-key': ADMIN } })).json();
  await expect.poll(list).toMatchObject({ webhooks: [{ position }] });
}

test('a directory that was put back is another feed for those who read past the copy, and the same for all others', async () => {
  const parent = await testDirectory();
  const [data, copy] = [path.join(parent, 'data'), path.join(parent, 'copy')];
  const first = await open(data);
  const fans = await first.createDatabase('fan', { dimensions: 2 });
  const empty = await end(fans);
  await fans.upsert(records(1, 3));
  const early = await end(fans);
  await first.close();
  const second = await open(data);
  await second.database('fan').upsert(records(4, 5));
  const atCopy = await end(second.database('fan'));
  await second.close();
  await cp(data, copy, { recursive: true });
  const third = await open(data);
  await third.database('fan').upsert(records(6, 9));
  const ahead = await end(third.database('fan'));
  const between = { ...ahead, after: ahead.after - 2 };
  await third.close();

  await rm(data, { recursive: true });
  await cp(copy, data, { recursive: true });
  const { client } = await serve(data);
  const remote = client.database('fan');
  // Nothing was written yet: the positions ahead do not exist.
  await expect(remote.changes(ahead)).rejects.toMatchObject(restarted);
  // The new changes take the positions of those that were lost.
  await remote.upsert(records(20, 40));
  for (const position of [ahead, between]) {
    await expect(remote.changes(position)).rejects.toMatchObject(restarted);
    await expect(remote.follow(position).next()).rejects.toMatchObject(restarted);
  }
  for (const position of [empty, early, atCopy]) {
    const { changes } = await remote.changes({ ...position, limit: 1000 });
    expect(changes[0]?.position).toBe(position.after + 1);
    expect(changes.at(-1)).toMatchObject({ id: 40 });
  }
  const { value } = await remote.follow(atCopy).next();
  expect(value).toMatchObject({ kind: 'created', id: 20 });
  const fact = await remote.changes(ahead).catch(({ fields }) => fields.epoch);
  expect((await remote.changes({ after: 0, epoch: fact })).changes[0]).toMatchObject({ id: 1 });
});

test('the library refuses a position of a directory that was put back, too', async () => {
  const parent = await testDirectory();
  const [data, copy] = [path.join(parent, 'data'), path.join(parent, 'copy')];
  const first = await open(data);
  await (await first.createDatabase('fan', { dimensions: 2 })).upsert(records(1, 3));
  await first.close();
  await cp(data, copy, { recursive: true });
  const second = await open(data);
  await second.database('fan').upsert(records(4, 6));
  const ahead = await end(second.database('fan'));
  await second.close();
  const third = await open(copy);
  closing.push(() => third.close());
  await third.database('fan').upsert(records(14, 16));
  await expect(third.database('fan').changes(ahead)).rejects.toMatchObject(restarted);
});

test('a webhook of a database that was put back starts again, and receivers see another epoch', async () => {
  const parent = await testDirectory();
  const data = path.join(parent, 'data');
  const { receiver: hooked, url } = await receiver();
  const first = await serve(data);
  const fans = await first.client.createDatabase('fan', { dimensions: 2 });
  hooked.secret = (await hook(first.running, url)).secret;
  await fans.upsert(records(1, 2));
  await hooked.changes(2);
  await delivered(first.running, 2);
  await first.running.close();
  await cp(path.join(data, 'databases/fan'), path.join(parent, 'fan'), { recursive: true });
  const second = await serve(data);
  await second.client.database('fan').upsert(records(3, 4));
  await hooked.changes(4);
  await delivered(second.running, 4);
  await second.running.close();
  // A start of the service is nothing to a receiver.
  expect(new Set(hooked.deliveries.map(({ body }) => body.epoch)).size).toBe(1);

  await rm(path.join(data, 'databases/fan'), { recursive: true });
  await cp(path.join(parent, 'fan'), path.join(data, 'databases/fan'), { recursive: true });
  const third = await open(data);
  await third.database('fan').upsert(records(13, 16));
  await third.close();
  await serve(data);
  const changes = await hooked.changes(10);
  expect(changes.slice(4)).toEqual([1, 2, 13, 14, 15, 16].map((id) => `created ${id}`));
  expect(new Set(hooked.deliveries.map(({ id }) => id)).size).toBe(hooked.deliveries.length);
  expect(new Set(hooked.deliveries.map(({ body }) => body.epoch)).size).toBe(2);
});

test('after a restore, followers start again and webhooks go on where they were at the time of the backup', async () => {
  const parent = await testDirectory();
  const data = path.join(parent, 'data');
  const { receiver: hooked, url } = await receiver();
  const first = await serve(data);
  const fans = await first.client.createDatabase('fan', { dimensions: 2 });
  hooked.secret = (await hook(first.running, url)).secret;
  await fans.upsert(records(1, 3));
  await hooked.changes(3);
  const at = await end(fans);
  // The position is stored after the response of the receiver.
  const stored = async () => {
    const { webhooks } = JSON.parse(await readFile(path.join(data, 'webhooks.json'), 'utf8'));
    return webhooks[0].position;
  };
  while ((await stored()) < 3);
  const archive = await bytesOf(first.client.backup());
  await fans.upsert(records(4, 6));
  await hooked.changes(6);
  await first.running.close();
  const [before] = hooked.deliveries.map(({ body }) => body.epoch);

  const restored = path.join(parent, 'restored');
  const manifest = await restore(chunked(archive), restored);
  expect(manifest.databases).toMatchObject([{ id: 'fan', records: 3, position: 3 }]);
  const { client } = await serve(restored);
  await expect(client.database('fan').changes(at)).rejects.toMatchObject(restarted);
  await client.database('fan').upsert(records(10, 11));
  // Neither the first three, which it has, nor anything lost.
  expect((await hooked.changes(8)).slice(6)).toEqual(['created 10', 'created 11']);
  expect(hooked.deliveries.at(-1)?.body.epoch).not.toBe(before);
  expect(new Set(hooked.deliveries.map(({ id }) => id)).size).toBe(hooked.deliveries.length);
});
