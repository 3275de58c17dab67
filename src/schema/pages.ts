import { count } from './count.js';
import { column } from './filter.js';
import { integerId, recordKey, uuid } from './ids.js';
import { utcTime } from './time.js';

export const data = {
  type: 'object',
  description: 'Values by column name, in the order they were given.',
  propertyNames: { minLength: 1, maxLength: 256, pattern: column.pattern },
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
} as const;

/** The schema of the times of a record under these names: created, changed, synced. */
export function timestampsSchema<Name extends string>([created, changed, synced]: readonly [
  Name,
  Name,
  Name,
]) {
  return {
    type: 'object',
    description: 'The times of a record, in UTC.',
    required: [created, changed, synced],
    additionalProperties: false,
    properties: {
      [created]: { ...utcTime, description: 'When the record was first seen.' },
      [changed]: { ...utcTime, description: 'When the content of the record last changed.' },
      [synced]: { ...utcTime, description: 'When the record was last seen, changed or not.' },
    },
  } as const;
}

export const timestamps = timestampsSchema(['created_at', 'changed_at', 'synced_at']);

const key = {
  ...recordKey,
  description: 'Key of the record, if it has one: up to 512 bytes of UTF-8.',
} as const;

export const score = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description:
    'Similarity in meaning, in steps of 1e-9: 0 means unrelated, 1 the same meaning. Present only in results of a search.',
} as const;

/** The schema of a record with these members for its identity, and times of this schema. */
export function recordSchema<Identity extends object>(identity: Identity, timestamps: string) {
  return {
    type: 'object',
    description: 'A record.',
    required: [...Object.keys(identity), 'data', 'timestamps'],
    additionalProperties: false,
    properties: {
      ...identity,
      key,
      relevance_score: score,
      data: { $ref: '#/components/schemas/Data' },
      timestamps: { $ref: `#/components/schemas/${timestamps}` },
      vector: {
        type: 'array',
        items: { type: 'number' },
        description: 'With `vectors`: the stored vector, of a record with one.',
      },
      passages: {
        type: 'array',
        items: { $ref: '#/components/schemas/EmbeddedPassage' },
        description:
          'With `vectors`, in place of `vector`: the passages of a record whose text is longer than the window of the model.',
      },
      embedded_by: {
        type: 'string',
        description:
          'With `vectors`: fingerprint of the model that made `vector` or `passages`. Absent in a database without a model.',
      },
      passage: { $ref: '#/components/schemas/Passage' },
      explain: {
        type: 'object',
        additionalProperties: true,
        description: 'With `explain`: which rules of the filter the record passed. Not a stable format.',
      },
    },
  } as const;
}

export const record = recordSchema({ id: integerId, uuid }, 'Timestamps');

/** The place of a passage. `start` and `end` are those of `slice` on strings of JavaScript. */
export const passage = {
  type: 'object',
  description:
    'With `passages` or `explain`, for a record whose text is longer than the window of the model: the passage that ' +
    'matches best. Offsets count UTF-16 code units.',
  required: ['column', 'start', 'end'],
  additionalProperties: false,
  properties: {
    column: { type: 'string', description: 'The column that most of the passage comes from.' },
    start: { ...count, description: 'Offset of its first character in the value of the column.' },
    end: { ...count, description: 'Offset after its last character.' },
  },
} as const;

export const total = {
  type: 'object',
  description: 'The exact number of matches on all pages.',
  required: ['value'],
  additionalProperties: false,
  properties: { value: { ...count, description: 'Number of matches on all pages.' } },
} as const;

export const pagePosition = {
  type: 'object',
  description: 'Where the page is among all pages.',
  required: ['limit', 'has_more'],
  additionalProperties: false,
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, description: 'The limit of the request.' },
    next_cursor: {
      type: 'string',
      description: '`cursor` of the request for the next page. Present only if `has_more` is true.',
    },
    has_more: { type: 'boolean', description: 'Whether there are further matches after this page.' },
  },
} as const;

export function pageSchema(record: string) {
  return {
    type: 'object',
    description: 'A page of records.',
    required: ['results', 'pagination'],
    additionalProperties: false,
    properties: {
      results: {
        type: 'array',
        items: { $ref: `#/components/schemas/${record}` },
        description:
          'The records of the page: of a search by score, highest first; of a query in the order of `sort`.',
      },
      pagination: { $ref: '#/components/schemas/PagePosition' },
      total: { $ref: '#/components/schemas/Total' },
      facets: {
        type: 'array',
        description: 'The counts of each facet, in the order of the request.',
        items: { $ref: '#/components/schemas/FacetCounts' },
      },
      explain: {
        type: 'object',
        additionalProperties: true,
        description:
          'With `explain`: how the page was found (plan, records scanned and rescored, times). Not a stable format.',
      },
    },
  } as const;
}

export const page = pageSchema('Record');
