import { afterAll, beforeAll, describe } from 'vitest';
import { EmbeddingBackend } from '../../src/backend/embedding-backend.js';
import { Models } from '../../src/backend/models.js';
import { LIMITS } from '../../src/schema/index.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { NO_SERVER, PostgresServer } from '../helpers/postgres/server.js';
import { describeContract } from './contract.js';
import type { OpenBackend } from './open-backend.js';

describe.skipIf(NO_SERVER !== undefined)(`a PostgreSQL server${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

  /** Opens a new database of the server. */
  const open: OpenBackend = async ({ limits = LIMITS, models = {} } = {}) => {
    const url = await server.createDatabase();
    const openStore = async () => {
      const store = new PostgresStore(new NodePostgres({ url, maxConnections: 8 }), limits);
      const backend = new EmbeddingBackend(store, new Models(models, 1), { limits, resume: true });
      await backend.ready;
      return backend;
    };
    const opened = {
      backend: await openStore(),
      async reopen() {
        await opened.backend.close();
        opened.backend = await openStore();
      },
      async close() {
        await opened.backend.close();
      },
    };
    return opened;
  };

  describeContract('a PostgreSQL server', open);
});
