import pg from 'pg';
import { expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { Models } from '../../src/databases/models.js';
import { DatabaseService } from '../../src/databases/service.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';

const CONNECTIONS = 8;
const BODY = Buffer.from(JSON.stringify({ records: [{ id: 1, data: {}, vector: [1, 0] }] }));

test.skipIf(NO_SERVER !== undefined)(
  'calls of one key that take long leave connections to others',
  {},
  async () => {
    const server = await PostgresServer.start();
    const url = await server.createDatabase();
    const database = new NodePostgres({ url, maxConnections: CONNECTIONS });
    const store = new PostgresStore(database, LIMITS, { connections: CONNECTIONS });
    const databases = new DatabaseService(store, new Models({}, 1), { limits: LIMITS, resume: true });
    const other = new pg.Client({ connectionString: url });
    try {
      await databases.ready;
      await other.connect();
      for (const id of ['slow', 'fast']) {
        await databases.catalog.create(id, { dimensions: 2 });
        await databases.writer.upsertBatch(id, BODY);
      }
      const search = (id: string, caller: string) =>
        databases.reader.search(
          id,
          { search: { vector: [1, 0], threshold: 0 } },
          { form: 'integer', scope: { caller } },
        );
      const query = (id: string, caller: string) =>
        databases.reader.query(id, {}, { form: 'integer', scope: { caller } });
      // Every search of the database waits for this lock.
      const tables = await other.query<{ name: string }>(
        "SELECT tablename AS name FROM pg_tables WHERE tablename LIKE 'records\\_%' ORDER BY 1 LIMIT 1",
      );
      await other.query(`BEGIN; LOCK TABLE cosift.${tables.rows[0]?.name} IN ACCESS EXCLUSIVE MODE`);
      const write = (id: string, caller: string) => databases.writer.upsertBatch(id, BODY, { caller });
      const read = (id: string, caller: string) =>
        databases.reader.record(id, '1', { form: 'integer' }, { caller });
      const exportAll = async (id: string, caller: string) => {
        for await (const _ of databases.exports.lines(id, {}, { scope: { caller } }));
      };
      const calls = [search, query, write, read, exportAll];
      const slow = Array.from({ length: 40 }, (_, i) => calls[i % calls.length]?.('slow', 'a'));
      for (const call of calls) await call('fast', 'b');
      await other.query('COMMIT');
      expect(await Promise.all(slow)).toHaveLength(40);
    } finally {
      await other.end();
      await databases.close();
      await server.stop();
    }
  },
);
