import { EmbeddingBackend } from '../../src/backend/embedding-backend.js';
import { Models } from '../../src/backend/models.js';
import { LIMITS } from '../../src/schema/index.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { describeContract } from './contract.js';
import type { OpenBackend } from './open-backend.js';

/** Opens a PostgreSQL of its own, in this process. */
const open: OpenBackend = async ({ limits = LIMITS, models = {} } = {}) => {
  const database = await PGliteDatabase.open();
  const openStore = async () => {
    const store = new PostgresStore(database.again(), limits);
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
      await database.destroy();
    },
  };
  return opened;
};

describeContract('PostgreSQL in this process', open);
