import { test } from 'vitest';
import { NO_SERVER } from '../../scripts/postgres/server.js';
import { PostgresStore } from '../../src/store/postgres/index.js';
import { inFull, onlyInFull } from '../helpers/full.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { describeContract } from './contract.js';
import { openOver } from './reopenable.js';
import { SHORT_ON_SERVERS } from './rounds.js';

// The same store runs whole on a server, where there is one.
const shortBecause = NO_SERVER === undefined ? 'only on a PostgreSQL server' : SHORT_ON_SERVERS;

/** Opens a PostgreSQL of its own, in this process. */
const open = openOver(async () => {
  const database = await PGliteDatabase.open();
  return {
    open: (limits) => new PostgresStore(database.again(), limits),
    remove: () => database.destroy(),
  };
}, shortBecause);

if (NO_SERVER !== undefined || inFull(true, false)) describeContract('PostgreSQL in this process', open);
else test('PostgreSQL in this process', onlyInFull);
