import { DATABASE_ID } from './ids.js';
import { count, flag, instant, list, object, ref, text } from './json-schema.js';

export const databaseId = {
  type: 'string',
  pattern: DATABASE_ID.source,
  examples: ['landmarks'],
  description: 'Id of the database.',
} as const;

export const embed = object(
  'Which text of a record is embedded. Default: every column with a string, or with a list with a string, as `column: value` ' +
    'lines. The elements of a list are joined by `, `.',
  {
    'columns?': list(
      { type: 'string', minLength: 1, maxLength: 256 },
      'Columns to embed, in this order. Default: every string column.',
      { minItems: 1, maxItems: 256, uniqueItems: true },
    ),
  },
);

export const databaseSettings = object(
  'The settings of a database. They are set when it is created; only `lexical` can be switched on later, and `formats` ' +
    'of further columns can be added.',
  {
    'embed?': ref('Embed'),
    'model?': {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Name of the embedding model. Default: the built-in one, unless `dimensions` is given.',
    },
    'dimensions?': {
      type: 'integer',
      minimum: 1,
      maximum: 4096,
      description:
        'Number of values of each vector. Records and searches then bring their own vectors, and the database has no model.',
    },
    'lexical?': flag(
      'Whether searches can take exact words into account. The index of the words takes memory. It can be switched on ' +
        'later, and stays on. Default: false.',
    ),
    'formats?': ref('ValueFormats'),
  },
  { examples: [{ embed: { columns: ['title', 'description'] } }, { dimensions: 768 }] },
);

export const databaseDescription = object('Settings, columns, sizes and times of a database.', {
  id: databaseId,
  records: count('Number of records.'),
  'passages?': count('Number of vectors: one for each record, or one for each passage of a long record.'),
  'without_text?': count(
    'Records without text in the embedded columns, or with none that the model knows. They have no vector, so no ' +
      'search finds them.',
  ),
  model: {
    type: ['string', 'null'],
    description: 'Name of the embedding model; null: the caller provides the vectors.',
  },
  fingerprint: {
    type: ['string', 'null'],
    description: 'A hash of everything that determines the vectors of the model.',
  },
  dimensions: count('Number of values of each vector.'),
  lexical: flag('Whether searches can take exact words into account.'),
  'lexical_records?': count(
    'With `lexical`: records whose words are indexed so far. A search indexes what it needs, so it finds all of them.',
  ),
  embed: ref('Embed'),
  'formats?': ref('ValueFormats', 'The formats of columns in CSV, if there are any.'),
  columns: list(
    object('A column of a database.', {
      name: text('Name of the column.'),
      types: list(
        { type: 'string', enum: ['string', 'number', 'boolean', 'null', 'list'] },
        'Types of its values.',
      ),
      records: count('Number of records that have the column.'),
    }),
    'Columns that records have or had.',
  ),
  sizes: {
    type: 'object',
    description: 'Bytes of memory in all and by purpose, and bytes of files.',
    required: ['memory_bytes', 'disk_bytes'],
    additionalProperties: count(),
    properties: {
      memory_bytes: count('Bytes of memory in all.'),
      disk_bytes: count('Bytes of files.'),
    },
  },
  times: object('Times of the database, in UTC.', {
    created_at: instant('When the database was created.'),
    last_write_at: instant('When records were last written or deleted.'),
  }),
  'reembedding?': ref('Reembedding', 'The re-embedding with another model, if there is one.'),
});

export const databaseList = object('All databases that the key may see.', {
  databases: list(ref('DatabaseDescription'), 'Ordered by id.'),
});
