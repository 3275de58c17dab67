import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';

describe.skipIf(NO_SERVER !== undefined)(
  `failures of workers of Citus${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let store: PostgresStore;
    beforeAll(async () => {
      server = await PostgresServer.start();
      const url = await server.createDatabase();
      store = new PostgresStore(new NodePostgres({ url, maxConnections: 2 }), LIMITS);
      await store.load();
      await store.createDatabase('db', { model: null, fingerprint: null, dimensions: 2 });
      // The state with which Citus reports a worker that was lost.
      await server.run(
        `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE 'failure on connection marked as essential' USING ERRCODE = 'XX000'; END $$`,
        'test_1',
      );
    });
    afterAll(async () => {
      await store?.close();
      await server?.stop();
    });

    const put = async () => {
      const body = Buffer.from('{"records":[{"id":1,"data":{},"vector":[1,0]}]}');
      await store.commit('db', await store.prepareBatch('db', body), { vectors: new Float32Array() });
    };

    test.each([
      ['before the commit', 'TRIGGER fail BEFORE UPDATE', '', 'cannot be reached'],
      [
        'at the commit',
        'CONSTRAINT TRIGGER fail AFTER UPDATE',
        'DEFERRABLE INITIALLY DEFERRED',
        'whether a write took effect is not known',
      ],
    ])('%s are failures of the store', async (_, trigger, deferred, detail) => {
      await server.run(
        `CREATE ${trigger} ON cosift.databases ${deferred} FOR EACH ROW EXECUTE FUNCTION fail()`,
        'test_1',
      );
      await expect(put()).rejects.toMatchObject({
        code: 'store_failed',
        message: expect.stringContaining(detail),
      });
      await server.run('DROP TRIGGER fail ON cosift.databases', 'test_1');
      await put();
      expect((await store.describeDatabase('db')).records).toBe(1);
    });
  },
);
