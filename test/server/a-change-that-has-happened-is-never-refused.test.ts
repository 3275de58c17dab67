import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { InFlight } from '../../src/server/admission/in-flight.js';
import { holdingResources } from '../../src/server/admission/request-resources.js';
import { CAPACITY } from '../../src/server/app.js';
import { asCosiftError } from '../../src/server/http/problem-response.js';
import { ADMIN } from '../../src/server/keys/caller.js';
import type { Operation } from '../../src/server/operation.js';
import { decorateOperation, setOperation } from '../../src/server/operation.js';

/** Two responses of this size exceed the share of a key. */
const BYTES = 4_000;

/** An app with a route that changes something, one that searches, one that reads, and little room for responses. */
function begin() {
  const room = { total: 100_000, perKey: 5_000 };
  const inFlight = new InFlight(CAPACITY, { bodies: room, unsent: room });
  const app = Fastify();
  const counts = { handled: 0 };
  let release = () => {};
  const both = new Promise<void>((resolve) => {
    release = resolve;
  });
  app.decorateRequest('caller', null);
  decorateOperation(app);
  app.addHook('onRequest', async (request) => {
    setOperation(request);
    request.caller = ADMIN;
  });
  inFlight.guard(app);
  app.setErrorHandler((error, _, reply) => reply.code(asCosiftError(error).status).send('refused'));
  for (const kind of ['writes', 'searches', 'reads'] as const) {
    app.route({
      method: kind === 'reads' ? 'GET' : 'POST',
      url: `/${kind}`,
      config: { operation: { kind } as Operation },
      handler: holdingResources(async () => {
        counts.handled += 1;
        if (counts.handled === 2) release();
        await both;
        return 'x'.repeat(BYTES);
      }),
    });
  }
  const ask = async (url: string, method: 'GET' | 'HEAD' | 'POST' = 'POST') =>
    (await app.inject({ method, url })).statusCode;
  return { app, inFlight, counts, ask };
}

test('a change gets its response although the limit of unsent bytes is reached; a search is refused', async () => {
  const changes = begin();
  expect(await Promise.all([changes.ask('/writes'), changes.ask('/writes')])).toEqual([200, 200]);
  const searches = begin();
  const statuses = await Promise.all([searches.ask('/searches'), searches.ask('/searches')]);
  expect(statuses.sort()).toEqual([200, 503]);
});

test.each(['GET', 'HEAD'] as const)(
  'a read by %s is refused at the limit of unsent bytes',
  async (method) => {
    const { ask } = begin();
    const statuses = await Promise.all([ask('/reads', method), ask('/reads', method)]);
    expect(statuses.sort()).toEqual([200, 503]);
  },
);

test('a change whose key has no room for a response does not begin', async () => {
  const { app, inFlight, counts, ask } = begin();
  let send = () => {};
  const sent = new Promise<void>((resolve) => {
    send = resolve;
  });
  app.get('/large', async () => 'x'.repeat(2 * BYTES));
  // After the response was counted.
  app.addHook('onSend', async ({ url }) => {
    if (url === '/large') await sent;
  });
  const large = app.inject('/large');
  while (inFlight.bytes().unsent === 0) await new Promise(setImmediate);
  expect(await ask('/writes')).toBe(503);
  expect(counts.handled).toBe(0);
  send();
  expect((await large).statusCode).toBe(200);
  await expect.poll(() => inFlight.bytes().unsent).toBe(0);
});
