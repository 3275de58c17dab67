import { count } from './count.js';
import { integerId, recordKey, textId, uuid } from './ids.js';
import { LIMITS } from './limits.js';
import { time, timeRange, utcTime } from './time.js';

const recordId = { anyOf: [integerId, textId] } as const;

export const startedAt = {
  ...utcTime,
  description:
    'Time of the first commit, by the clock of the store. What this call wrote was last synced then or later, and what earlier calls wrote, before. Records that come with their time of last sync are an exception.',
} as const;

/** The schema of the times of a record to write under these names: created, changed, synced. */
export function newTimestampsSchema([created, changed, synced]: readonly [string, string, string]) {
  return {
    type: 'object',
    description: 'Times to store instead of now, for a migration.',
    additionalProperties: false,
    properties: {
      [created]: { ...time, description: 'When the record was first seen. Default: now.' },
      [changed]: { ...time, description: 'When its content last changed. Default: now.' },
      [synced]: { ...time, description: 'When the record was last seen. Default: now.' },
    },
  } as const;
}

export const newTimestamps = newTimestampsSchema(['created_at', 'changed_at', 'synced_at']);

export const embeddedPassage = {
  type: 'object',
  description: 'A passage of a text, with its vector. Offsets count UTF-16 code units.',
  required: ['column', 'start', 'end', 'vector'],
  additionalProperties: false,
  properties: {
    column: { type: 'string', description: 'The column that most of the passage comes from.' },
    start: { ...count, description: 'Offset of its first character in the value of the column.' },
    end: { ...count, description: 'Offset after its last character.' },
    vector: {
      type: 'array',
      minItems: 1,
      maxItems: 4096,
      items: { type: 'number' },
      description: 'Its vector.',
    },
  },
} as const;

const eiffelTower = {
  id: 1,
  data: { title: 'Eiffel Tower', country: 'France', height_m: 330, open: true },
} as const;

/** A record of an upsert. The engine parses and checks records, and this schema describes what it accepts. */
export const newRecord = {
  type: 'object',
  description: 'A record to write. A stored record with the same id, UUID or key is replaced.',
  required: ['data'],
  additionalProperties: false,
  properties: {
    id: { ...integerId, description: 'Integer id, unique in the database. Default: the next free one.' },
    uuid: {
      ...uuid,
      description: 'UUID, unique in the database. Default: that of the key, or a new one of version 7.',
    },
    key: {
      ...recordKey,
      description:
        'Text that identifies the record, unique in the database: up to 512 bytes of UTF-8. The UUID of the record is made from it.',
    },
    data: { $ref: '#/components/schemas/Data' },
    timestamps: { $ref: '#/components/schemas/NewTimestamps' },
    vector: {
      type: 'array',
      minItems: 1,
      maxItems: 4096,
      items: { type: 'number' },
      description:
        'Vector of the record. In a database with a model only together with `embedded_by`, and dropped from a record ' +
        'without text. Otherwise the text is embedded.',
    },
    passages: {
      type: 'array',
      minItems: 1,
      description:
        'In place of `vector`, the passages of a text that is longer than the window of the model, only together with ' +
        '`embedded_by`. An export with vectors has them.',
      items: { $ref: '#/components/schemas/EmbeddedPassage' },
    },
    embedded_by: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      description:
        'Fingerprint of the model that made `vector` or `passages` from the text of the record; in a database with a model it must be ' +
        'the `fingerprint` of the database. An export with vectors has it.',
    },
  },
  examples: [eiffelTower],
} as const;

export const batch = {
  type: 'object',
  description: 'Records that are written together.',
  required: ['records'],
  additionalProperties: false,
  properties: {
    records: {
      type: 'array',
      description: 'Records to write: all of them, or none if one is not valid.',
      maxItems: LIMITS.batch_records,
      items: { $ref: '#/components/schemas/NewRecord' },
    },
  },
  examples: [{ records: [eiffelTower] }],
} as const;

export const batchResult = {
  type: 'object',
  description: 'What became of the records of an upsert.',
  required: ['results', 'created', 'changed', 'unchanged', 'started_at'],
  additionalProperties: false,
  properties: {
    results: {
      type: 'array',
      description: 'One result for each record, in the order of the request.',
      items: {
        type: 'object',
        description: 'What became of one record of an upsert.',
        required: ['id', 'uuid', 'status'],
        additionalProperties: false,
        properties: {
          id: integerId,
          key: { ...recordKey, description: 'Key of the record, if it has one: up to 512 bytes of UTF-8.' },
          uuid,
          status: {
            type: 'string',
            enum: ['created', 'changed', 'unchanged'],
            description: 'Whether the record is new, has new content, or had this content already.',
          },
        },
      },
    },
    created: { ...count, description: 'Number of new records.' },
    changed: { ...count, description: 'Number of records with new content.' },
    unchanged: { ...count, description: 'Number of records that had this content already.' },
    started_at: startedAt,
  },
} as const;

/** A patch of a record. The engine parses and checks patches, and this schema describes what it accepts. */
export const recordPatch = {
  type: 'object',
  description: 'Changes of a record.',
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
  description: 'Which records to delete: either `ids`, or at least one of `filter` and `time_range`.',
  additionalProperties: false,
  minProperties: 1,
  if: { required: ['ids'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword's name
  then: { maxProperties: 1 },
  else: {},
  properties: {
    ids: {
      type: 'array',
      minItems: 1,
      maxItems: 1000,
      items: recordId,
      description: 'Ids of the records to delete: integers, UUIDs, or `key:` and a key.',
    },
    filter: {
      $ref: '#/components/schemas/FilterGroup',
      description: 'Rules that the records to delete satisfy. Default: all records.',
    },
    // An empty range matches every time, so as the only member it would delete all records.
    time_range: {
      ...timeRange,
      minProperties: 1,
      description:
        'When the records to delete were last seen; includes both ends, and requires at least one of them.',
    },
  },
  examples: [{ ids: [1, 2] }, { time_range: { end_time: '2026-01-01' } }],
} as const;

export const deleteResult = {
  type: 'object',
  description: 'How many records were deleted.',
  required: ['deleted'],
  additionalProperties: false,
  properties: { deleted: { ...count, description: 'Number of deleted records.' } },
} as const;
