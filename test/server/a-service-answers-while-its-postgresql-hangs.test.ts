import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { STORE_CONNECTIONS } from '../../src/schema/open-options.js';
import { SilentProxy } from '../helpers/postgres/silent-proxy.js';
import { Service } from './service.js';

describe.skipIf(NO_SERVER !== undefined)(
  `a service whose PostgreSQL keeps its connections and does not answer${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let proxy: SilentProxy;
    let service: Service;
    let url: string;
    beforeAll(async () => {
      server = await PostgresServer.start();
      url = await server.createDatabase();
      const store = new URL(url);
      proxy = await SilentProxy.listen(Number(store.port));
      store.port = String(proxy.port);
      service = await Service.start({ store: store.href });
    });
    afterAll(async () => {
      await service?.stop();
      proxy?.close();
      await server?.stop();
    });

    const scrapeOf = async (headers?: Record<string, string>) => {
      const { status, text } = await service.call('GET', '/metrics', undefined, headers);
      const [, up] = /^cosift_store_up ([01])$/m.exec(text) ?? [];
      const [, bytes] = /^cosift_database_disk_bytes\{database="db"\} (\d+)$/m.exec(text) ?? [];
      return { status, up, bytes: Number(bytes) };
    };

    const ready = async () => (await service.call('GET', '/readyz')).status;

    test('tells that it is up while the size of a database cannot be read', async () => {
      await service.call('PUT', '/v1/databases/db', { dimensions: 2 });
      const administrator = new pg.Client({ connectionString: url });
      await administrator.connect();
      try {
        // As `VACUUM FULL` does.
        await administrator.query('BEGIN; LOCK TABLE cosift.changes_1 IN ACCESS EXCLUSIVE MODE');
        const withoutSize = { status: 200, up: '1', bytes: Number.NaN };
        await expect.poll(scrapeOf).toEqual(withoutSize);
        await administrator.query('COMMIT');
        const bytes = async () => (await scrapeOf()).bytes;
        await expect.poll(bytes).toBeGreaterThan(0);
      } finally {
        await administrator.end();
      }
    });

    test('describes a database while the description of another waits', async () => {
      const describe = async (id: string) => (await service.call('GET', `/v1/databases/${id}`)).status;
      await service.call('PUT', '/v1/databases/slow', { dimensions: 2 });
      await service.call('PUT', '/v1/databases/quick', { dimensions: 2 });
      const administrator = new pg.Client({ connectionString: url });
      await administrator.connect();
      try {
        const named = "SELECT number FROM cosift.names WHERE id = 'slow'";
        const { number } = (await administrator.query(named)).rows[0];
        await administrator.query(`BEGIN; LOCK TABLE cosift.records_${number}_1 IN ACCESS EXCLUSIVE MODE`);
        const slow = describe('slow');
        const waiting = `SELECT FROM pg_locks WHERE NOT granted`;
        await expect.poll(async () => (await administrator.query(waiting)).rowCount).toBe(1);
        expect(await describe('quick')).toBe(200);
        await administrator.query('COMMIT');
        expect(await slow).toBe(200);
      } finally {
        await administrator.end();
      }
    });

    test('is ready while the connections that requests may take are all busy', async () => {
      await service.call('PUT', '/v1/databases/busy', { dimensions: 2 });
      const search = () =>
        service.call('POST', '/v1/databases/busy/records/search', { search: { vector: [1, 0] } });
      const issued = await service.call('POST', '/v1/keys', {
        name: 'other',
        databases: '*',
        actions: ['records.read'],
      });
      const other = { 'x-api-key': issued.body.key };
      const read = () => service.call('GET', '/v1/databases/busy/records/1', undefined, other);
      const callers = (STORE_CONNECTIONS * 3) / 4;
      expect(await search()).toMatchObject({ status: 200 });
      const [administrator, observer] = [1, 2].map(() => new pg.Client({ connectionString: url })) as [
        pg.Client,
        pg.Client,
      ];
      await Promise.all([administrator.connect(), observer.connect()]);
      try {
        const { rows } = await administrator.query("SELECT number FROM cosift.databases WHERE id = 'busy'");
        await administrator.query(
          `BEGIN; LOCK TABLE cosift.records_${rows[0].number}_1 IN ACCESS EXCLUSIVE MODE`,
        );
        // One key leaves some of the connections to others.
        const searches = Array.from({ length: STORE_CONNECTIONS }, search);
        const reads = Array.from({ length: STORE_CONNECTIONS }, read);
        const waiting = async () => {
          // A transaction would see the same activity again and again.
          const { rows: found } = await observer.query(
            "SELECT count(*)::integer AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
          );
          return found[0].count;
        };
        await expect.poll(waiting).toBe(callers);
        // A service that used the busy connections would not be ready before the lock is released.
        await expect.poll(ready).toBe(200);
        await expect.poll(scrapeOf).toMatchObject({ status: 200, up: '1' });
        expect(await waiting()).toBeGreaterThanOrEqual(callers);
        await administrator.query('COMMIT');
        for (const { status } of await Promise.all(searches)) expect(status).toBe(200);
        for (const { status } of await Promise.all(reads)) expect(status).toBe(404);
      } finally {
        await Promise.all([administrator.end(), observer.end()]);
      }
    });

    // Nothing is answered through the proxy while it is silent, so a response that waits for the store never comes.
    test('says so at /readyz and /metrics, and goes on when PostgreSQL answers', async () => {
      await service.call('PUT', '/v1/databases/db', { dimensions: 2 });
      const issued = await service.call('POST', '/v1/keys', {
        name: 'prometheus',
        databases: '*',
        actions: ['databases.manage'],
      });
      const prometheus = { 'x-api-key': issued.body.key };
      const scrape = () => scrapeOf(prometheus);
      await expect.poll(scrape).toMatchObject({ status: 200, up: '1' });
      await expect.poll(async () => (await scrape()).bytes).toBeGreaterThan(0);
      proxy.isSilent = true;
      // The model of a database that this service does not know is read from the store.
      const embeds = { search: { vector: [1, 0] } };
      // It asks for the databases, and waits for as long as its caller does.
      const doctor = service.call('POST', '/v1/doctor');
      const lost = service.call('POST', '/v1/databases/other/records/search', embeds);
      const hung = [1, 2, 3].map(() => scrape());
      const { status, body, headers } = await service.call('GET', '/readyz', undefined, prometheus);
      expect({ status, body }).toEqual({
        status: 503,
        body: { status: 'not_ready', reasons: ['the store does not answer'] },
      });
      expect(headers.get('retry-after')).toBe('1');
      expect(await Promise.all(hung)).toEqual(hung.map(() => ({ status: 200, up: '0', bytes: Number.NaN })));
      expect(await service.call('GET', '/livez')).toMatchObject({ status: 200 });
      proxy.isSilent = false;
      // What the connections had asked for stays lost.
      await expect.poll(ready).toBe(200);
      await expect.poll(scrape).toMatchObject({ up: '1' });
      expect((await doctor).text).toContain('the database took too long');
      expect(await lost).toMatchObject({ status: 503, body: { code: 'timed_out' } });
      const again = await service.call('POST', '/v1/databases/other/records/search', embeds);
      expect(again).toMatchObject({ status: 404, body: { code: 'database_not_found' } });
    });
  },
);
