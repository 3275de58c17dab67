import { databaseId } from './ids.js';
import { list, object, ref } from './json-schema.js';

const name = { ...databaseId, description: 'Name of the alias. No database has this id.' };
const database = { ...databaseId, description: 'Id of the database that the alias names.' };

export const aliasRequest = object(
  'The database that an alias names from now on.',
  { database },
  { examples: [{ database: 'landmarks' }] },
);

export const alias = object('A further name of a database.', { name, database });

export const aliasList = object('The aliases of the databases that the key may see.', {
  aliases: list(ref('Alias'), 'In the order of their names.'),
});
