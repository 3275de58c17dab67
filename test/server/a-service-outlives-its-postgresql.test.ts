import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { Service } from './service.js';

describe.skipIf(NO_SERVER !== undefined)(
  `a service on PostgreSQL${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let service: Service;
    beforeAll(async () => {
      server = await PostgresServer.start();
      service = await Service.start({ store: await server.createDatabase() });
    });
    afterAll(async () => {
      await service?.stop();
      await server?.stop();
    });

    test('says while the server is away that it is not ready, and goes on when the server is back', async () => {
      const record = (id: number) => ({ records: [{ id, data: {}, vector: [1, 0] }] });
      await service.call('PUT', '/v1/databases/db', { dimensions: 2 });
      await service.call('POST', '/v1/databases/db/records', record(1));
      const issued = await service.call('POST', '/v1/keys', {
        name: 'prometheus',
        databases: '*',
        actions: ['databases.manage'],
      });
      const prometheus = { 'x-api-key': issued.body.key };
      const scrape = async () => {
        const { status, text } = await service.call('GET', '/metrics', undefined, prometheus);
        expect(status).toBe(200);
        const value = (name: string) => {
          const [, found] = new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+-]+)$`, 'm').exec(text) ?? [];
          return found === undefined ? undefined : Number(found);
        };
        return {
          up: value('cosift_store_up'),
          records: value('cosift_database_records'),
          commits: value('cosift_commits_total'),
          cpu: value('process_cpu_seconds_total'),
        };
      };
      const cpu = expect.any(Number);
      const up = { up: 1, records: 1, commits: 1, cpu };
      await expect.poll(scrape).toEqual(up);
      const waiting = service.call('GET', '/v1/databases/db/changes?after=1&wait=60');
      await server.kill();
      const readiness = async () => {
        const { status, body, headers } = await service.call('GET', '/readyz');
        return { status, body, retryAfter: headers.get('retry-after') };
      };
      await expect.poll(readiness).toEqual({
        status: 503,
        body: { status: 'not_ready', reasons: ['the store cannot be reached'] },
        retryAfter: '1',
      });
      // Metrics of databases are missing, and counters of the process go on.
      const down = { up: 0, records: undefined, commits: 1, cpu };
      await expect.poll(scrape).toEqual(down);
      expect(await service.call('GET', '/metrics')).toMatchObject({ status: 200 });
      const unknown = { 'x-api-key': `${issued.body.key.slice(0, -1)}_` };
      expect(await service.call('GET', '/metrics', undefined, unknown)).toMatchObject({ status: 401 });
      // Other operations need the store.
      expect(await service.call('GET', '/v1/databases/db', undefined, prometheus)).toMatchObject({
        status: 503,
        body: { code: 'store_failed' },
      });
      expect(await service.call('GET', '/livez')).toMatchObject({ status: 200 });
      // The processes of the server that have a connection end a moment after the server.
      const query = () => service.call('POST', '/v1/databases/db/query', {});
      await expect.poll(query).toMatchObject({
        status: 503,
        body: { code: 'store_failed' },
      });
      await server.restart();
      await expect.poll(readiness).toMatchObject({ status: 200 });
      await expect.poll(scrape).toMatchObject({ up: 1, records: 1 });
      expect(await service.call('POST', '/v1/databases/db/records', record(2))).toMatchObject({
        status: 200,
      });
      // The reader waits through the restart, or its read was in progress and failed.
      expect([200, 503]).toContain((await waiting).status);
      const { body: feed } = await service.call('GET', '/v1/databases/db/changes?after=1');
      expect(feed.changes).toMatchObject([{ kind: 'created', id: 2 }]);
    });
  },
);
