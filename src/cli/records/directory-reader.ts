import { Cosift } from '../../library/cosift.js';
import { checkQueryRequest, checkSearchRequest } from '../../schema/index.js';
import { checkDataDirectory, openDirectory, type TargetOptions } from '../target.js';
import type { JsonReader } from './json-reader.js';

/** Opens the data directory of `options` to read its records. */
export async function openDirectoryReader(options: TargetOptions): Promise<JsonReader> {
  await checkDataDirectory(options);
  const backend = await openDirectory(options);
  const databases = new Cosift(backend);
  return {
    databases,
    page: async (database, { kind, request }) => {
      const { body } =
        kind === 'search'
          ? await backend.search(database, checkSearchRequest(request), { form: 'both' })
          : await backend.query(database, checkQueryRequest(request), { form: 'both' });
      return Buffer.from(body).toString('utf8');
    },
    record: async (database, id) => {
      const body = await backend.record(database, id, 'both', {});
      return Buffer.from(body).toString('utf8');
    },
    close: () => databases.close(),
  };
}
