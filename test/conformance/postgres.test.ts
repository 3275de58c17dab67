import { afterAll, beforeAll, describe } from 'vitest';
import { NO_SERVER, PostgresServer } from '../../scripts/postgres/server.js';
import { NodePostgres, PostgresStore } from '../../src/store/postgres/index.js';
import { describeContract } from './contract.js';
import { openOver } from './reopenable.js';
import { SHORT_ON_SERVERS } from './rounds.js';

describe.skipIf(NO_SERVER !== undefined)(`a PostgreSQL server${NO_SERVER ? ` (${NO_SERVER})` : ''}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

  /** Opens a new database of the server. */
  const open = openOver(async () => {
    const url = await server.createDatabase();
    return { open: (limits) => new PostgresStore(new NodePostgres({ url, maxConnections: 8 }), limits) };
  }, SHORT_ON_SERVERS);

  describeContract('a PostgreSQL server', open);
});
