import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../../src/client/index.js';
import { fan, Service } from '../server/service.js';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.stop());

const connected = () => new Client({ url: service.url, key: service.adminKey });

/** A service that holds every response until `respond` is called. */
async function slowService() {
  const held: ServerResponse[] = [];
  let arrived!: () => void;
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const server = createServer((_, response) => {
    held.push(response);
    arrived();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    arrival,
    client: new Client({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'k' }),
    respond: (status: number, body: object) => {
      for (const response of held.splice(0)) response.writeHead(status).end(JSON.stringify(body));
    },
    stop: () => server.close(),
  };
}

test('calls in progress finish, waits for changes end at once, and later calls are refused', async () => {
  const client = connected();
  const fans = await client.createDatabase('fans', { dimensions: 2 });
  const quiet = await client.createDatabase('quiet', { dimensions: 2 });
  const begun = {
    written: fans.upsert(fan(2_500)),
    // Far longer than the test may take.
    changes: Array.from({ length: 12 }, () => quiet.changes({ waitMs: 50_000 })),
  };
  const closing = client.close();
  expect(client.close()).toBe(closing);
  expect((await begun.written).created).toBe(2_500);
  for (const { changes } of await Promise.all(begun.changes)) expect(changes).toEqual([]);
  await closing;
  for (const late of [
    () => fans.upsert(fan(1)),
    () => fans.query(),
    () => fans.changes(),
    () => fans.follow().next(),
    () => fans.upsertLines(['{}']).next(),
    () => fans.delete({ ids: [1] }),
    () => client.createDatabase('late'),
    () => client.databases(),
    () => client.keys(),
  ]) {
    await expect(late()).rejects.toMatchObject({
      code: 'not_ready',
      detail: expect.stringMatching(/closed/),
    });
  }
});

test('a close waits for the response of a request', async () => {
  const { client, arrival, respond, stop } = await slowService();
  const listed = client.databases();
  await arrival;
  let closed = false;
  const closing = client.close().then(() => {
    closed = true;
  });
  // A turn of the event loop: enough for a close that waits for nothing.
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(false);
  respond(200, { databases: [] });
  expect(await listed).toEqual([]);
  await closing;
  stop();
});

test('a failed request is not repeated', async () => {
  const { client, arrival, respond, stop } = await slowService();
  const listed = client.databases();
  await arrival;
  const closing = client.close();
  respond(503, { code: 'busy', detail: 'later' });
  await expect(listed).rejects.toMatchObject({ code: 'busy' });
  await closing;
  stop();
});

test('iterators end at the next page, and an asynchronous source is read no further', async () => {
  const client = connected();
  const pages = await client.createDatabase('pages', { dimensions: 2 });
  await pages.upsert(fan(150));
  const found = pages.searchAll({ vector: [1, 0] }, { threshold: 0, limit: 40 });
  expect((await found.next()).done).toBe(false);
  let asked!: () => void;
  const asking = new Promise<void>((resolve) => {
    asked = resolve;
  });
  async function* source() {
    yield* fan(1_500);
    asked();
    await new Promise(() => undefined);
  }
  const writing = pages.upsert(source());
  await asking;
  const closing = client.close();
  await expect(writing).rejects.toMatchObject({ code: 'not_ready', fields: { committed: 1_000 } });
  await closing;
  const rest = async () => {
    for await (const _ of found);
  };
  await expect(rest()).rejects.toMatchObject({ code: 'not_ready' });
});

test('a stream of lines that has not ended fails', async () => {
  const client = connected();
  const lines = await client.createDatabase('lines', { dimensions: 2 });
  async function* paused() {
    yield '{"id":1,"data":{},"vector":[1,0]}\n';
    await new Promise(() => undefined);
  }
  const events = lines.upsertLines(paused());
  expect((await events.next()).value).toMatchObject({ type: 'progress', committed: 1 });
  const next = events.next();
  const closing = client.close();
  await expect(next).rejects.toMatchObject({ code: 'not_ready' });
  await closing;
});
