import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config.js';
import { checkSchema } from '../../src/schema/index.js';
import { start } from '../../src/server/main.js';
import { fan, Service } from './service.js';

const RECORDS = fan(20);
const deliveryTimes = { answerMs: 2000, firstRetryMs: 5, lastRetryMs: 50 };

interface Delivery {
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was posted
  body: any;
  signed: boolean;
}

/** Takes posts, after refusing the first few. */
class Receiver {
  readonly #server: Server;
  readonly deliveries: Delivery[] = [];
  refusals: number;
  posts = 0;
  secret = '';

  constructor(refusals = 0) {
    this.refusals = refusals;
    this.#server = createServer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      this.posts += 1;
      if (this.refusals > 0) {
        this.refusals -= 1;
        response.writeHead(500).end();
        return;
      }
      const id = String(request.headers['webhook-id']);
      const key = Buffer.from(this.secret.replace('whsec_', ''), 'base64');
      const signature = createHmac('sha256', key)
        .update(`${id}.${request.headers['webhook-timestamp']}.${text}`)
        .digest('base64');
      const body = JSON.parse(text);
      checkSchema('WebhookDelivery', body);
      this.deliveries.push({ id, body, signed: request.headers['webhook-signature'] === `v1,${signature}` });
      response.writeHead(204).end();
      this.#server.emit('taken');
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Resolves once `count` changes were taken. */
  async changes(count: number): Promise<string[]> {
    const taken = () =>
      this.deliveries.flatMap(({ body }) =>
        body.changes.map(({ kind, id }: { kind: string; id: number }) => `${kind} ${id}`),
      );
    while (taken().length < count) await once(this.#server, 'taken');
    return taken();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const begin = async (refusals = 0) => {
  const service = await Service.start({}, { deliveryTimes });
  closing.push(() => service.stop());
  const receiver = new Receiver(refusals);
  closing.push(() => receiver.close());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  return { service, receiver, url: await receiver.listen() };
};

test('changes are posted in order, signed, and repeated until they are taken', async () => {
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
  await service.running.close();

  const { config } = resolveConfig({ port: 0, data: service.directory, logLevel: 'silent' }, {});
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

test('a URL of another kind is refused, and a database that is not there', async () => {
  const { service, url } = await begin();
  for (const wrong of ['ftp://x', 'http://', 'x', 'http://a b']) {
    const { status } = await service.call('POST', '/v1/databases/fan/webhooks', { url: wrong });
    expect(status, wrong).toBe(400);
  }
  expect((await service.call('POST', '/v1/databases/none/webhooks', { url })).status).toBe(404);
  expect((await service.call('POST', '/v1/databases/none/webhooks', { url, after: 1 })).status).toBe(404);
});
