import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { testInFull } from '../helpers/full.js';
import { KEY, serve } from '../helpers/processes.js';
import { DELIVERY_TIMES, Receiver } from './receiver.js';
import { fan, Service } from './service.js';

const ADMIN_KEY = 'the-admin-key-of-both-services';
const SEARCH = { search: { vector: [1, 0], threshold: 0 } };

describe.skipIf(NO_SERVER !== undefined)(
  `services of one PostgreSQL${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let store: string;
    const closing: (() => unknown)[] = [];

    const begin = async () => {
      const flags = { store, webhookAllow: '127.0.0.1' };
      const service = await Service.start(
        flags,
        { deliveryTimes: DELIVERY_TIMES },
        { COSIFT_ADMIN_KEY: ADMIN_KEY },
      );
      let stopped: Promise<void> | undefined;
      const stop = () => {
        stopped ??= service.stop();
        return stopped;
      };
      closing.push(stop);
      return Object.assign(service, { end: stop });
    };

    beforeAll(async () => {
      server = await PostgresServer.start();
      store = await server.createDatabase();
    });
    afterAll(async () => {
      for (const close of closing.splice(0).reverse()) await close();
      await server?.stop();
    });

    test('what one writes the other answers, and a revoked key ends at both', async () => {
      const [one, other] = await Promise.all([begin(), begin()]);
      expect((await one.call('PUT', '/v1/databases/fan', { dimensions: 2 })).status).toBe(201);
      expect((await other.call('PUT', '/v1/databases/fan', { dimensions: 2 })).status).toBe(200);
      const written = await one.call('POST', '/v1/databases/fan/records', { records: fan(30) });
      expect(written.status).toBe(200);
      const { body } = await other.call('POST', '/v1/databases/fan/search', SEARCH);
      expect(body.results[0]).toMatchObject({ id: 1, relevance_score: 1 });

      const wanted = { name: 'k', actions: ['search'], databases: ['fan'] };
      const { key, key_id } = (await one.call('POST', '/v1/keys', wanted)).body;
      const search = async () =>
        (await other.call('POST', '/v1/databases/fan/search', SEARCH, { 'x-api-key': key })).status;
      await expect.poll(search).toBe(200);
      expect((await one.call('DELETE', `/v1/keys/${key_id}`)).status).toBe(204);
      await expect.poll(search).toBe(401);
      expect((await other.call('GET', '/v1/keys')).body.keys).toEqual([]);
    });

    test('an alias that one switches the other follows at once, also one with the name of a former database', async () => {
      const [one, other] = await Promise.all([begin(), begin()]);
      for (const id of ['old', 'new']) await one.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
      const named = async () => (await other.call('GET', '/v1/databases/current')).body.id;
      for (const database of ['old', 'new', 'old', 'new']) {
        expect((await one.call('PUT', '/v1/aliases/current', { database })).body.database).toBe(database);
        expect(await named()).toBe(database);
      }
      // The other service knows the database, until a request finds that it is gone.
      expect((await other.call('POST', '/v1/databases/old/search', SEARCH)).status).toBe(200);
      expect((await one.call('DELETE', '/v1/databases/old')).status).toBe(204);
      expect((await other.call('GET', '/v1/databases/old')).status).toBe(404);
      expect((await one.call('PUT', '/v1/aliases/old', { database: 'new' })).status).toBe(201);
      expect((await other.call('GET', '/v1/databases/old')).body.id).toBe('new');
      expect((await one.call('GET', '/v1/databases/old')).body.id).toBe('new');
    });

    test('changes are delivered once and in order while the service that delivers them changes', async () => {
      const [one, other] = await Promise.all([begin(), begin()]);
      const receiver = new Receiver();
      closing.push(() => receiver.close());
      const url = await receiver.listen();
      await one.call('PUT', '/v1/databases/hooked', { dimensions: 2 });
      const created = await one.call('POST', '/v1/databases/hooked/webhooks', { url });
      expect(created.status).toBe(201);
      receiver.secret = created.body.secret;
      for (const record of fan(20).slice(0, 10)) {
        await other.call('POST', '/v1/databases/hooked/records', { records: [record] });
      }
      const ids = (count: number) => Array.from({ length: count }, (_, at) => `created ${at + 1}`);
      expect(await receiver.changes(10)).toEqual(ids(10));
      // The other service lists it, although it does not deliver.
      await expect
        .poll(async () => (await other.call('GET', '/v1/databases/hooked/webhooks')).body.webhooks)
        .toMatchObject([{ webhook_id: created.body.webhook_id, position: 10, failures: 0 }]);
      await one.end();
      await other.call('POST', '/v1/databases/hooked/records', { records: fan(20) });
      expect(await receiver.changes(20)).toEqual(ids(20));
      expect(receiver.deliveries.every(({ signed }) => signed)).toBe(true);
      const { status } = await other.call(
        'DELETE',
        `/v1/databases/hooked/webhooks/${created.body.webhook_id}`,
      );
      expect(status).toBe(204);
    });

    test('another service goes on with the webhooks of one that is killed', async () => {
      const other = await begin();
      const killed = await serve(other.directory, '--store', store, '--webhook-allow', '127.0.0.1');
      const receiver = new Receiver();
      closing.push(() => receiver.close());
      await other.call('PUT', '/v1/databases/left', { dimensions: 2 });
      const created = await fetch(`${killed.url}/v1/databases/left/webhooks`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ url: await receiver.listen() }),
      });
      expect(created.status).toBe(201);
      await other.call('POST', '/v1/databases/left/records', { records: fan(8).slice(0, 4) });
      const ids = (count: number) => Array.from({ length: count }, (_, at) => `created ${at + 1}`);
      expect(await receiver.changes(4)).toEqual(ids(4));
      await expect
        .poll(async () => (await other.call('GET', '/v1/databases/left/webhooks')).body.webhooks)
        .toMatchObject([{ position: 4 }]);
      killed.command.child.kill('SIGKILL');
      await killed.command.ended();
      await other.call('POST', '/v1/databases/left/records', { records: fan(8).slice(4) });
      expect(await receiver.changes(8)).toEqual(ids(8));
    });

    test('the failures of a webhook are listed by every service', async () => {
      const [one, other] = await Promise.all([begin(), begin()]);
      const receiver = new Receiver(Number.POSITIVE_INFINITY);
      closing.push(() => receiver.close());
      await one.call('PUT', '/v1/databases/failing', { dimensions: 2 });
      const url = await receiver.listen();
      const { body } = await one.call('POST', '/v1/databases/failing/webhooks', { url });
      await one.call('POST', '/v1/databases/failing/records', { records: fan(1) });
      const listed = async () => (await other.call('GET', '/v1/databases/failing/webhooks')).body.webhooks[0];
      await expect.poll(async () => (await listed()).failures).toBeGreaterThan(1);
      expect((await listed()).last_failure).toBe('rejected');
      // It is deleted at the service that does not deliver it.
      const { status } = await other.call('DELETE', `/v1/databases/failing/webhooks/${body.webhook_id}`);
      expect(status).toBe(204);
      await expect
        .poll(async () => {
          const { posts } = receiver;
          await other.call('GET', '/v1/databases/failing/webhooks');
          return receiver.posts - posts;
        })
        .toBe(0);
    });

    test('the first service makes the admin key of all', async () => {
      const url = await server.createDatabase();
      const printed: string[] = [];
      const first = await Service.start({ store: url }, { print: (line) => printed.push(line) });
      closing.push(() => first.stop());
      expect(printed[0]).toContain(first.adminKey);
      const other = await Service.start({ store: url });
      closing.push(() => other.stop());
      expect(other.running.admin.key).toBeUndefined();
      const key = { 'x-api-key': first.adminKey };
      expect((await other.call('GET', '/v1/databases', undefined, key)).status).toBe(200);
      const guess = { 'x-api-key': 'another' };
      expect((await other.call('GET', '/v1/databases', undefined, guess)).status).toBe(401);
    });

    testInFull('connections and the time of a statement are limited by settings', async () => {
      const url = await server.createDatabase();
      const name = new URL(url).pathname.slice(1);
      // Statements that do not wait for the lock end within this time on a slow machine, too.
      const settings = { store: url, storeConnections: 9, storeStatementTimeoutSeconds: 10 };
      const service = await Service.start(settings);
      closing.push(() => service.stop());
      await service.call('PUT', '/v1/databases/fan', { dimensions: 2 });
      await service.call('POST', '/v1/databases/fan/records', { records: fan(30) });
      const searches = Array.from({ length: 30 }, () =>
        service.call('POST', '/v1/databases/fan/search', SEARCH),
      );
      expect((await Promise.all(searches)).map(({ status }) => status)).toEqual(Array(30).fill(200));
      const count = await server.run(`SELECT count(*) FROM pg_stat_activity WHERE datname = '${name}'`);
      // 9 for records, 4 for keys and webhooks, 2 that listen, and 2 that cancel statements.
      expect(Number(count)).toBeLessThanOrEqual(17);

      const lock = 'BEGIN; SELECT * FROM cosift.databases FOR UPDATE; SELECT pg_sleep(600)';
      // It may end before the statement that cancels it has.
      const unlocked = expect(server.run(lock, name)).rejects.toThrow('canceling statement');
      const isLocked = `SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'`;
      await expect.poll(() => server.run(isLocked)).toBe('1');
      const { status, body } = await service.call('POST', '/v1/databases/fan/records', { records: fan(31) });
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { code: 'timed_out', detail: 'the database took too long' },
      });
      await server.run(
        `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND wait_event = 'PgSleep'`,
      );
      await unlocked;
      expect((await service.call('POST', '/v1/databases/fan/records', { records: fan(31) })).status).toBe(
        200,
      );
    });

    test('a backup is refused with the tool that makes one', async () => {
      const service = await begin();
      const { status, body } = await service.call('GET', '/v1/backup');
      expect(status).toBe(400);
      expect(body.detail).toContain('pg_dump');
    });
  },
);
