import { recordId } from '../../schema/ids.js';
import { count, list, object } from '../../schema/json-schema.js';
import { database, notes, type Tool } from '../tool.js';

interface Arguments {
  database: string;
  ids: (number | string)[];
}

export const DELETE: Tool<Arguments> = {
  name: 'delete',
  title: 'Delete records',
  description: 'Deletes records by their ids. They cannot be restored.',
  action: 'records.write',
  input: object(undefined, {
    database,
    ids: list(recordId, 'Ids of records: integers, UUIDs, or `key:` and a key.', {
      minItems: 1,
      maxItems: 100,
    }),
  }),
  output: object(undefined, { notes, deleted: count('Number of deleted records.') }),
  run: async ({ database, ids }, { databases }, { signal }) => {
    const deleted = await databases.database(database).delete({ ids, signal });
    return { notes: [`${deleted} deleted.`], members: { deleted }, data: [] };
  },
};
