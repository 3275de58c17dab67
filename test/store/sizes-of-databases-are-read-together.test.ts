import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { changedStatements } from '../helpers/postgres/around-statements.js';

describe.skipIf(NO_SERVER !== undefined)(
  `the sizes of databases${NO_SERVER ? ` (${NO_SERVER})` : ''}`,
  () => {
    let server: PostgresServer;
    let store: PostgresStore;
    /** The statements that were sent. */
    let statements: string[] = [];
    beforeAll(async () => {
      server = await PostgresServer.start();
      const database = changedStatements(
        new NodePostgres({ url: await server.createDatabase() }),
        () => (text) => {
          statements.push(text);
          return text;
        },
      );
      store = new PostgresStore(database, LIMITS);
      await store.load();
    });
    afterAll(async () => {
      await store?.close();
      await server?.stop();
    });

    test('take one statement for many databases, and change with what is written', async () => {
      for (let at = 0; at < 20; at += 1) {
        await store.createDatabase(`db-${at}`, { model: null, fingerprint: null, dimensions: 2 });
      }
      const sizes = async () => {
        const progress = await store.progress({ sizes: true });
        return new Map(progress.map(({ id, diskBytes }) => [id, diskBytes]));
      };
      const ofSizes = () => statements.filter((text) => text.includes('pg_total_relation_size'));
      statements = [];
      // A call does not wait long for a reading.
      await expect.poll(async () => [...(await sizes()).values()]).not.toContain(undefined);
      const calls = statements.filter((text) => text.includes('FROM cosift.databases')).length;
      expect(ofSizes().length).toBeLessThanOrEqual(calls);
      const before = await sizes();
      expect(before.size).toBe(20);
      for (const bytes of before.values()) expect(bytes).toBeGreaterThan(0);
      const data = { text: 'x'.repeat(10_000) };
      const records = Array.from({ length: 100 }, (_, id) => ({ id: id + 1, data, vector: [1, id] }));
      const body = Buffer.from(JSON.stringify({ records }));
      await store.commit('db-7', await store.prepareBatch('db-7', body), { vectors: new Float32Array() });
      const sizeOf = async (id: string) => (await sizes()).get(id);
      await expect.poll(() => sizeOf('db-7')).toBeGreaterThan(before.get('db-7') as number);
      expect(await sizeOf('db-8')).toBe(before.get('db-8'));
      await store.dropDatabase('db-7');
      expect([...(await sizes()).keys()]).not.toContain('db-7');
    });

    test('are read only where they are wanted', async () => {
      statements = [];
      expect(await store.progress()).toContainEqual(expect.objectContaining({ diskBytes: undefined }));
      expect(statements).toHaveLength(1);
    });
  },
);
