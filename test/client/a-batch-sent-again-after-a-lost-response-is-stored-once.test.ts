import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { Service } from '../server/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

/** Passes requests on to the service, and resets the connection in place of the first `lost` responses to writes. */
async function losing(
  lost: number,
  isWrite = (method?: string, url?: string) => method === 'POST' && url?.endsWith('/records') === true,
) {
  const counts = { writes: 0 };
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const onward = request(service.url + url, { method, headers }, async (answer) => {
      const body: Buffer[] = [];
      for await (const chunk of answer) body.push(chunk);
      // The whole response has arrived here: the service has committed.
      const written = isWrite(method, url);
      if (written) counts.writes += 1;
      if (written && counts.writes <= lost) outgoing.socket?.resetAndDestroy();
      else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(body));
    });
    incoming.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return { proxy, counts, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

test('records without an identity, equal ones included', async () => {
  const { proxy, counts, url } = await losing(2);
  const client = new Client({ url, key: service.adminKey });
  const database = await client.createDatabase('lost', { dimensions: 2 });
  const rows = ['a', 'b', 'a'].map((name) => ({ data: { name }, vector: [1, 0] }));
  const { results } = await database.upsert(rows);
  expect(counts.writes).toBe(3);
  expect(rows.every((row) => !('uuid' in row))).toBe(true);
  expect(new Set(results.map(({ uuid }) => uuid)).size).toBe(3);
  expect(results.every(({ uuid }) => /^[0-9a-f]{8}-[0-9a-f]{4}-7/.test(uuid))).toBe(true);
  const stored: [number, unknown][] = [];
  for await (const { id, data } of database.queryAll()) stored.push([id, data.name]);
  expect(stored.sort()).toEqual([
    [1, 'a'],
    [2, 'b'],
    [3, 'a'],
  ]);
  proxy.close();
});

test('a write with a condition is not sent again, because the first one may have been carried out', async () => {
  const isWrite = (method?: string, url?: string) =>
    /\/records(\/1|\/delete)?$/.test(url ?? '') && method !== 'GET';
  const { proxy, counts, url } = await losing(3, isWrite);
  const client = new Client({ url, key: service.adminKey });
  const database = await client.createDatabase('conditional', { dimensions: 2 });
  const lost = { code: 'unreachable' };
  const record = { id: 1, data: { n: 1 }, vector: [1, 0], if_changed_at: null };
  await expect(database.upsert([record])).rejects.toMatchObject(lost);
  const ifChangedAt = (await database.get(1))?.timestamps.changed_at;
  await expect(database.patch(1, { n: 2 }, { ifChangedAt })).rejects.toMatchObject(lost);
  const patched = await database.get(1);
  expect(patched?.data).toEqual({ n: 2 });
  const ids = [{ id: 1, if_changed_at: patched?.timestamps.changed_at ?? '' }];
  await expect(database.delete({ ids })).rejects.toMatchObject(lost);
  expect(await database.get(1)).toBeUndefined();
  expect(counts.writes).toBe(3);
  await database.upsert([record]);
  const { problems } = await database.patch(1, { n: 3 }, { ifChangedAt }).catch((error) => error);
  expect(problems).toMatchObject([{ pointer: '/ifChangedAt', code: 'precondition_failed' }]);
  expect(problems[0].changed_at > (ifChangedAt as string)).toBe(true);
  proxy.close();
});

test.each(['database', 'key'])('a %s whose deletion got no response counts as deleted', async (what) => {
  const { proxy, counts, url } = await losing(1, (method) => method === 'DELETE');
  const client = new Client({ url, key: service.adminKey });
  const remove = async () => {
    if (what === 'database') return (await client.createDatabase('gone', { dimensions: 2 })).drop();
    const { key_id } = await client.issueKey({ name: 'k', actions: ['search'], databases: '*' });
    return client.revokeKey(key_id);
  };
  await remove();
  expect(counts.writes).toBe(2);
  // Without a lost response, a missing record is still an error.
  await expect(client.database('gone').drop()).rejects.toMatchObject({ code: 'database_not_found' });
  proxy.close();
});
