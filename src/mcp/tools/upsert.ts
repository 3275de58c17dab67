import { integerId, recordKey, uuid } from '../../schema/ids.js';
import { count, list, object } from '../../schema/json-schema.js';
import { newData } from '../../schema/pages.js';
import type { NewRecord } from '../../schema/public-types.js';
import { database, notes, type Tool } from '../tool.js';

interface Arguments {
  database: string;
  records: Pick<NewRecord, 'id' | 'uuid' | 'key' | 'data'>[];
}

export const UPSERT: Tool<Arguments> = {
  name: 'upsert',
  title: 'Write records',
  description:
    'Stores records in a database: all of them, or none if one is not valid. A stored record with the same id, UUID or key ' +
    'is replaced as a whole.',
  action: 'records.write',
  input: object(undefined, {
    database,
    records: list(
      object(undefined, {
        'id?': { ...integerId, description: 'Integer id. Default: the next free one.' },
        'uuid?': { ...uuid, description: 'UUID of the record. Default: a new one.' },
        'key?': {
          ...recordKey,
          description: 'Text that identifies the record, such as its number or address.',
        },
        data: { type: 'object', description: newData.description },
      }),
      'The records.',
      { minItems: 1, maxItems: 100 },
    ),
  }),
  output: object(undefined, {
    notes,
    ids: list(integerId, 'The ids of the records, in their order.'),
    created: count('Number of new records.'),
    changed: count('Number of records with new content.'),
    unchanged: count('Number of records that had this content already.'),
  }),
  run: async ({ database, records }, { databases }, { signal }) => {
    const { results, created, changed, unchanged } = await databases
      .database(database)
      .upsert(records, { signal });
    const ids = results.map(({ id }) => id);
    return {
      notes: [`${created} created, ${changed} changed, ${unchanged} unchanged; ids: ${ids.join(', ')}`],
      members: { ids, created, changed, unchanged },
      data: [],
    };
  },
};
