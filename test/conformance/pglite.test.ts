import { PostgresStore } from '../../src/store/postgres/index.js';
import { PGliteDatabase } from '../helpers/postgres/pglite-database.js';
import { describeContract } from './contract.js';
import { openOver } from './reopenable.js';

/** Opens a PostgreSQL of its own, in this process. */
const open = openOver(async () => {
  const database = await PGliteDatabase.open();
  return {
    open: (limits) => new PostgresStore(database.again(), limits),
    remove: () => database.destroy(),
  };
});

describeContract('PostgreSQL in this process', open);
