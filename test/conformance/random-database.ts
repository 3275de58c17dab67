import type { Random } from '../helpers/random.js';
import { given, type KnownRecord, Oracle } from './oracle.js';
import { DIMENSIONS, randomRecords } from './random-records.js';
import type { SharedDatabases } from './shared-databases.js';
import type { TestDatabase } from './test-database.js';

/** Creates a database of `count` random records, and the oracle that knows them. */
export async function randomDatabase(
  shared: SharedDatabases,
  random: Random,
  count: number,
): Promise<{ database: TestDatabase; records: KnownRecord[]; oracle: Oracle }> {
  const database = await shared.create({ dimensions: DIMENSIONS });
  const records = randomRecords(random, count);
  await database.upsert(records.map(given));
  return { database, records, oracle: new Oracle(records) };
}
