import { count } from './count.js';
import { DATABASE_ID } from './ids.js';

export const databaseId = {
  type: 'string',
  pattern: DATABASE_ID.source,
  examples: ['landmarks'],
  description: 'Id of the database.',
} as const;

export const embed = {
  type: 'object',
  description: 'Which text of a record is embedded. Default: every string column, as `column: value` lines.',
  additionalProperties: false,
  properties: {
    columns: {
      type: 'array',
      minItems: 1,
      maxItems: 256,
      uniqueItems: true,
      items: { type: 'string', minLength: 1, maxLength: 256 },
      description: 'Columns to embed, in this order. Default: every string column.',
    },
  },
} as const;

export const databaseSettings = {
  type: 'object',
  description:
    'The settings of a database. They are set when it is created; only `lexical` can be switched on later, and `formats` ' +
    'of further columns can be added.',
  additionalProperties: false,
  properties: {
    embed: { $ref: '#/components/schemas/Embed' },
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'Name of the embedding model. Default: the built-in one, unless `dimensions` is given.',
    },
    dimensions: {
      type: 'integer',
      minimum: 1,
      maximum: 4096,
      description:
        'Number of values of each vector. Records and searches then bring their own vectors, and the database has no model.',
    },
    lexical: {
      type: 'boolean',
      description:
        'Whether searches can take exact words into account. The index of the words takes memory. It can be switched on ' +
        'later, and stays on. Default: false.',
    },
    formats: { $ref: '#/components/schemas/ValueFormats' },
  },
  examples: [{ embed: { columns: ['title', 'description'] } }, { dimensions: 768 }],
} as const;

export const databaseDescription = {
  type: 'object',
  description: 'Settings, columns, sizes and times of a database.',
  required: [
    'id',
    'records',
    'model',
    'fingerprint',
    'dimensions',
    'lexical',
    'embed',
    'columns',
    'sizes',
    'times',
  ],
  additionalProperties: false,
  properties: {
    id: databaseId,
    records: { ...count, description: 'Number of records.' },
    passages: {
      ...count,
      description: 'Number of vectors: one for each record, or one for each passage of a long record.',
    },
    without_text: {
      ...count,
      description:
        'Records without text in the embedded columns, or with none that the model knows. They have no vector, so no ' +
        'search finds them.',
    },
    model: {
      type: ['string', 'null'],
      description: 'Name of the embedding model; null: the caller provides the vectors.',
    },
    fingerprint: {
      type: ['string', 'null'],
      description: 'A hash of everything that determines the vectors of the model.',
    },
    dimensions: { ...count, description: 'Number of values of each vector.' },
    lexical: { type: 'boolean', description: 'Whether searches can take exact words into account.' },
    lexical_records: {
      ...count,
      description:
        'With `lexical`: records whose words are indexed so far. A search indexes what it needs, so it finds all of them.',
    },
    embed: { $ref: '#/components/schemas/Embed' },
    formats: {
      $ref: '#/components/schemas/ValueFormats',
      description: 'The formats of columns in CSV, if there are any.',
    },
    columns: {
      type: 'array',
      description: 'Columns that records have or had.',
      items: {
        type: 'object',
        description: 'A column of a database.',
        required: ['name', 'types', 'records'],
        additionalProperties: false,
        properties: {
          name: { type: 'string', description: 'Name of the column.' },
          types: {
            type: 'array',
            items: { type: 'string', enum: ['string', 'number', 'boolean', 'null'] },
            description: 'Types of its values.',
          },
          records: { ...count, description: 'Number of records that have the column.' },
        },
      },
    },
    sizes: {
      type: 'object',
      description: 'Bytes of memory in all and by purpose, and bytes of files.',
      required: ['memory_bytes', 'disk_bytes'],
      additionalProperties: count,
      properties: {
        memory_bytes: { ...count, description: 'Bytes of memory in all.' },
        disk_bytes: { ...count, description: 'Bytes of files.' },
      },
    },
    times: {
      type: 'object',
      description: 'Times of the database, in UTC.',
      required: ['created_at', 'last_write_at'],
      additionalProperties: false,
      properties: {
        created_at: { type: 'string', format: 'date-time', description: 'When the database was created.' },
        last_write_at: {
          type: 'string',
          format: 'date-time',
          description: 'When records were last written or deleted.',
        },
      },
    },
    reembedding: {
      $ref: '#/components/schemas/Reembedding',
      description: 'The re-embedding with another model, if there is one.',
    },
  },
} as const;

export const databaseList = {
  type: 'object',
  description: 'All databases that the key may see.',
  required: ['databases'],
  additionalProperties: false,
  properties: {
    databases: {
      type: 'array',
      items: { $ref: '#/components/schemas/DatabaseDescription' },
      description: 'Ordered by id.',
    },
  },
} as const;
