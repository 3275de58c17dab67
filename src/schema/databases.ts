import { count } from './count.js';
import { DATABASE_ID } from './ids.js';
import './reembedding.js';
import type { TypeOf } from './type-of.js';

export const databaseId = { type: 'string', pattern: DATABASE_ID.source, examples: ['landmarks'] } as const;

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
      description: 'Columns to embed, in this order.',
    },
  },
} as const;

export const databaseSettings = {
  type: 'object',
  additionalProperties: false,
  properties: {
    embed: { $ref: '#/components/schemas/Embed' },
    model: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description: 'The embedding model. Default: the built-in one, unless `dimensions` is given.',
    },
    dimensions: {
      type: 'integer',
      minimum: 1,
      maximum: 4096,
      description: 'Without a model: the number of values of each vector.',
    },
    approximate: {
      type: 'boolean',
      description:
        'Default: false. Also keep an index for searches with `approximate`. The index takes memory and time to build.',
    },
  },
  examples: [{ embed: { columns: ['title', 'description'] } }, { dimensions: 768 }],
} as const;

export const databaseDescription = {
  type: 'object',
  required: [
    'id',
    'records',
    'model',
    'fingerprint',
    'dimensions',
    'approximate',
    'embed',
    'columns',
    'sizes',
    'times',
  ],
  additionalProperties: false,
  properties: {
    id: databaseId,
    records: count,
    model: { type: ['string', 'null'], description: 'null: the caller provides the vectors.' },
    fingerprint: {
      type: ['string', 'null'],
      description: 'A hash of everything that determines the vectors of the model.',
    },
    dimensions: count,
    approximate: { type: 'boolean', description: 'Whether searches may be approximate.' },
    approximate_records: { ...count, description: 'With `approximate`: records in the index so far.' },
    embed: { $ref: '#/components/schemas/Embed' },
    columns: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'types', 'records'],
        additionalProperties: false,
        properties: {
          name: { type: 'string' },
          types: { type: 'array', items: { type: 'string', enum: ['string', 'number', 'boolean', 'null'] } },
          records: { ...count, description: 'Records that have the column.' },
        },
      },
    },
    sizes: {
      type: 'object',
      description: 'Bytes of memory in all and by purpose, and bytes of files.',
      required: ['memory_bytes', 'disk_bytes'],
      additionalProperties: count,
      properties: { memory_bytes: count, disk_bytes: count },
    },
    times: {
      type: 'object',
      required: ['created_at', 'last_write_at'],
      additionalProperties: false,
      properties: {
        created_at: { type: 'string', format: 'date-time' },
        last_write_at: { type: 'string', format: 'date-time' },
      },
    },
    reembedding: { $ref: '#/components/schemas/Reembedding' },
  },
} as const;

export const databaseList = {
  type: 'object',
  required: ['databases'],
  additionalProperties: false,
  properties: {
    databases: { type: 'array', items: { $ref: '#/components/schemas/DatabaseDescription' } },
  },
} as const;

export type Embed = TypeOf<typeof embed>;
export type DatabaseSettings = TypeOf<typeof databaseSettings>;
export type DatabaseDescription = TypeOf<typeof databaseDescription>;

declare module './type-of.js' {
  interface NamedTypes {
    Embed: Embed;
    DatabaseSettings: DatabaseSettings;
    DatabaseDescription: DatabaseDescription;
  }
}
