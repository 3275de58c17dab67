import { lookup } from 'node:dns/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { AddressPolicy } from '../../src/config/index.js';
import { post } from '../../src/server/webhooks/post.js';
import { DELIVERY_TIMES as deliveryTimes, Receiver } from './receiver.js';
import { fan, Service } from './service.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const begin = async (flags: Record<string, unknown>) => {
  const service = await Service.start(flags, { deliveryTimes });
  closing.push(() => service.stop());
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
  await service.call('POST', '/v1/databases/fan/records', { records: fan(1) });
  return service;
};

/** A server that counts connections, and its port. */
const listen = async (answer: RequestListener) => {
  const server = createServer(answer);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  closing.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
};

const PRIVATE = [
  '127.0.0.1',
  '127.8.9.1',
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.2.1',
  '192.168.0.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
];

test.each(PRIVATE)('%s is refused, by itself and where a name resolves to it', async (address) => {
  const policy = new AddressPolicy();
  expect(policy.refusesHost(address)).toBe(true);
  expect(policy.allows('example.org', address)).toBe(false);
  const host = address.includes(':') ? `[${address}]` : address;
  const fault = await post(`http://${host}:9/`, {}, '', policy, new AbortController().signal);
  expect(fault).toMatchObject({ kind: 'unreachable', detail: expect.stringContaining('webhook_allow') });
});

test.each(['1.1.1.1', '93.184.216.34', '2606:4700::1111', '::ffff:1.1.1.1'])('%s is public', (address) => {
  expect(new AddressPolicy().refusesHost(address)).toBe(false);
  expect(new AddressPolicy().allows('example.org', address)).toBe(true);
});

test('the setting allows ranges, addresses and names, and nothing else', () => {
  const policy = new AddressPolicy(['10.1.0.0/16', '192.168.0.7', 'fd00::/8', 'receiver.internal']);
  const allowed = (host: string, address = host) => policy.allows(host, address);
  expect([allowed('10.1.2.3'), allowed('10.2.2.3')]).toEqual([true, false]);
  expect([allowed('192.168.0.7'), allowed('192.168.0.8')]).toEqual([true, false]);
  expect([allowed('fd12::1'), allowed('fc00::1')]).toEqual([true, false]);
  expect(allowed('::ffff:10.1.2.3')).toBe(true);
  expect([allowed('receiver.internal', '10.9.9.9'), allowed('other.internal', '10.9.9.9')]).toEqual([
    true,
    false,
  ]);
  expect(() => new AddressPolicy(['10.0.0.0/33'])).toThrow('10.0.0.0/33');
  expect(() => new AddressPolicy(['2130706433'])).toThrow('2130706433');
});

test.each([
  'http://127.0.0.1/hook',
  'http://localhost/hook',
  'http://api.localhost/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://[::ffff:127.0.0.1]/',
  'http://169.254.169.254/latest/meta-data',
])('a webhook to %s cannot be made', async (url) => {
  const service = await begin({});
  const { status, body } = await service.call('POST', '/v1/databases/fan/webhooks', { url });
  expect([status, body.code, body.errors[0].pointer]).toEqual([400, 'invalid_request', '/url']);
  expect(body.errors[0].detail).toContain('webhook_allow');
});

const machine = hostname();
const resolved = await lookup(machine).catch(() => undefined);
const named = resolved !== undefined && !new AddressPolicy().allows(machine, resolved.address);
if (!named) console.log(`skipped: ${machine} does not resolve to an address of this machine`);

test.skipIf(!named)(
  'a name is checked as the connection is made, and what failed tells nothing',
  async () => {
    const { port, connections } = await listen((_, response) => response.end());
    const service = await begin({});
    const failing = async (url: string) => {
      const { status, body } = await service.call('POST', '/v1/databases/fan/webhooks', { url, after: 0 });
      expect(status).toBe(201);
      for (;;) {
        const { webhooks } = (await service.call('GET', '/v1/databases/fan/webhooks')).body;
        const {
          webhook_id,
          created_at,
          url: _,
          ...told
        } = webhooks.find((webhook: { webhook_id: string }) => webhook.webhook_id === body.webhook_id);
        if (told.failures > 1) return { ...told, failures: 'several' };
      }
    };
    const refused = await failing(`http://${machine}:${port}/`);
    expect(connections()).toBe(0);
    const told = { position: 0, failures: 'several', last_failure: 'unreachable', created_by: 'admin' };
    expect(refused).toEqual(told);
    expect(await failing('http://no-such-host.invalid/')).toEqual(refused);
  },
);

test.skipIf(!named)('a name that the setting lists is reached', async () => {
  const receiver = new Receiver();
  closing.push(() => receiver.close());
  const { port } = new URL(await receiver.listen('0.0.0.0'));
  const service = await begin({ webhookAllow: machine });
  const url = `http://${machine}:${port}/`;
  expect((await service.call('POST', '/v1/databases/fan/webhooks', { url, after: 0 })).status).toBe(201);
  expect(await receiver.changes(1)).toEqual(['created 1']);
});

test('a redirect is a failure, and its target is not asked', async () => {
  const target = await listen((_, response) => response.end());
  const redirecting = await listen((_, response) =>
    response.writeHead(302, { location: `http://127.0.0.1:${target.port}/` }).end(),
  );
  const policy = new AddressPolicy(['127.0.0.1']);
  const url = `http://127.0.0.1:${redirecting.port}/`;
  expect(await post(url, {}, '{}', policy, new AbortController().signal)).toEqual({
    kind: 'rejected',
    detail: 'status 302',
  });
  expect(target.connections()).toBe(0);
});

test('a URL with a password is refused, because listings show URLs', async () => {
  const service = await begin({ webhookAllow: ['127.0.0.1'] });
  for (const user of ['user:secret@', 'user@', ':secret@']) {
    const url = `https://${user}example.org/`;
    const { status, body } = await service.call('POST', '/v1/databases/fan/webhooks', { url });
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          pointer: '/url',
          code: 'invalid_value',
          detail: 'must not contain a user name or a password, because listings show it',
        },
      ],
    ]);
  }
});
