import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN } from '../../src/server/keys/caller.js';
import { fileKeys } from '../../src/server/keys/key-file.js';
import { HeldModel } from '../helpers/held-model.js';
import { issueKey, Raw, request } from './raw.js';
import { Service } from './service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start({ webhookAllow: '127.0.0.1' });
  await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
});
afterAll(() => service.stop());

const HOOK = JSON.stringify({ url: 'http://127.0.0.1:9/' });

test('a body that arrives after the revocation is refused', async () => {
  const wanted = { name: 'k', actions: ['databases.manage'], databases: '*' };
  const { key, key_id } = (await service.call('POST', '/v1/keys', wanted)).body;
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write(
    `POST /v1/databases/fan/webhooks HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\nexpect: 100-continue\r\n` +
      `content-type: application/json\r\ncontent-length: ${HOOK.length}\r\n\r\n`,
  );
  // The key of the head has been accepted.
  await expect.poll(() => text).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  expect((await service.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
  socket.write(HOOK);
  await expect.poll(() => text).toMatch(/\r\n\r\nHTTP\/1\.1 401 [\s\S]*"request_id"/);
  socket.destroy();
  expect((await service.call('GET', '/v1/databases/fan/webhooks')).body.webhooks).toEqual([]);
});

test('a revocation holds for the next request on the same connection', async () => {
  const { key, key_id } = await issueKey(service);
  const search = JSON.stringify({ search: { vector: [1, 0] } });
  const raw = new Raw(service);
  raw.socket.write(request(key, 'POST', '/v1/databases/fan/search', search));
  await raw.until('"results":[]');
  expect((await service.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
  raw.socket.write(request(key, 'POST', '/v1/databases/fan/search', search));
  await raw.until('HTTP/1.1 401 ');
  raw.socket.destroy();
});

test('a key that was revoked a moment ago issues and revokes no other', async () => {
  const keys = fileKeys(`${service.directory}/apart`, 'admin');
  const wanted = { name: 'k', actions: ['keys.manage' as const], databases: '*' as const };
  const { key, key_id } = await keys.issue(wanted, ADMIN);
  const caller = await keys.authenticate(key);
  if (caller === undefined) throw new Error('the key is not accepted');
  const refused = expect.objectContaining({ code: 'unauthorized' });
  const [revoked, issued, again] = await Promise.allSettled([
    keys.revoke(key_id, ADMIN, { descendants: true }),
    keys.issue(wanted, caller),
    keys.revoke(key_id, caller),
  ]);
  expect(revoked.status).toBe('fulfilled');
  expect(issued).toEqual({ status: 'rejected', reason: refused });
  expect(again).toEqual({ status: 'rejected', reason: refused });
  expect(await keys.list(ADMIN)).toEqual([]);
});

test('a request that waits for changes gets none after the revocation, even when the server stops', async () => {
  const stopping = await Service.start();
  await stopping.call('PUT', '/v1/databases/quiet', { dimensions: 2 });
  const wanted = { name: 'k', actions: ['records.read'], databases: '*' };
  const { key, key_id } = (await stopping.call('POST', '/v1/keys', wanted)).body;
  const waiting = stopping.call('GET', '/v1/databases/quiet/changes?wait=30', undefined, {
    'x-api-key': key,
  });
  while (!/kind="waits"\} 1/.test((await stopping.call('GET', '/metrics')).text));
  expect((await stopping.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
  await stopping.stop();
  expect((await waiting).status).toBe(401);
});

test('a write whose texts are embedded after the revocation stores nothing', async () => {
  const model = await HeldModel.start();
  const held = await Service.start({ models: { first: model.source } });
  try {
    await held.call('PUT', '/v1/databases/texts', { model: 'first' });
    const records = { records: [{ id: 1, data: { text: 'the first' } }] };
    expect((await held.call('POST', '/v1/databases/texts/records', records)).status).toBe(200);
    const { key, key_id } = await issueKey(held);
    const writes = [
      ['POST', '/v1/databases/texts/records', { records: [{ id: 2, data: { text: 'a batch' } }] }],
      ['PATCH', '/v1/databases/texts/records/1', { data: { text: 'a patch' } }],
    ] as const;
    model.allow(0);
    const calls = writes.map(([method, path, body]) => held.call(method, path, body, { 'x-api-key': key }));
    await expect
      .poll(() => model.requests.flat().filter((text) => /a (batch|patch)/.test(text)).length)
      .toBe(2);
    expect((await held.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
    model.allow(Number.POSITIVE_INFINITY);
    for (const { status, body } of await Promise.all(calls))
      expect([status, body.code]).toEqual([401, 'unauthorized']);
    const { body } = await held.call('POST', '/v1/databases/texts/query', {});
    expect(body.results.map(({ data }: { data: object }) => data)).toEqual([{ text: 'the first' }]);
  } finally {
    await held.stop();
  }
});
