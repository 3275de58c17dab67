import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, CosiftError } from '../../src/client/index.js';
import { fan, Service } from '../server/service.js';

let service: Service;
let client: Client;

/** A server on a free port, and its URL. */
const listen = async (listener: RequestListener) => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

beforeAll(async () => {
  service = await Service.start({ webhookAllow: '127.0.0.1' });
  client = new Client({ url: service.url, key: service.adminKey });
});
afterAll(() => service.stop());

describe('against a service', () => {
  test('waits until a database is embedded with another model', async () => {
    const vectors = await client.createDatabase('vectors', { dimensions: 2 });
    await vectors.upsert(fan(40));
    const seen: number[] = [];
    const model = 'all-MiniLM-L6-v2';
    const ended = await vectors.reembed(model, { onProgress: ({ done }) => seen.push(done) });
    expect(ended).toMatchObject({ state: 'done', from: null, model, done: 40, records: 40 });
    expect(seen.at(-1)).toBe(40);
    expect(await vectors.describe()).toMatchObject({ model, records: 40 });
    await expect(vectors.reembed('no-such-model')).rejects.toMatchObject({ code: 'invalid_request' });
    const signal = AbortSignal.abort(new Error('no more'));
    await expect(vectors.reembed(model, { signal })).rejects.toThrow('no more');
    await vectors.drop();
  });

  test('writes, drains all pages, reads and deletes', async () => {
    const fans = await client.createDatabase('fans', { dimensions: 2 });
    const written = await fans.upsert(fan(1500));
    expect(written.created).toBe(1500);
    expect(written.results).toHaveLength(1500);

    const ids: number[] = [];
    for await (const { id } of fans.searchAll({ vector: [1, 0] }, { threshold: 0 })) ids.push(id);
    expect(ids).toEqual(Array.from({ length: 1500 }, (_, i) => i + 1));
    const uuids = new Set<string>();
    for await (const { uuid } of fans.queryAll({ limit: 64 })) uuids.add(uuid);
    expect(uuids.size).toBe(1500);

    expect((await fans.get(7))?.data.name).toBe('record 7');
    expect(await fans.delete({ ids: [7] })).toBe(1);
    expect(await fans.get(7)).toBeUndefined();
    const last = (await fans.describe()).records;
    expect(last).toBe(1499);
    for await (const { kind, id } of fans.follow({ after: 1500 })) {
      expect([kind, id]).toEqual(['deleted', 7]);
      break;
    }
    await fans.drop();
    expect(await client.databases()).toEqual([]);
  });

  test('revokes a key alone or with what it has issued', async () => {
    const family = async () => {
      const parent = await client.issueKey({ name: 'p', actions: ['keys.manage'], databases: '*' });
      const child = await new Client({ url: service.url, key: parent.key }).issueKey({
        name: 'c',
        actions: ['keys.manage'],
        databases: '*',
      });
      expect(child.issued_by).toBe(parent.key_id);
      return [parent.key_id, child.key_id] as const;
    };
    const listed = async () => (await client.keys()).map(({ key_id }) => key_id);
    const [parent, child] = await family();
    await client.revokeKey(parent);
    expect(await listed()).toEqual([child]);
    await client.revokeKey(parent, { descendants: true });
    expect(await listed()).toEqual([]);
    const [other] = await family();
    await client.revokeKey(other, { descendants: true });
    expect(await listed()).toEqual([]);
  });

  test('creates, lists and deletes webhooks', async () => {
    const posted: unknown[] = [];
    const { server, url } = await listen(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      posted.push(JSON.parse(text));
      response.writeHead(204).end();
    });
    const fans = await client.createDatabase('hooked', { dimensions: 2 });
    await fans.upsert(fan(3));
    const { secret, ...created } = await fans.createWebhook({ url, after: 1 });
    expect(secret).toMatch(/^whsec_/);
    expect(created).toMatchObject({ url, failures: 0 });
    const other = await fans.createWebhook({ url: `${url}/other` });
    expect(other.position).toBe(3);

    let listed = await fans.webhooks();
    while (listed[0]!.position < 3) listed = await fans.webhooks();
    expect(listed).toEqual([
      { ...created, position: 3 },
      { ...other, secret: undefined },
    ]);
    const { changes, epoch } = await fans.changes({ after: 1 });
    expect(posted).toEqual([{ database: 'hooked', epoch, changes, position: 3 }]);

    await fans.deleteWebhook(created.webhook_id);
    expect((await fans.webhooks()).map(({ webhook_id }) => webhook_id)).toEqual([other.webhook_id]);
    const again = fans.deleteWebhook(created.webhook_id);
    await expect(again).rejects.toMatchObject({ code: 'webhook_not_found', status: 404 });
    await expect(fans.createWebhook({ url: 'ftp://x' })).rejects.toMatchObject({ code: 'invalid_request' });
    const nowhere = client.database('none').createWebhook({ url });
    await expect(nowhere).rejects.toMatchObject({ code: 'database_not_found' });
    await fans.drop();
    server.close();
  });

  test('throws typed errors that point at the fault', async () => {
    const filter = { rules: [{ column: 'a', operator: 'equal' }] };
    const error = await client
      .database('fans')
      .search('x', { filter } as never)
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(CosiftError);
    expect(error.code).toBe('invalid_filter');
    expect(error.problems[0].pointer).toBe('/filter/rules/0/operator');
  });

  test('issues, lists and revokes keys', async () => {
    const { key, key_id } = await client.issueKey({ name: 'k', actions: ['search'], databases: '*' });
    const limited = new Client({ url: service.url, key });
    await expect(limited.databases()).rejects.toMatchObject({ code: 'forbidden' });
    expect((await client.keys()).map((described) => described.key_id)).toContain(key_id);
    await client.revokeKey(key_id);
    await expect(limited.databases()).rejects.toMatchObject({ code: 'unauthorized' });
  });
});

describe('against a service in trouble', () => {
  /** Answers the statuses in turn, then 200. */
  const troubled = async (statuses: number[], headers: Record<string, string> = { 'retry-after': '0' }) => {
    let calls = 0;
    const { server, url } = await listen((_, response) => {
      const status = statuses[calls++] ?? 200;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(
        status === 200
          ? '{"databases":[]}'
          : JSON.stringify({ code: status === 429 ? 'rate_limited' : 'busy', detail: 'later' }),
      );
    });
    return { url, calls: () => calls, [Symbol.asyncDispose]: async () => void server.close() };
  };

  test('repeats a request after 429 and 503', async () => {
    const server = await troubled([429, 503, 503]);
    expect(await new Client({ url: server.url, key: 'k' }).databases()).toEqual([]);
    expect(server.calls()).toBe(4);
    await server[Symbol.asyncDispose]();
  });

  test('gives up after its tries, or where the wait is too long', async () => {
    const server = await troubled(Array(20).fill(503), {});
    await expect(new Client({ url: server.url, key: 'k', retries: 2 }).databases()).rejects.toMatchObject({
      code: 'busy',
    });
    expect(server.calls()).toBe(3);
    await server[Symbol.asyncDispose]();

    const slow = await troubled([429], { 'retry-after': '3600' });
    await expect(new Client({ url: slow.url, key: 'k' }).databases()).rejects.toMatchObject({ status: 429 });
    expect(slow.calls()).toBe(1);
    await slow[Symbol.asyncDispose]();
  });

  test('a signal ends even the wait', async () => {
    const server = await troubled([503, 503], { 'retry-after': '50' });
    const signal = AbortSignal.timeout(100);
    await expect(new Client({ url: server.url, key: 'k' }).databases({ signal })).rejects.toThrow(/timeout/);
    await server[Symbol.asyncDispose]();
  });

  test('sends again after a lost connection, but not what makes a secret', async () => {
    let calls: string[] = [];
    const { server, url } = await listen((request) => {
      calls.push(`${request.method} ${request.url}`);
      request.socket.destroy();
    });
    const cut = new Client({ url, key: 'k', retries: 1 });
    const made = async (call: Promise<unknown>) => {
      calls = [];
      await expect(call).rejects.toMatchObject({ code: 'unreachable' });
      return calls;
    };
    const hook = 'POST /v1/databases/webhooks/webhooks';
    const database = cut.database('webhooks');
    expect(await made(database.createWebhook({ url: 'https://example.org' }))).toEqual([hook]);
    const issued = cut.issueKey({ name: 'k', actions: ['search'], databases: '*' });
    expect(await made(issued)).toEqual(['POST /v1/keys']);
    expect(await made(cut.keys())).toEqual(Array(2).fill('GET /v1/keys'));
    expect(await made(database.webhooks())).toEqual(Array(2).fill('GET /v1/databases/webhooks/webhooks'));
    expect(await made(cut.createDatabase('webhooks'))).toEqual(Array(2).fill('PUT /v1/databases/webhooks'));
    server.close();
  });
});
