import { count } from './count.js';
import './facets.js';
import { column } from './filter.js';
import { utcTime } from './time.js';
import type { TypeOf } from './type-of.js';

export const data = {
  type: 'object',
  description: 'Values by column name, in the order they were given.',
  propertyNames: { minLength: 1, maxLength: 256, pattern: column.pattern },
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
} as const;

export const timestampsA = {
  type: 'object',
  required: ['created_at', 'changed_at', 'synced_at'],
  additionalProperties: false,
  properties: { created_at: utcTime, changed_at: utcTime, synced_at: utcTime },
} as const;

export const timestampsB = {
  type: 'object',
  required: ['first_seen_time', 'last_changed_time', 'last_seen_time'],
  additionalProperties: false,
  properties: { first_seen_time: utcTime, last_changed_time: utcTime, last_seen_time: utcTime },
} as const;

const score = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: 'Closer to 1 means more relevant. Present only in results of a search.',
} as const;

export const recordA = {
  type: 'object',
  required: ['id', 'data', 'timestamps'],
  additionalProperties: false,
  properties: {
    id: { type: 'string', format: 'uuid' },
    relevance_score: score,
    data: { $ref: '#/components/schemas/Data' },
    timestamps: { $ref: '#/components/schemas/TimestampsA' },
    explain: {
      type: 'object',
      additionalProperties: true,
      description: 'Which rules of the filter the record passed.',
    },
  },
} as const;

export const recordB = {
  type: 'object',
  required: ['id', 'data', 'timestamps'],
  additionalProperties: false,
  properties: {
    id: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    relevance_score: score,
    data: { $ref: '#/components/schemas/Data' },
    timestamps: { $ref: '#/components/schemas/TimestampsB' },
    explain: {
      type: 'object',
      additionalProperties: true,
      description: 'Which rules of the filter the record passed.',
    },
  },
} as const;

/** One record of the variant of the requested id: A for a UUID, B for an integer. */
export const record = {
  anyOf: [{ $ref: '#/components/schemas/RecordA' }, { $ref: '#/components/schemas/RecordB' }],
} as const;

export const total = {
  type: 'object',
  description: 'The exact number of matches on all pages.',
  required: ['value'],
  additionalProperties: false,
  properties: { value: count },
} as const;

export const pagePosition = {
  type: 'object',
  required: ['limit', 'has_more'],
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, description: 'The limit of the request.' },
    next_cursor: { type: 'string', description: 'Present only if there are more results.' },
    has_more: { type: 'boolean' },
  },
} as const;

function pageSchema<const Record extends string>(record: Record) {
  return {
    type: 'object',
    required: ['results', 'pagination'],
    additionalProperties: false,
    properties: {
      results: { type: 'array', items: { $ref: `#/components/schemas/${record}` } },
      pagination: { $ref: '#/components/schemas/PagePosition' },
      approximate: { const: true, description: 'The search was allowed to miss matches.' },
      total: { $ref: '#/components/schemas/Total' },
      facets: {
        type: 'array',
        description: 'In the order of the request.',
        items: {
          anyOf: [
            { $ref: '#/components/schemas/ValuesCounts' },
            { $ref: '#/components/schemas/HistogramCounts' },
            { $ref: '#/components/schemas/TimeCounts' },
          ],
        },
      },
      explain: {
        type: 'object',
        additionalProperties: true,
        description:
          'How the page was found: plan, records scanned and rescored, times. Not a stable format.',
      },
    },
  } as const;
}

export const pageA = pageSchema('RecordA');
export const pageB = pageSchema('RecordB');

export type RecordA = TypeOf<typeof recordA>;
export type RecordB = TypeOf<typeof recordB>;
export type Data = TypeOf<typeof data>;
export type PageA = TypeOf<typeof pageA>;
export type PageB = TypeOf<typeof pageB>;

declare module './type-of.js' {
  interface NamedTypes {
    Data: Data;
    TimestampsA: TypeOf<typeof timestampsA>;
    TimestampsB: TypeOf<typeof timestampsB>;
    RecordA: RecordA;
    RecordB: RecordB;
    Total: TypeOf<typeof total>;
    PagePosition: TypeOf<typeof pagePosition>;
  }
}
