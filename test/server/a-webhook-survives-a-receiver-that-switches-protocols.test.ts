import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { AddressPolicy } from '../../src/config/index.js';
import { post } from '../../src/server/webhooks/post.js';
import { fan, Service } from './service.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A server that answers whatever comes with `response`, and how often it did. */
async function answering(response: string) {
  const sockets = new Set<Socket>();
  let answers = 0;
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('data', () => {
      answers += 1;
      socket.write(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, answers: () => answers };
}

const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n';

test('the delivery has failed', async () => {
  const { url } = await answering(SWITCH);
  const policy = new AddressPolicy(['127.0.0.1']);
  const fault = await post(url, {}, '{}', policy, new AbortController().signal);
  expect(fault?.kind).toBe('unreachable');
});

test('it is repeated, and the webhook and the service can be ended', async () => {
  const { url, answers } = await answering(SWITCH);
  const deliveryTimes = { responseMs: 10_000, firstRetryMs: 5, maxRetryMs: 20 };
  const service = await Service.start({ webhookAllow: ['127.0.0.1'] }, { deliveryTimes });
  closing.push(() => service.stop());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(1) });
  const made = [];
  for (let i = 0; i < 2; i++) {
    made.push((await service.call('POST', '/v1/databases/fan/webhooks', { url, after: 0 })).body.webhook_id);
  }
  await expect.poll(answers).toBeGreaterThan(4);
  expect((await service.call('DELETE', `/v1/databases/fan/webhooks/${made[0]}`)).status).toBe(204);
});
