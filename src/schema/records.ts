import { count } from './count.js';
import { LIMITS } from './limits.js';
import './pages.js';
import { integerId, uuid } from './ids.js';
import { time, timeRange } from './time.js';
import type { TypeOf } from './type-of.js';

const recordId = { anyOf: [integerId, uuid] } as const;
export const truncated = {
  ...count,
  description:
    'Records whose text is longer than the input of the model, so that only its beginning was embedded. ' +
    'Unchanged records are not embedded again and not counted.',
} as const;

/** A record of an upsert. The engine parses and checks records, and this schema describes what it accepts. */
export const newRecord = {
  type: 'object',
  required: ['data'],
  additionalProperties: false,
  properties: {
    id: { ...integerId, description: 'Assigned by the service if absent.' },
    uuid: { ...uuid, description: 'Assigned by the service if absent.' },
    data: { $ref: '#/components/schemas/Data' },
    timestamps: {
      type: 'object',
      description: 'For migration: times with the names of one variant.',
      additionalProperties: false,
      properties: {
        created_at: time,
        changed_at: time,
        synced_at: time,
        first_seen_time: time,
        last_changed_time: time,
        last_seen_time: time,
      },
    },
    vector: {
      type: 'array',
      minItems: 1,
      maxItems: 4096,
      items: { type: 'number' },
      description: 'Only for a database without a model.',
    },
  },
  examples: [{ id: 1, data: { title: 'Eiffel Tower', country: 'France', height_m: 330, open: true } }],
} as const;

export const batch = {
  type: 'object',
  required: ['records'],
  additionalProperties: false,
  properties: {
    records: {
      type: 'array',
      maxItems: LIMITS.batch_records,
      items: { $ref: '#/components/schemas/NewRecord' },
    },
  },
} as const;

export const batchResult = {
  type: 'object',
  required: ['results', 'created', 'changed', 'unchanged', 'truncated'],
  additionalProperties: false,
  properties: {
    results: {
      type: 'array',
      description: 'In the order of the request.',
      items: {
        type: 'object',
        required: ['id', 'uuid', 'status'],
        additionalProperties: false,
        properties: {
          id: integerId,
          uuid,
          status: { type: 'string', enum: ['created', 'changed', 'unchanged'] },
        },
      },
    },
    created: count,
    changed: count,
    unchanged: count,
    truncated,
  },
} as const;

/** A patch of a record. The engine parses and checks patches, and this schema describes what it accepts. */
export const recordPatch = {
  type: 'object',
  additionalProperties: false,
  properties: {
    data: {
      type: 'object',
      description: 'Columns to set. Null removes a column.',
      additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
    },
  },
  examples: [{ data: { height_m: 330, architect: null } }],
} as const;

export const deleteRequest = {
  type: 'object',
  description: 'Either `ids`, or at least one of `filter` and `time_range`.',
  additionalProperties: false,
  minProperties: 1,
  if: { required: ['ids'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: { maxProperties: 1 },
  else: {},
  properties: {
    ids: { type: 'array', minItems: 1, maxItems: 1000, items: recordId },
    filter: { $ref: '#/components/schemas/FilterGroupB' },
    // An empty range matches every time, so as the only member it would delete all records.
    time_range: { ...timeRange, minProperties: 1 },
  },
  examples: [{ ids: [1, 2] }, { time_range: { end_time: '2026-01-01' } }],
} as const;

export const deleteResult = {
  type: 'object',
  required: ['deleted'],
  additionalProperties: false,
  properties: { deleted: count },
} as const;

export type NewRecord = TypeOf<typeof newRecord>;
export type BatchResult = TypeOf<typeof batchResult>;
export type RecordPatch = TypeOf<typeof recordPatch>;
export type DeleteRequest = TypeOf<typeof deleteRequest>;

declare module './type-of.js' {
  interface NamedTypes {
    NewRecord: NewRecord;
  }
}
