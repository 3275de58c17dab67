import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { EmbeddingsServer } from '../helpers/embeddings-server.js';
import { Service } from './service.js';

/** More than one key may have in progress, which is three quarters of all. */
const WRITES = 12;

/** Milliseconds that a write waits at most. */
const wait = vi.hoisted(() => ({ maxMs: 0 }));
vi.mock('../../src/store/store-errors.js', async (original) => ({
  ...(await original<object>()),
  get MAX_HELD_MS() {
    return wait.maxMs;
  },
}));

describe.skipIf(NO_SERVER !== undefined)(
  `writes that wait for a re-embedding${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let model: EmbeddingsServer;
    let service: Service;
    let administrator: pg.Client;
    beforeAll(async () => {
      server = await PostgresServer.start();
      model = await EmbeddingsServer.start();
      const store = await server.createDatabase();
      service = await Service.start({ store, models: `first=${model.source()}` });
      administrator = new pg.Client({ connectionString: store });
      await administrator.connect();
    });
    afterAll(async () => {
      await administrator?.end();
      await service?.stop();
      await model?.stop();
      await server?.stop();
    });

    const put = (database: string, id: number) =>
      service.call('POST', `/v1/databases/${database}/records`, {
        records: [{ id, data: { text: 'a tower' }, vector: [1, 0] }],
      });
    const waiting = async () => {
      const { text } = await service.call('GET', '/metrics');
      return Number(/^cosift_in_flight\{kind="writes"\} (\d+)$/m.exec(text)?.[1]);
    };

    test('end as busy, or keep no writes to other databases from being done and then go on', async () => {
      for (const id of ['db', 'other']) await service.call('PUT', `/v1/databases/${id}`, { dimensions: 2 });
      for (let id = 1; id <= WRITES; id += 1) expect(await put('db', id)).toMatchObject({ status: 200 });
      // The switch of the model deletes the row of the re-embedding, and waits for the administrator.
      await administrator.query(`
        SELECT pg_advisory_lock(1);
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN OLD; END';
        CREATE TRIGGER wait BEFORE DELETE ON cosift.reembeddings FOR EACH ROW EXECUTE FUNCTION wait()`);
      const path = '/v1/databases/db/reembedding';
      expect(await service.call('POST', path, { model: 'first' })).toMatchObject({ status: 202 });
      const state = async () => (await service.call('GET', path)).body.state;
      await expect.poll(state).toBe('switching');
      const writeAll = () =>
        Array.from({ length: WRITES }, (_, at) =>
          at % 2 === 0 ? put('db', at + 2) : service.call('DELETE', `/v1/databases/db/records/${at}`),
        );
      wait.maxMs = 1;
      for (const { status, body, headers } of await Promise.all(writeAll())) {
        expect({ status, code: body.code }).toEqual({ status: 503, code: 'busy' });
        expect(body.detail).toContain('embedded with another model');
        expect(headers.get('retry-after')).toBe('1');
      }
      wait.maxMs = 3_600_000;
      const held = writeAll();
      // Each has given up its place while it waits.
      let ended = 0;
      for (const write of held) void write.then(() => (ended += 1));
      for (let at = 0; at < 2 * WRITES; at += 1) {
        expect(await put('other', at + 1)).toMatchObject({ status: 200 });
      }
      await expect.poll(waiting).toBe(0);
      expect(ended).toBe(0);
      await administrator.query('SELECT pg_advisory_unlock(1)');
      await expect.poll(state).toBe('done');
      // A vector of its own is refused for a record of a database that has a model by now.
      const statuses = (await Promise.all(held)).map(({ status }) => status);
      expect(statuses).toEqual(held.map((_, at) => (at % 2 === 0 ? 400 : 204)));
    });
  },
);
